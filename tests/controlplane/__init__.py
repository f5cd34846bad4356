"""A real control plane on loopback, for tests and benchmarks: etcd, kube-apiserver and, where asked for, its companions."""
