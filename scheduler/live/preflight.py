"""The first contact: what makes a start pointless is found before anything else begins."""

from scheduler.api import Kind
from scheduler.config import LeaderElection
from scheduler.live.client import Transport
from scheduler.live.dispatcher import BIND, DELETE, PATCH, READ
from scheduler.live.errors import NoAnswerError, SetupError
from scheduler.live.recorder import CREATE as CREATE_EVENT
from scheduler.live.recorder import PATCH as PATCH_EVENT
from scheduler.live.rights import Right
from scheduler.live.volume_calls import PATCH_CLAIM, PATCH_VOLUME
from scheduler.objects import FOLLOWED

_LIMIT = 10.0
_OTHERS_LEASES = {("kube-system", "kube-scheduler"), ("kube-system", "kube-controller-manager")}


async def check_server(transport: Transport, source: str) -> None:
    """Raises SetupError in one line if the server cannot be reached, is not trusted, or does not know this account."""
    try:
        response = await transport.call("GET", "/version", limit=_LIMIT)
    except NoAnswerError as error:
        raise SetupError(f"{source}: {error}") from error
    if response.status == 401:
        raise SetupError(f"{source}: the server does not accept the credentials (HTTP 401); is the token out of date?")
    if response.status >= 500:
        raise SetupError(f"{source}: the server is not well (HTTP {response.status})")


def check_lease(election: LeaderElection) -> None:
    """Raises SetupError if the lease is one that another component lives by."""
    if election.leader_elect and (election.resource_namespace, election.resource_name) in _OTHERS_LEASES:
        raise SetupError(
            f"leaderElection: found {election.resource_namespace}/{election.resource_name}, which is the lease of "
            f"{election.resource_name}; allowed: any lease of berth's own"
        )


def needed_rights(namespace: str, election: LeaderElection, kinds: frozenset[Kind]) -> list[Right]:
    """What berth cannot do without; `namespace` is the only one it schedules in, or empty, `kinds` are those it follows."""
    others = [FOLLOWED[kind] for kind in sorted(kinds & FOLLOWED.keys())]
    followed = [("pods", ""), ("nodes", ""), *((other.plural, other.group) for other in others)]
    rights = [
        *(Right(verb, resource, group) for resource, group in followed for verb in ("list", "watch")),
        *(Right(right.verb, right.resource, right.group, namespace) for right in (READ, BIND, PATCH, DELETE)),
    ]
    if kinds >= {Kind.PERSISTENT_VOLUME, Kind.PERSISTENT_VOLUME_CLAIM}:
        volumes = (PATCH_VOLUME, PATCH_CLAIM)
        rights += [Right(verb, right.resource) for right in volumes for verb in ("get", right.verb)]
    if election.leader_elect:
        group, where, name = "coordination.k8s.io", election.resource_namespace, election.resource_name
        rights += [Right("create", "leases", group, where)]
        rights += [Right(verb, "leases", group, where, name) for verb in ("get", "update")]
    return rights


def wished_rights(namespace: str) -> list[Right]:
    """What only costs explanations when it is missing."""
    return [Right(right.verb, right.resource, right.group, namespace) for right in (CREATE_EVENT, PATCH_EVENT)]
