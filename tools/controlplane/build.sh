#!/usr/bin/env bash
# Builds the pinned control plane into OUT (default .cache/controlplane/<version>); does nothing for binaries already there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
version=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' go.mod)
out=${OUT:-$(cd ../.. && pwd)/.cache/controlplane/$version}
minor=${version#v1.}; minor=${minor%%.*}
mkdir -p "$out"
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
pkg=k8s.io/component-base/version
stamp="-s -w -X $pkg.gitVersion=$version -X $pkg.gitMajor=1 -X $pkg.gitMinor=$minor"

build() { # NAME PACKAGE
    [ -x "$out/$1" ] && return
    echo "building $1 $version" >&2
    go build -trimpath -ldflags "$stamp" -o "$out/$1.part" "$2"
    mv "$out/$1.part" "$out/$1"
}

build etcd go.etcd.io/etcd/server/v3
for name in kube-apiserver kube-controller-manager kube-scheduler kubectl kubemark kubelet; do
    build "$name" "k8s.io/kubernetes/cmd/$name"
done
echo "$out"
