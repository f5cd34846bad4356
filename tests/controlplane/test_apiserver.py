"""The control plane itself: it comes up, keeps what it was told, and lets an account do only what it may."""

from collections.abc import Iterator
from pathlib import Path

import kubernetes.config
import pytest
from kubernetes.client import ApiClient, ApiException, CoreV1Api, VersionApi

from tests.controlplane.accounts import Rule, service_account, token_for
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import pinned_version

POD = {"metadata": {"name": "pause"}, "spec": {"containers": [{"name": "pause", "image": "pause"}]}}


@pytest.fixture
def reader(real_apiserver: ApiServer, real_namespace: str) -> Iterator[CoreV1Api]:
    """A client that may list pods and nothing else."""
    token = service_account(real_apiserver, real_namespace, "reader", Rule(resources=("pods",), verbs=("list",)))
    with real_apiserver.client(token) as client:
        yield CoreV1Api(client)


def test_the_server_reports_the_pinned_version(real_apiserver: ApiServer) -> None:
    assert VersionApi(real_apiserver.admin).get_code().git_version == pinned_version()


def test_a_kubeconfig_opens_the_server(real_apiserver: ApiServer, tmp_path: Path) -> None:
    path = real_apiserver.kubeconfig(tmp_path / "kubeconfig")
    with kubernetes.config.new_client_from_config(str(path)) as client:
        assert "default" in {namespace.metadata.name for namespace in CoreV1Api(client).list_namespace().items}


def test_a_pod_stays_pending_when_nobody_schedules(real_apiserver: ApiServer, real_namespace: str) -> None:
    pod = CoreV1Api(real_apiserver.admin).create_namespaced_pod(real_namespace, POD)
    assert pod.status.phase == "Pending"
    assert pod.spec.node_name is None


def test_an_account_may_do_what_its_rules_say_and_no_more(reader: CoreV1Api, real_namespace: str) -> None:
    assert reader.list_namespaced_pod(real_namespace).items == []
    with pytest.raises(ApiException) as refusal:
        reader.create_namespaced_pod(real_namespace, POD)
    assert refusal.value.status == 403


def test_a_killed_server_comes_back_with_its_data_and_its_tokens(private_apiserver: ApiServer) -> None:
    token = service_account(private_apiserver, "default", "reader", Rule(("pods",), ("list",)))
    created = CoreV1Api(private_apiserver.admin).create_namespaced_pod("default", POD)
    url = private_apiserver.url

    private_apiserver.kill()
    assert not private_apiserver.ready()
    private_apiserver.start()

    assert private_apiserver.url == url
    with private_apiserver.client(token) as client:
        assert uids(client) == [created.metadata.uid]
    with private_apiserver.client(token_for(private_apiserver, "default", "reader")) as client:
        assert uids(client) == [created.metadata.uid]


def uids(client: ApiClient) -> list[str]:
    return [pod.metadata.uid for pod in CoreV1Api(client).list_namespaced_pod("default").items]
