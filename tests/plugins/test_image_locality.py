"""Images that nodes hold already."""

import pytest

from plugins.image_locality import ImageLocality
from scheduler.framework import Node, PodInfo
from tests.builders import JsonObject, container, node, pod
from tests.plugins.cluster import Cluster

MIB = 1024 * 1024


def image(name: str, mib: int) -> JsonObject:
    return {"names": [f"registry.example/{name}"], "sizeBytes": mib * MIB}


def using(*images: str, spec: JsonObject | None = None, priority: int = 0) -> PodInfo:
    made = [container(name=f"c{i}", image=f"registry.example/{name}") for i, name in enumerate(images)]
    return pod("p", containers=made, spec=spec, priority=priority)


def scores(pod_info: PodInfo, *nodes: Node) -> dict[str, int] | None:
    cluster = Cluster(*nodes)
    return cluster.scores(cluster.plugin(ImageLocality), pod_info)


@pytest.mark.parametrize(
    ("mib", "expected"),
    [
        (10, 0),  # below the least that counts
        (46, 0),  # half of it is what counts on one of two nodes: 23 MiB, the least
        (500, 23),  # 250 MiB: 100 * (250 - 23) / (1000 - 23)
        (2000, 100),
        (9000, 100),
    ],
)
def test_size_counts_between_two_bounds_and_by_how_many_nodes_hold_the_image(mib: int, expected: int) -> None:
    nodes = (node("with", images=[image("app:1", mib)]), node("without"))
    assert scores(using("app:1"), *nodes) == {"with": expected, "without": 0}


def test_an_image_that_all_nodes_hold_counts_in_full() -> None:
    nodes = [node(name, images=[image("app:1", 500)]) for name in ("a", "b")]
    assert scores(using("app:1"), *nodes) == {"a": 48, "b": 48}  # 100 * (500 - 23) / (1000 - 23)


def test_images_add_up_and_the_upper_bound_grows_with_the_number_of_containers() -> None:
    nodes = (node("one", images=[image("app:1", 900)]), node("both", images=[image("app:1", 900), image("db:2", 600)]))
    # app 900 * 2/2, db 600 * 1/2; of 23 to 2000 MiB
    assert scores(using("app:1", "db:2"), *nodes) == {"one": 44, "both": 59}


def test_init_containers_and_image_volumes_count_too_but_volumes_do_not_raise_the_bound() -> None:
    nodes = (node("n", images=[image("app:1", 300), image("setup:1", 300), image("data:1", 300)]),)
    init = {"initContainers": [container(name="init", image="registry.example/setup:1")]}
    volume = {"volumes": [{"name": "v", "image": {"reference": "registry.example/data:1"}}]}
    assert scores(using("app:1", spec=init), *nodes) == {"n": 29}  # 600 of 23 to 2000
    assert scores(using("app:1", spec={**init, **volume}), *nodes) == {"n": 44}  # 900 of 23 to 2000


def test_a_name_without_tag_means_latest_and_a_port_is_no_tag() -> None:
    nodes = (node("n", images=[image("app:latest", 500), {"names": ["host:5000/x:latest"], "sizeBytes": 500 * MIB}]),)
    assert scores(using("app"), *nodes) == {"n": 48}
    assert scores(pod("p", containers=[container(image="host:5000/x")]), *nodes) == {"n": 48}
    assert scores(using("app:2"), *nodes) == {"n": 0}


def test_a_digest_is_matched_as_it_is() -> None:
    nodes = (node("n", images=[image("app@sha256:abc", 500)]),)
    assert scores(using("app@sha256:abc"), *nodes) == {"n": 48}


def test_kept_results_are_of_no_use_once_the_spread_has_changed() -> None:
    held = image("app:1", 500)
    two = Cluster(node("a", images=[held]), node("b"))
    three = Cluster(node("a", images=[held]), node("b", images=[held]), node("c"))
    pods = (using("app:1"), using("app:1", priority=5), using("other:1"), using("other:2"))
    before = [two.plugin(ImageLocality).row_key(p.template) for p in pods]
    after = [three.plugin(ImageLocality).row_key(p.template) for p in pods]
    assert before[0] == before[1] != after[0]
    assert before[2] == before[3] == after[2]  # images that nobody holds: all score 0
