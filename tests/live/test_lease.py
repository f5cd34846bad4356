"""The lease over HTTP: faults of the connection, and what the real API server makes of it."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from kubernetes.client import CoordinationV1Api

from scheduler.config import LeaderElection
from scheduler.live.client import Transport
from scheduler.live.election import Election
from scheduler.live.lease import LeaseKeeper, new_identity
from scheduler.sandbox.fields import object_at, text_at
from tests.controlplane.accounts import Rule, service_account
from tests.controlplane.apiserver import ApiServer
from tests.live.conftest import Connect
from tests.live.faulty import Fault, FaultyApi, answer, drop, drop_after, hang, hang_after
from tests.live.waiting import eventually

QUICK = LeaderElection(
    lease_duration=2.0, renew_deadline=1.4, retry_period=0.1, resource_name="berth", resource_namespace="default"
)
LEASES = "/leases"


class Replica:
    """A keeper that runs, with what it said in order."""

    def __init__(self, transport: Transport, settings: LeaderElection = QUICK, identity: str = "") -> None:
        self.said: list[str] = []
        election = Election(identity or new_identity(), settings, random.Random(0))
        self.identity = election.identity
        self.keeper = LeaseKeeper(
            election, settings, transport, lambda: self.said.append("gained"), lambda: self.said.append("lost")
        )
        self.running = asyncio.ensure_future(self.keeper.run())

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        await self.keeper.release()


@asynccontextmanager
async def leading(transport: Transport, settings: LeaderElection = QUICK) -> AsyncIterator[Replica]:
    replica = Replica(transport, settings)
    try:
        await eventually(replica.keeper.valid, "the lease is held")
        yield replica
    finally:
        await replica.stop()


def held_by(api: FaultyApi) -> str:
    return text_at(object_at(api.cluster.get("leases", "default", "berth"), "spec"), "holderIdentity")


async def test_a_replica_leads_and_gives_the_lease_back_when_it_stops(api: FaultyApi, connect: Connect) -> None:
    async with leading(connect()) as first:
        assert held_by(api) == first.identity
        second = Replica(connect())
        await eventually(lambda: second.keeper.holder == first.identity, "the second sees who holds it")
    assert first.said == ["gained", "lost"]
    await eventually(second.keeper.valid, "the second leads", within=QUICK.lease_duration)
    await second.stop()
    assert held_by(api) == ""


@pytest.mark.parametrize("fault", [drop, drop_after, answer(500), answer(429, headers={"Retry-After": "1"})])
async def test_one_failed_renewal_does_not_end_leadership(api: FaultyApi, connect: Connect, fault: Fault) -> None:
    async with leading(connect()) as replica:
        api.fault("PUT", LEASES, fault, times=1)
        before = api.count("PUT", LEASES)
        await eventually(lambda: api.count("PUT", LEASES) > before + 5, "renewals go on")
        assert replica.said == ["gained"]


@pytest.mark.parametrize("fault", [hang, hang_after, drop, answer(503)])
async def test_a_server_that_does_not_answer_ends_leadership_in_time(
    api: FaultyApi, connect: Connect, fault: Fault
) -> None:
    async with leading(connect()) as replica:
        api.fault("PUT", LEASES, fault)
        api.fault("GET", LEASES, fault)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await eventually(lambda: replica.said == ["gained", "lost"], "leadership ends")
        assert loop.time() - began < QUICK.lease_duration
        assert not replica.keeper.valid()
        assert replica.keeper.problem
        api.heal()
        await eventually(lambda: replica.said == ["gained", "lost", "gained"], "leadership comes back")
        assert replica.keeper.problem is None


async def test_of_many_one_leads(api: FaultyApi, connect: Connect) -> None:
    replicas = [Replica(connect()) for _ in range(4)]
    await eventually(lambda: any(replica.keeper.valid() for replica in replicas), "one leads")
    before = api.count("PUT", LEASES)
    await eventually(lambda: api.count("PUT", LEASES) > before + 10, "renewals go on")
    assert sorted(replica.said for replica in replicas) == [[], [], [], ["gained"]]
    await asyncio.gather(*(replica.stop() for replica in replicas))


async def test_a_missing_right_is_named_with_verb_resource_and_namespace(
    real_apiserver: ApiServer, connect_as: Callable[[str], Connect], real_namespace: str
) -> None:
    token = await asyncio.to_thread(
        service_account,
        real_apiserver,
        real_namespace,
        "half",
        Rule(("leases",), ("get",), ("coordination.k8s.io",)),
    )
    settings = LeaderElection(True, 2.0, 1.4, 0.1, "berth", real_namespace)
    replica = Replica(connect_as(token)(), settings)
    await eventually(lambda: replica.keeper.problem, "a problem is told")
    assert replica.keeper.problem == (f"missing right: create leases.coordination.k8s.io in namespace {real_namespace}")
    assert replica.said == []
    await replica.stop()


async def test_the_real_server_takes_the_lease_as_it_is_written(
    real_apiserver: ApiServer, connect_real: Connect, real_namespace: str
) -> None:
    settings = LeaderElection(True, 2.0, 1.4, 0.1, "berth", real_namespace)
    async with leading(connect_real(), settings) as first:
        second = Replica(connect_real(), settings)
        await eventually(lambda: second.keeper.holder == first.identity, "the second sees who holds it")
        first.running.cancel()  # as a crash: nothing is given back
        await eventually(second.keeper.valid, "the second leads")
        assert not first.keeper.valid()
        lease = await asyncio.to_thread(
            CoordinationV1Api(real_apiserver.admin).read_namespaced_lease, "berth", real_namespace
        )
        assert lease.spec.holder_identity == second.identity
        assert lease.spec.lease_transitions == 1
        await second.stop()
