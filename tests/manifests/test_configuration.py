"""The shipped configuration is one that berth takes."""

from plugins.registry import load_registry
from scheduler.config import load
from tests.controlplane.binaries import ROOT

SHIPPED = ROOT / "manifests" / "base" / "scheduler.yaml"


def test_the_shipped_configuration_serves_the_scheduler_name_berth_and_elects_a_leader_in_its_own_namespace() -> None:
    configuration = load(SHIPPED.read_text(), str(SHIPPED), load_registry(()))
    election = configuration.leader_election
    assert [profile.scheduler_name for profile in configuration.profiles] == ["berth"]
    assert (election.leader_elect, election.resource_namespace, election.resource_name) == (
        True,
        "berth-system",
        "berth",
    )


def test_the_example_of_an_extender_is_one_that_berth_takes() -> None:
    example = ROOT / "manifests" / "examples" / "extender.yaml"
    (extender,) = load(example.read_text(), str(example), load_registry(())).extenders
    assert extender.tls.verify
