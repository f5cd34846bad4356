"""What is read of pods beside their requests."""

import msgspec
import pytest

from scheduler.framework import HostPort
from scheduler.matching import NodeSelector, Operator, Requirement
from scheduler.objects import PodDecoder
from tests.builders import container, pod, pod_json


def test_host_ports_of_containers_and_sidecars_count_and_plain_init_containers_do_not() -> None:
    def port(number: int) -> list[dict[str, object]]:
        return [{"containerPort": number, "hostPort": number}]

    spec = {
        "initContainers": [
            container(name="sidecar", ports=port(81), restart_policy="Always"),
            container(name="init", ports=port(82)),
        ]
    }
    made = pod("p", containers=[container(ports=[*port(80), {"containerPort": 8080}])], spec=spec)
    assert made.spec.host_ports == (HostPort(80), HostPort(81))


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("app", "app:latest"),
        ("registry.example:5000/app", "registry.example:5000/app:latest"),
        ("app:1", "app:1"),
        ("app@sha256:0a", "app@sha256:0a"),
    ],
)
def test_an_image_without_tag_or_digest_is_the_latest(image: str, name: str) -> None:
    assert pod("p", containers=[container(image=image)]).spec.images == (name,)


def test_node_selectors_and_affinities_are_compiled() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    made = pod("p", spec={"nodeSelector": {"disk": "ssd"}, "affinity": affinity})
    assert made.spec.node_selector == (Requirement("disk", Operator.IN, ("ssd",)),)
    assert isinstance(made.spec.required_node_affinity, NodeSelector)
    assert made.spec.required_node_affinity.matches("n", {"zone": "a"})


def test_an_operator_that_does_not_exist_is_a_problem_and_not_a_crash() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "Near"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    made = pod("p", spec={"affinity": affinity})
    assert made.problem is not None
    assert "found 'Near', allowed: In, NotIn" in made.problem


def test_dead_templates_are_forgotten() -> None:
    decoder = PodDecoder()
    pods = [decoder.decode(msgspec.json.encode(pod_json(f"p{i}", labels={"n": str(i)}))) for i in range(10)]
    assert len(decoder._templates) == 10
    pods.clear()
    assert len(decoder._templates) == 0
