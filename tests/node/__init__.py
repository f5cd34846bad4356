"""The shipped image and manifests on a real node: containerd, runc and a kubelet. Run by `make test-node` only."""
