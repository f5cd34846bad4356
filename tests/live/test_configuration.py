"""A configuration in a file or in the Scheduler object, changed under a scheduler at work."""

import asyncio
from pathlib import Path

import pytest
import yaml

from scheduler.config import LeaderElection
from scheduler.sandbox.fields import Json, JsonObject, object_at, objects_at, text_at
from tests.builders import node_json, pod_json
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import ROOT
from tests.controlplane.kubectl import KubectlError, kubectl
from tests.live.berth import Start
from tests.live.faulty import FaultyApi, answer
from tests.live.test_operator import DEFINITION, RESOURCE, define, scheduler
from tests.live.waiting import eventually

HEAD: JsonObject = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def serving(*names: str, **more: Json) -> JsonObject:
    """A configuration with profiles of these names."""
    return {**HEAD, "profiles": [{"schedulerName": name} for name in names], **more}


def configure(api: FaultyApi, configuration: JsonObject | None) -> None:
    """Replace the object's configuration as a whole."""
    obj = api.cluster.get(RESOURCE, None, "berth")
    spec: JsonObject = {} if configuration is None else {"configuration": configuration}
    api.cluster.update(RESOURCE, {**obj, "spec": spec})


def configured(api: FaultyApi) -> JsonObject:
    """The condition that tells of it."""
    status = object_at(api.cluster.get(RESOURCE, None, "berth"), "status")
    return next((c for c in objects_at(status, "conditions") if c["type"] == "Configured"), {})


def node_of(api: FaultyApi, name: str) -> str:
    return text_at(api.cluster.get("pods", "default", name), "spec", "nodeName")


async def test_what_the_object_says_is_taken_over_at_once_and_given_up_with_it(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create("nodes", node_json("n1"))
    api.cluster.create(RESOURCE, scheduler())
    berth = start()
    await eventually(lambda: configured(api).get("reason") == "InForce", "it works by the defaults")
    api.cluster.create("pods", pod_json("a", "100m", scheduler="batch"))
    configure(api, serving("berth", "batch"))
    await eventually(lambda: node_of(api, "a"), "the pod of the new name is bound")
    assert sorted(berth.parts.engine.summary().profiles) == ["batch", "berth"]
    configure(api, None)
    await eventually(lambda: berth.parts.engine.summary().profiles == ("berth",), "the defaults are back")


async def test_a_refused_configuration_is_told_and_the_old_one_stays(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create("nodes", node_json("n1"))
    api.cluster.create(RESOURCE, scheduler())
    start()
    configure(api, serving("berth", "batch"))
    await eventually(lambda: configured(api).get("message") == "spec.configuration is in force.", "it is in force")
    configure(api, serving("berth", "berth", podMaxBackoffSeconds=0))
    await eventually(lambda: configured(api)["status"] == "False", "it is refused")
    told = configured(api)
    assert told["reason"] == "Refused"
    assert "spec.configuration stays in force. " in str(told["message"])
    assert "spec.configuration.podMaxBackoffSeconds: found 0" in str(told["message"])
    assert "spec.configuration.profiles[1].schedulerName: found" in str(told["message"])
    assert told["observedGeneration"] == object_at(api.cluster.get(RESOURCE, None, "berth"), "metadata")["generation"]
    api.cluster.create("pods", pod_json("a", "100m", scheduler="batch"))
    await eventually(lambda: node_of(api, "a"), "the last good one is in force")
    configure(api, serving("berth"))
    await eventually(lambda: configured(api)["status"] == "True", "a better one is taken over")


async def test_nothing_is_decided_before_the_object_was_asked(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create("nodes", node_json("n1"))
    api.cluster.create("nodes", node_json("n2"))
    api.cluster.create(RESOURCE, {**scheduler(), "spec": {"configuration": serving("other")}})
    api.cluster.create("pods", pod_json("a", "1"))
    api.cluster.create("pods", pod_json("b", "1", scheduler="other"))
    start()
    await eventually(lambda: node_of(api, "b"), "the object's profile is served")
    assert node_of(api, "a") == ""


async def test_an_object_that_cannot_be_read_is_not_waited_for(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    api.fault("GET", "/apis/berth.dev", answer(403, "Forbidden"))
    start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: node_of(api, "a"), "the pod is bound")


async def test_the_lease_and_the_connection_are_as_at_the_start_and_that_is_told(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    berth = start()
    configure(api, serving("batch", leaderElection={"leaderElect": False}, clientConnection={"qps": 5}))
    await eventually(lambda: configured(api).get("reason") == "InForceInPart", "it is told")
    assert "leaderElection and clientConnection as they were at the start" in str(configured(api)["message"])
    assert berth.parts.engine.summary().profiles == ("batch",)


async def test_a_changed_file_is_taken_over_and_a_wrong_one_refused(
    api: FaultyApi, start: Start, tmp_path: Path
) -> None:
    file = tmp_path / "berth.yaml"
    file.write_text(FILE)
    berth = start(file=file)
    engine = berth.parts.engine
    told = berth.parts.configurator
    file.write_text(f"{FILE}profiles: [schedulerName: batch]\n")
    await eventually(lambda: engine.summary().profiles == ("batch",), "it is taken over")
    file.write_text(f"{FILE}profile: []\n")
    await eventually(lambda: told.verdict.status == "False", "it is refused")
    assert f"{file} stays in force. {file}:3: profile: unknown field" in told.verdict.message
    file.unlink()
    await eventually(lambda: "No such file" in told.verdict.message, "that is told too")
    assert engine.summary().profiles == ("batch",)
    assert not berth.status.done()


async def test_a_mounted_configmap_is_followed_where_its_link_is_swapped(
    api: FaultyApi, start: Start, tmp_path: Path
) -> None:
    for number, name in enumerate(("berth", "batch")):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "scheduler.yaml").write_text(f"{FILE}profiles: [schedulerName: {name}]\n")
    data, new, mounted = tmp_path / "..data", tmp_path / "..data_tmp", tmp_path / "scheduler.yaml"
    data.symlink_to("..0")
    mounted.symlink_to("..data/scheduler.yaml")
    berth = start(file=mounted)
    await eventually(lambda: berth.leads, "it leads")
    new.symlink_to("..1")
    new.rename(data)
    await eventually(lambda: berth.parts.engine.summary().profiles == ("batch",), "it is taken over")


async def test_the_object_wins_over_the_file_and_the_file_counts_when_the_object_says_nothing(
    api: FaultyApi, start: Start, tmp_path: Path
) -> None:
    define(api)
    api.cluster.create(RESOURCE, {**scheduler(), "spec": {"configuration": serving("object")}})
    file = tmp_path / "berth.yaml"
    file.write_text(FILE)
    berth = start(file=file)
    engine = berth.parts.engine
    await eventually(lambda: engine.summary().profiles == ("object",), "the object wins")
    file.write_text(f"{FILE}profiles: [schedulerName: file]\n")
    configure(api, serving("again"))
    await eventually(lambda: engine.summary().profiles == ("again",), "the object still wins")
    configure(api, None)
    await eventually(lambda: engine.summary().profiles == ("file",), "the file counts")


async def test_a_kind_that_only_the_new_configuration_needs_is_followed_and_given_up(
    api: FaultyApi, start: Start
) -> None:
    define(api)
    api.cluster.create("nodes", node_json("n1"))
    without: list[Json] = [{"name": "PodTopologySpread"}, {"name": "InterPodAffinity"}]
    lean = serving()
    lean["profiles"] = [{"schedulerName": "berth", "plugins": {"multiPoint": {"disabled": without}}}]
    api.cluster.create(RESOURCE, {**scheduler(), "spec": {"configuration": lean}})
    berth = start()
    watches = berth.parts.watches
    await eventually(lambda: "Namespace" not in [r.source.kind for r in watches.reflectors], "nobody needs namespaces")
    configure(api, None)
    await eventually(lambda: "Namespace" in [r.source.kind for r in watches.reflectors], "somebody does")
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: node_of(api, "a"), "the pod is bound")
    await eventually(lambda: all(r.problem is None for r in watches.reflectors), "all are followed")


WRONG: list[tuple[JsonObject, str]] = [
    (serving(percentageOfNodesToScore=101), "percentageOfNodesToScore"),
    (serving("a", "a"), "no two profiles may have the same schedulerName"),
    (serving("a", ""), "of several profiles each needs a schedulerName"),
    (serving(podInitialBackoffSeconds=11), "podMaxBackoffSeconds (10 if not given) must be at least"),
    (serving(extenders=[{"urlPrefix": "http://a", "bindVerb": "b"}] * 2), "at most one extender may bind"),
    (serving(profile=[]), "profile"),
    ({"kind": "KubeSchedulerConfiguration"}, "apiVersion"),
]


@pytest.mark.controlplane("kubectl")
async def test_a_real_api_server_refuses_what_the_definition_can_tell_and_berth_the_rest(
    real_apiserver: ApiServer, real_namespace: str, start_real: Start, tmp_path: Path
) -> None:
    async def ask(*args: str) -> str:
        return await asyncio.to_thread(kubectl, real_apiserver, *args)

    async def apply(configuration: JsonObject) -> str:
        file = tmp_path / "scheduler.yaml"
        file.write_text(yaml.safe_dump({**scheduler(), "spec": {"configuration": configuration}}))
        return await ask("apply", "-f", str(file))

    await ask("apply", "-k", str(DEFINITION.parent))
    await ask("wait", "--for=condition=Established", f"crd/{RESOURCE}")
    berth = start_real(LeaderElection(True, 3.0, 2.0, 0.5, "berth", real_namespace))
    for configuration, said in WRONG:
        with pytest.raises(KubectlError) as refused:
            await apply(configuration)
        assert said in str(refused.value)
    await ask("apply", "-f", str(ROOT / "manifests" / "examples" / "scheduler-configuration.yaml"))
    await ask("wait", "--for=condition=Configured", f"{RESOURCE}/berth", "--timeout=20s")
    await eventually(lambda: len(berth.parts.engine.summary().profiles) == 2, "it is taken over")
    await apply(serving("berth", profiles=[{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"colour": 1}}]}]))
    await ask("wait", "--for=condition=Configured=False", f"{RESOURCE}/berth", "--timeout=20s")
    told = await ask("get", RESOURCE, "berth", "-o", "jsonpath={.status.conditions[?(@.type=='Configured')].message}")
    assert "spec.configuration.profiles[0].pluginConfig[0].args.colour: unknown field" in told
    assert len(berth.parts.engine.summary().profiles) == 2
    await ask("delete", "crd", RESOURCE)
