#!/usr/bin/env bash
# Sees to the programs that make this machine a node; installs Debian's where they are absent. One line when it cannot.
set -euo pipefail

fail() { echo "test-node: $1" >&2; exit 1; }

wanted=()
need() { # PACKAGE FILE-OR-COMMAND
    [ -x "$2" ] || command -v "$2" >/dev/null || wanted+=("$1")
}
need containerd containerd
need runc runc
need buildah buildah
need debootstrap debootstrap
need containernetworking-plugins /usr/lib/cni/bridge

[ "$(id -u)" = 0 ] || fail "a node needs root"
((${#wanted[@]})) || exit 0
command -v apt-get >/dev/null || fail "${wanted[*]} not installed, and no apt-get to get them with"
echo "test-node: installing ${wanted[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || fail "the package index cannot be fetched, and ${wanted[*]} is not installed"
# --no-remove: a machine with Docker has its own containerd, which Debian's would replace
apt-get install -y -qq --no-install-recommends --no-remove "${wanted[@]}" >&2 || fail "cannot install ${wanted[*]}"
