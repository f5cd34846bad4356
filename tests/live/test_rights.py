"""What an account may do: asked of the real API server, told by verb and resource, and noticed when it changes."""

import asyncio
from collections.abc import Callable

from kubernetes.client import RbacAuthorizationV1Api

from scheduler.live.problems import Problems
from scheduler.live.rights import Right, Rights
from tests.controlplane.accounts import Rule, service_account
from tests.controlplane.apiserver import ApiServer
from tests.live.conftest import Connect
from tests.live.faulty import FaultyApi, answer
from tests.live.waiting import eventually

BIND = Right("create", "pods/binding")
LEASE = Right("update", "leases", "coordination.k8s.io", "default", "berth")
EVENTS = Right("create", "events", "events.k8s.io")


def test_a_right_reads_as_one_would_grant_it() -> None:
    assert str(BIND) == "create pods/binding in all namespaces"
    assert str(LEASE) == "update leases.coordination.k8s.io berth in namespace default"


async def test_each_missing_right_is_named_and_granting_it_is_noticed(
    real_apiserver: ApiServer, connect_as: Callable[[str], Connect], real_namespace: str
) -> None:
    token = await asyncio.to_thread(service_account, real_apiserver, real_namespace, "few", Rule(("pods",), ("list",)))
    problems = Problems()
    needed = (Right("list", "pods"), BIND, LEASE)
    rights = Rights(connect_as(token)(), needed, (EVENTS,), problems, lambda: None, again=0.2)
    running = asyncio.ensure_future(rights.run())
    await eventually(lambda: len(problems.lines()) == 2, "two rights are missing")
    assert problems.lines() == [
        "right create pods/binding in all namespaces: missing; grant it to berth's account",
        "right update leases.coordination.k8s.io berth in namespace default: missing; grant it to berth's account",
    ]
    assert not rights.granted

    rbac = RbacAuthorizationV1Api(real_apiserver.admin)
    name = f"{real_namespace}-few"
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update"]},
    ]
    await asyncio.to_thread(rbac.patch_cluster_role, name, {"rules": rules})
    await eventually(lambda: rights.granted, "all rights are there")
    assert problems.lines() == []

    await asyncio.to_thread(rbac.patch_cluster_role, name, {"rules": rules[:1]})

    def missing() -> bool:
        rights.doubt(BIND)  # as often as a binding is refused
        return not rights.granted

    await eventually(missing, "a right that was taken away is noticed")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_server_that_cannot_say_is_asked_again(api: FaultyApi, connect: Connect) -> None:
    api.fault("POST", "selfsubjectaccessreviews", answer(503), times=2)
    problems = Problems()
    rights = Rights(connect(), (BIND,), (), problems, lambda: None, again=0.1)
    running = asyncio.ensure_future(rights.run())
    await eventually(problems.lines, "it is told")
    assert problems.lines() == ["right create pods/binding in all namespaces: not known: HTTP 503"]
    await eventually(lambda: rights.granted, "the right is there")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
