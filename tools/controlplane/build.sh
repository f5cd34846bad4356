#!/usr/bin/env bash
# Builds the pinned control plane into OUT (default .cache/controlplane/<version>), binary by binary: what is there already
# is kept, so that an interrupted build goes on where it stopped. With KUBEBUILDER_ASSETS set, tests use that folder and
# nothing is built.
set -euo pipefail
cd "$(dirname "$0")"
version=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' go.mod)
out=${OUT:-$(cd ../.. && pwd)/.cache/controlplane/$version}

fail() { echo "controlplane: $1" >&2; exit 1; }

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for name in etcd kube-apiserver; do
        [ -x "$KUBEBUILDER_ASSETS/$name" ] || fail "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS has no $name"
    done
    echo "controlplane: using KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS, nothing to build" >&2
    exit
fi

minor=${version#v1.}; minor=${minor%%.*}
stamp=k8s.io/component-base/version
ldflags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor"

build() { # NAME PACKAGE
    [ -x "$out/$1" ] && return
    command -v go >/dev/null || fail "building $1 needs Go (see go.mod for the version); or set KUBEBUILDER_ASSETS to a folder that has it"
    mkdir -p "$out"
    echo "controlplane: building $1 $version (minutes, when Go's cache is cold)" >&2
    CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags "$ldflags" -o "$out/.$1.$$" "$2"
    mv "$out/.$1.$$" "$out/$1" # never a half-written binary under its name
}

trap 'rm -f "$out"/.*."$$"' EXIT
build etcd go.etcd.io/etcd/server/v3
for name in kube-apiserver kube-controller-manager kube-scheduler kubectl kubemark kubelet; do
    build "$name" "k8s.io/kubernetes/cmd/$name"
done
echo "controlplane: $version in $out" >&2
