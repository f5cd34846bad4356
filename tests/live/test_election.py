"""Leader election in virtual time: what goes wrong on the way to the lease, and that never two replicas lead."""

import random
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.live.election import Lease, Read, Write
from tests.live.replicas import LOST, SETTINGS, UNANSWERED, Network, Replica, Trip, World

LEASE = SETTINGS.lease_duration
DEADLINE = SETTINGS.renew_deadline
RETRY = SETTINGS.retry_period
LONGEST_PAUSE = 3 * RETRY


def cut_off(*names: str) -> Network:
    return lambda replica, step: LOST if replica.name in names else Trip()


def holder(world: World) -> str:
    assert world.store.lease
    return world.store.lease.holder


def test_the_first_replica_makes_the_lease_and_leads_and_the_second_stands_by() -> None:
    world = World("a", "b")
    world.run(60)
    assert world.leaders() == ["a"]
    assert world.store.lease
    spec = world.store.lease.spec
    assert (spec.holder_identity, spec.lease_duration_seconds, spec.lease_transitions) == ("a", 15, 0)
    assert spec.acquire_time == "2026-01-01T00:00:00.020000Z"
    assert spec.renew_time
    assert spec.renew_time > spec.acquire_time
    assert world.replicas[1].election.holder == "a"


def test_one_lost_connection_does_not_end_leadership() -> None:
    world = World("a", "b")
    world.run(5)
    lost = iter([LOST])
    world.network = lambda replica, step: next(lost, Trip())
    for _ in range(100):
        world.run(0.5)
        assert world.leaders() == ["a"]


def test_a_server_that_hangs_ends_leadership_at_the_deadline_and_not_between_two_calls() -> None:
    world = World("a")
    world.run(20)
    assert world.store.lease
    renewed = (datetime.fromisoformat(str(world.store.lease.spec.renew_time)) - world.clock.wall()).total_seconds()
    world.network = lambda replica, step: LOST
    world.run(renewed + DEADLINE - 0.01)
    assert world.leaders() == ["a"]
    world.run(0.02)
    assert world.leaders() == []


def test_leadership_comes_back_when_the_server_does_if_nobody_else_took_it() -> None:
    world = World("a")
    world.run(5)
    world.network = lambda replica, step: LOST
    world.run(40)
    assert world.leaders() == []
    world.network = lambda replica, step: Trip()
    world.run(LONGEST_PAUSE)
    assert world.leaders() == ["a"]
    assert world.store.lease
    assert world.store.lease.spec.lease_transitions == 0


def test_after_a_crash_the_standby_leads_once_the_lease_has_run_out() -> None:
    world = World("a", "b")
    world.run(5)
    world.replicas[0].crash()
    world.run(LEASE - RETRY)
    assert world.leaders() == []
    world.run(RETRY + LONGEST_PAUSE)
    assert world.leaders() == ["b"]
    assert world.store.lease
    assert world.store.lease.spec.lease_transitions == 1


def test_after_a_graceful_stop_the_standby_leads_at_its_next_look() -> None:
    world = World("a", "b")
    world.run(5)
    world.replicas[0].stop()
    assert holder(world) == ""
    world.run(LONGEST_PAUSE)
    assert world.leaders() == ["b"]


def test_a_replica_that_does_not_lead_has_nothing_to_release() -> None:
    world = World("a", "b")
    world.run(5)
    world.replicas[1].stop()
    assert holder(world) == "a"


def test_when_two_reach_for_a_lease_that_ran_out_the_server_lets_one_have_it() -> None:
    world = World("a", "b", "c")
    world.run(5)
    world.replicas[0].crash()
    # Both read before either writes.
    world.network = lambda replica, step: Trip(there=0.01 if isinstance(step, Read) else 1.0)
    world.run(LEASE + 2 * LONGEST_PAUSE)
    assert world.leaders() in (["b"], ["c"])
    assert [holder(world)] == world.leaders()


def test_a_renewal_whose_answer_was_lost_is_followed_by_a_look_and_a_renewal() -> None:
    world = World("a", "b")
    world.run(5)
    answers = iter([UNANSWERED])
    world.network = lambda replica, step: next(answers, Trip()) if isinstance(step, Write) else Trip()
    for _ in range(40):
        world.run(0.5)
        assert world.leaders() == ["a"]


def test_a_take_over_that_arrives_long_after_it_was_given_up_hurts_nobody() -> None:
    world = World("a", "b")
    world.run(5)
    late = iter([Trip(there=30.0)])
    world.network = lambda replica, step: LOST if replica.name == "a" else next(late, Trip())
    world.replicas[1].go_on()
    world.run(28)
    world.network = lambda replica, step: Trip()
    world.run(60)
    assert len(world.leaders()) == 1


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1)])
@pytest.mark.parametrize("whose", [0, 1])
def test_a_wrong_wall_clock_neither_makes_two_leaders_nor_none(jump: timedelta, whose: int) -> None:
    world = World("a", "b")
    world.run(5)
    world.replicas[whose].wall_offset = jump
    world.run(60)
    assert world.leaders() == ["a"]
    world.replicas[0].crash()
    world.run(2 * LEASE)
    assert world.leaders() == ["b"]


def test_a_leader_stops_as_soon_as_it_sees_another_holder() -> None:
    world = World("a")
    world.run(5)
    assert world.store.lease
    taken = msgspec.structs.replace(world.store.lease.spec, holder_identity="z")
    world.store.version += 1
    world.store.lease = Lease({**world.store.lease.metadata, "resourceVersion": str(world.store.version)}, taken)
    world.run(RETRY + 0.1)
    assert world.leaders() == []


def test_a_lease_that_is_deleted_ends_leadership_before_it_is_made_again() -> None:
    world = World("a")
    world.run(5)
    world.store.lease = None
    seen: list[list[str]] = []
    for _ in range(300):
        world.run(0.01)
        if not seen or seen[-1] != world.leaders():
            seen.append(world.leaders())
    assert seen == [["a"], [], ["a"]]


def test_what_others_wrote_into_the_lease_stays() -> None:
    world = World("a")
    world.run(5)
    assert world.store.lease
    noted: dict[str, object] = {**world.store.lease.metadata, "annotations": {"example.org/owner": "ops"}}
    world.store.lease = Lease(noted, msgspec.structs.replace(world.store.lease.spec, strategy="OldestEmulationVersion"))
    world.replicas[0].election.failed(world.clock.now, world.clock.now)
    world.run(10)
    assert world.leaders() == ["a"]
    assert world.store.lease.metadata["annotations"] == {"example.org/owner": "ops"}
    assert world.store.lease.spec.strategy == "OldestEmulationVersion"


def test_touching_a_dead_holders_lease_does_not_keep_it_alive() -> None:
    world = World("a", "b")
    world.run(5)
    world.replicas[0].crash()
    for _ in range(30):
        world.run(1)
        assert world.store.lease
        world.store.version += 1
        metadata = {**world.store.lease.metadata, "resourceVersion": str(world.store.version)}
        world.store.lease = Lease(metadata, world.store.lease.spec)
    assert world.leaders() == ["b"]


@given(seed=st.integers(0, 2**32), trouble=st.floats(0, 0.9), longest=st.floats(0.01, 40))
@settings(max_examples=150)
def test_never_two_lead_and_one_does_when_the_network_is_well_again(seed: int, trouble: float, longest: float) -> None:
    rng = random.Random(seed)

    def bad(replica: Replica, step: Read | Write) -> Trip:
        if rng.random() > trouble:
            return Trip()
        there = None if rng.random() < 0.3 else rng.random() * longest
        return Trip(there, None if rng.random() < 0.3 else rng.random() * longest)

    world = World("a", "b", "c")
    world.network = bad
    for _ in range(6):
        world.run(rng.random() * 40)
        victim = rng.choice(world.replicas)
        if rng.random() < 0.4 and sum(replica.alive for replica in world.replicas) > 1:
            rng.choice([victim.crash, victim.stop])()
        victim.wall_offset = timedelta(seconds=rng.uniform(-4000, 4000))
    world.network = lambda replica, step: Trip()
    world.run(longest)
    world.run(2 * LEASE + LONGEST_PAUSE)
    assert len(world.leaders()) == 1
