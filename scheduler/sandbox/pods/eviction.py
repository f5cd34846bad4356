"""POST pods/eviction: deletion that asks disruption budgets first (pkg/registry/core/pod/storage/eviction.go)."""

from scheduler.sandbox.deletion import DeleteOptions
from scheduler.sandbox.errors import ApiError, Cause, Details, bad_request, forbidden
from scheduler.sandbox.fields import (
    JsonObject,
    copy_object,
    ensure_object,
    integer_at,
    is_deleting,
    labels_of,
    name_of,
    namespace_of,
    object_at,
    objects_at,
    text_at,
    value_at,
)
from scheduler.sandbox.identity import GroupResource, Key, timestamp
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.pods.conditions import set_condition
from scheduler.sandbox.registry import Registry
from scheduler.sandbox.selectors import label_selector

BUDGETS = "poddisruptionbudgets.policy"
_BUDGET_RESOURCE = GroupResource("policy", "poddisruptionbudget")  # singular, as the server says it here
_UNGUARDED_PHASES = ("Succeeded", "Failed", "Pending")
_RETRY_SECONDS = 10


def evict(registry: Registry, pods: Resource, namespace: str, name: str, options: DeleteOptions) -> None:
    """Delete a pod if the budget that covers it allows it. Raises ApiError 404, 409, 429 (not now) or 500 (two budgets)."""
    pod = registry.stored(pods, namespace, name)
    if not _unguarded(pod):
        _spend_budget(registry, pod, dry_run=options.dry_run)
    if not options.dry_run:
        _mark(registry, pods, pod)
    registry.delete(pods, namespace, name, options)


def check_eviction(name: str, eviction: JsonObject) -> None:
    """The eviction is for the pod in the URL. Raises ApiError 400."""
    if name_of(eviction) != name:
        raise bad_request("name in URL does not match name in Eviction object")


def _unguarded(pod: JsonObject) -> bool:
    return text_at(pod, "status", "phase") in _UNGUARDED_PHASES or is_deleting(pod)


def _spend_budget(registry: Registry, pod: JsonObject, *, dry_run: bool) -> None:
    labels = labels_of(pod)
    covering = [
        budget
        for budget in registry.all(BUDGETS, namespace_of(pod))
        if value_at(budget, "spec", "selector") is not None
        and label_selector(object_at(budget, "spec", "selector")).matches(labels)
    ]
    if len(covering) > 1:
        message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise ApiError(500, "", message)
    if not covering or _unhealthy_and_free(covering[0], pod):
        return
    budget = copy_object(covering[0])
    _check_budget(budget)
    status = ensure_object(budget, "status")
    status["disruptionsAllowed"] = (integer_at(status, "disruptionsAllowed") or 0) - 1
    if not status["disruptionsAllowed"]:
        status["conditions"] = [_used_up(budget, timestamp(registry.now()))]
    ensure_object(status, "disruptedPods")[name_of(pod)] = timestamp(registry.now())
    if not dry_run:
        registry.store.write(BUDGETS, Key(namespace_of(budget), name_of(budget)), budget)


def _unhealthy_and_free(budget: JsonObject, pod: JsonObject) -> bool:
    """A pod that is not ready does not count for its budget when the policy or enough healthy others say so."""
    conditions = {text_at(c, "type"): text_at(c, "status") for c in objects_at(pod, "status", "conditions")}
    if conditions.get("Ready") == "True":
        return False
    desired = integer_at(budget, "status", "desiredHealthy") or 0
    healthy = integer_at(budget, "status", "currentHealthy") or 0
    return text_at(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow" or healthy >= desired > 0


def _check_budget(budget: JsonObject) -> None:
    name = name_of(budget)
    if (integer_at(budget, "status", "observedGeneration") or 0) < (integer_at(budget, "metadata", "generation") or 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many_requests(why)
    allowed = integer_at(budget, "status", "disruptionsAllowed") or 0
    if allowed < 0:
        raise forbidden(_BUDGET_RESOURCE, name, "pdb disruptions allowed is negative")
    if allowed == 0:
        needed = integer_at(budget, "status", "desiredHealthy") or 0
        healthy = integer_at(budget, "status", "currentHealthy") or 0
        why = f"The disruption budget {name} does not allow evicting pods currently"
        if healthy <= needed:
            why = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        raise _too_many_requests(why, retry_after=0)


def _used_up(budget: JsonObject, now: str) -> JsonObject:
    """The one condition a budget has."""
    return {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "observedGeneration": integer_at(budget, "status", "observedGeneration"),
        "lastTransitionTime": now,
    }


def _too_many_requests(why: str, retry_after: int = _RETRY_SECONDS) -> ApiError:
    details = Details(causes=(Cause("DisruptionBudget", why),), retry_after=retry_after)
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, "TooManyRequests", message, details)


def _mark(registry: Registry, pods: Resource, pod: JsonObject) -> None:
    """Say in the pod's status why it goes, before it goes."""
    marked = copy_object(pod)
    now = timestamp(registry.now())
    set_condition(
        marked, "DisruptionTarget", "True", now, reason="EvictionByEvictionAPI", message="Eviction API: evicting"
    )
    if marked != pod:
        registry.store.write(pods.storage, Key(namespace_of(pod), name_of(pod)), marked)
