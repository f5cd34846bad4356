"""What kube-scheduler 1.36 has and does, as data: its plugins, its default order and weights, and what it has removed."""

from scheduler.config.model import PluginRef

DEFAULT_PLUGINS = (
    PluginRef("SchedulingGates"),
    PluginRef("PrioritySort"),
    PluginRef("NodeUnschedulable"),
    PluginRef("NodeName"),
    PluginRef("TaintToleration", 3),
    PluginRef("NodeAffinity", 2),
    PluginRef("NodePorts"),
    PluginRef("NodeResourcesFit"),
    PluginRef("VolumeRestrictions"),
    PluginRef("NodeVolumeLimits"),
    PluginRef("VolumeBinding"),
    PluginRef("VolumeZone"),
    PluginRef("PodTopologySpread", 2),
    PluginRef("InterPodAffinity", 2),
    PluginRef("DynamicResources", 2),
    PluginRef("DefaultPreemption"),
    PluginRef("NodeResourcesBalancedAllocation"),
    PluginRef("ImageLocality"),
    PluginRef("DefaultBinder"),
    PluginRef("NodeDeclaredFeatures"),
)
"""The default multiPoint list. A profile starts from those of them that there are."""

_ALPHA_PLUGINS = ("GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount")

PLUGINS = frozenset({*(ref.name for ref in DEFAULT_PLUGINS), *_ALPHA_PLUGINS})
"""All plugins that a configuration for kube-scheduler may name."""

REMOVED_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Plugins of the past: naming them is an error, but for disabling them."""

WITHOUT_EFFECT = frozenset({"DynamicResources"})
"""Default plugins that berth does not have: naming what is there without being named asks for nothing more."""

PLACEMENT_POINTS = ("placementGenerate", "placementScore")
"""Extension points of kube-scheduler's alpha pod-group scheduling, which berth does not have."""
