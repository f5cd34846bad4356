"""The configuration file's fields (kubescheduler.config.k8s.io/v1). Unknown fields are errors.

Zero and empty values of leaderElection and clientConnection mean the default, as in kube-scheduler.
"""

import msgspec


class Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Base of all."""


class Plugin(Strict, frozen=True):
    """An entry of an enabled or disabled list."""

    name: str
    weight: int | None = None


class PluginSet(Strict, frozen=True):
    """What a profile changes at an extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Strict, frozen=True):
    """plugins."""

    multi_point: PluginSet = PluginSet()
    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """The set of an extension point, by its name in the file."""
        position = self.__struct_encode_fields__.index(point)
        plugin_set: PluginSet = getattr(self, self.__struct_fields__[position])
        return plugin_set


class PluginConfig(Strict, frozen=True):
    """pluginConfig[]; the type of the arguments is the plugin's."""

    name: str
    args: object = None


class Profile(Strict, frozen=True):
    """profiles[]."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class LeaderElection(Strict, frozen=True):
    """leaderElection."""

    leader_elect: bool = True
    lease_duration: str = ""
    renew_deadline: str = ""
    retry_period: str = ""
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(Strict, frozen=True):
    """clientConnection. Content types are accepted: berth speaks JSON in any case."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0
    burst: int = 0


class ManagedResource(Strict, frozen=True):
    """extenders[].managedResources[]."""

    name: str
    ignored_by_scheduler: bool = False


class ExtenderTls(Strict, frozen=True):
    """extenders[].tlsConfig."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class Extender(Strict, frozen=True):
    """extenders[]."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTls | None = None
    http_timeout: str = ""
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


class File(Strict, frozen=True):
    """The whole file."""

    api_version: str
    kind: str
    parallelism: int = 16
    percentage_of_nodes_to_score: int | None = None
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
