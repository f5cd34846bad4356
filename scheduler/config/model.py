"""The effective configuration: what the rest of the program is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.framework import PluginArgs


class ConfigError(ValueError):
    """A configuration that cannot be used; one line for each problem, with source, line and field."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class PluginRef:
    """A plugin at an extension point; the weight matters for scores only."""

    name: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """A schedulerName with the plugins of each extension point, in call order, and their arguments.

    `percentage_of_nodes_to_score` is the file's unless the profile has its own; None and 0 mean all nodes.
    """

    scheduler_name: str
    plugins: Mapping[str, Sequence[PluginRef]]
    args: Mapping[str, PluginArgs]
    percentage_of_nodes_to_score: int | None = None


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """The lease; times in seconds."""

    leader_elect: bool = True
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    resource_name: str = "berth"
    resource_namespace: str = "berth-system"


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """How to reach the API server. An empty kubeconfig leaves the choice to the command line and the environment."""

    kubeconfig: str = ""
    qps: float = 50.0
    burst: int = 100


@dataclass(frozen=True, slots=True)
class ExtenderTls:
    """How to speak TLS with an extender: PEM as bytes, or the files to read it from; all empty means the system's CAs."""

    verify: bool = True
    server_name: str = ""
    ca: bytes = b""
    ca_file: str = ""
    certificate: bytes = b""
    certificate_file: str = ""
    key: bytes = b""
    key_file: str = ""


@dataclass(frozen=True, slots=True)
class Extender:
    """A scheduler extender (kube-scheduler's extender/v1). `name` tells it from others in messages and metrics: its URL, with
    its place in the file if several share one. An empty verb is not called; `timeout` is in seconds; without
    `managed_resources` it is asked about every pod.
    """

    name: str
    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    timeout: float = 5.0
    node_cache_capable: bool = False
    managed_resources: frozenset[str] = frozenset()
    ignorable: bool = False
    tls: ExtenderTls = ExtenderTls()


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that can be configured. `pod_max_in_unschedulable_seconds` None turns the flush off; it has no field in the
    file, as in kube-scheduler. `extenders` are in the order in which they are called.

    `parallelism` is accepted without effect: rules work on all rows at once. `notices` say what else has none, and where.
    """

    profiles: Sequence[Profile]
    extenders: Sequence[Extender] = ()
    pod_initial_backoff_seconds: float = 1.0
    pod_max_backoff_seconds: float = 10.0
    pod_max_in_unschedulable_seconds: float | None = 300.0
    leader_election: LeaderElection = field(default_factory=LeaderElection)
    client_connection: ClientConnection = field(default_factory=ClientConnection)
    percentage_of_nodes_to_score: int | None = None
    parallelism: int = 16
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
    notices: Sequence[str] = field(default=(), compare=False)
