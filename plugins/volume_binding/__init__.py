"""VolumeBinding: a pod goes where its volumes can be used, and claims that wait for it get theirs there."""

from plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
