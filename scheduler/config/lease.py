"""leaderElection: durations and their order."""

from scheduler.config import wire
from scheduler.config.durations import seconds
from scheduler.config.model import LeaderElection
from scheduler.config.problems import Problems

_DEFAULTS = LeaderElection()
_LOCK = "leases"
# A holder must have time for more than one try (client-go's JitterFactor).
_JITTER = 1.2


def leader_election(given: wire.LeaderElection, problems: Problems) -> LeaderElection:
    """The lease's settings. What is wrong with them matters only if there is to be an election."""
    path = "leaderElection"
    lease = seconds(given.lease_duration, _DEFAULTS.lease_duration, f"{path}.leaseDuration", problems)
    renew = seconds(given.renew_deadline, _DEFAULTS.renew_deadline, f"{path}.renewDeadline", problems)
    retry = seconds(given.retry_period, _DEFAULTS.retry_period, f"{path}.retryPeriod", problems)
    if given.leader_elect:
        if given.resource_lock not in ("", _LOCK):
            problems.add(f"{path}.resourceLock", f'found "{given.resource_lock}", allowed: {_LOCK}')
        if lease <= renew:
            problems.add(f"{path}.leaseDuration", f"found {lease:g}s, allowed: more than renewDeadline ({renew:g}s)")
        if renew <= _JITTER * retry:
            problems.add(
                f"{path}.renewDeadline",
                f"found {renew:g}s, allowed: more than {_JITTER} times retryPeriod ({retry:g}s)",
            )
    return LeaderElection(
        given.leader_elect,
        lease,
        renew,
        retry,
        given.resource_name or _DEFAULTS.resource_name,
        given.resource_namespace or _DEFAULTS.resource_namespace,
    )
