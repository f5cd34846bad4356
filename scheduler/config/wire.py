"""The configuration file's fields (kubescheduler.config.k8s.io/v1). Unknown fields are errors."""

import msgspec


class Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Base of all."""


class Plugin(Strict):
    """An entry of an enabled or disabled list."""

    name: str
    weight: int | None = None


class PluginSet(Strict):
    """What a profile changes at an extension point."""

    enabled: list[Plugin] = []
    disabled: list[Plugin] = []


class Plugins(Strict):
    """plugins."""

    multi_point: PluginSet = msgspec.field(default_factory=PluginSet)
    pre_enqueue: PluginSet = msgspec.field(default_factory=PluginSet)
    queue_sort: PluginSet = msgspec.field(default_factory=PluginSet)
    pre_filter: PluginSet = msgspec.field(default_factory=PluginSet)
    filter: PluginSet = msgspec.field(default_factory=PluginSet)
    post_filter: PluginSet = msgspec.field(default_factory=PluginSet)
    pre_score: PluginSet = msgspec.field(default_factory=PluginSet)
    score: PluginSet = msgspec.field(default_factory=PluginSet)
    reserve: PluginSet = msgspec.field(default_factory=PluginSet)
    permit: PluginSet = msgspec.field(default_factory=PluginSet)
    pre_bind: PluginSet = msgspec.field(default_factory=PluginSet)
    bind: PluginSet = msgspec.field(default_factory=PluginSet)
    post_bind: PluginSet = msgspec.field(default_factory=PluginSet)


class PluginConfig(Strict):
    """pluginConfig[]."""

    name: str
    args: dict[str, msgspec.Raw | object] = {}


class Profile(Strict):
    """profiles[]."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = msgspec.field(default_factory=Plugins)
    plugin_config: list[PluginConfig] = []


class LeaderElection(Strict):
    """leaderElection."""

    leader_elect: bool = True
    lease_duration: str = "15s"
    renew_deadline: str = "10s"
    retry_period: str = "2s"
    resource_lock: str = "leases"
    resource_name: str = "berth"
    resource_namespace: str = "berth-system"


class ClientConnection(Strict):
    """clientConnection."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 50
    burst: int = 100


class File(Strict):
    """The whole file."""

    api_version: str
    kind: str
    parallelism: int = 16
    percentage_of_nodes_to_score: int | None = None
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: list[Profile] = []
    extenders: list[object] = []
    leader_election: LeaderElection = msgspec.field(default_factory=LeaderElection)
    client_connection: ClientConnection = msgspec.field(default_factory=ClientConnection)
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
