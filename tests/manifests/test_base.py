"""manifests/base: accepted by an API server, fit for restricted namespaces, and no right too many."""

import difflib
import textwrap

import pytest
import yaml
from kubernetes.client import AuthorizationV1Api, CoreV1Api

from tests.controlplane.accounts import shipped_account
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.kubectl import kubectl, kustomize

pytestmark = pytest.mark.controlplane("kubectl")

READ = {"get", "list", "watch"}
CLUSTER_RIGHTS = {
    "nodes": READ,
    "namespaces": READ,
    "pods": READ | {"delete"},
    "poddisruptionbudgets.policy": {"list", "watch"},
    "services": {"list", "watch"},
    "replicationcontrollers": {"list", "watch"},
    "replicasets.apps": {"list", "watch"},
    "statefulsets.apps": {"list", "watch"},
    "persistentvolumes": READ | {"patch"},
    "persistentvolumeclaims": READ | {"patch"},
    "storageclasses.storage.k8s.io": {"list", "watch"},
    "csinodes.storage.k8s.io": {"list", "watch"},
    "csidrivers.storage.k8s.io": {"list", "watch"},
    "csistoragecapacities.storage.k8s.io": {"list", "watch"},
    "volumeattachments.storage.k8s.io": {"list", "watch"},
    "pods/binding": {"create"},
    "pods/status": {"patch"},
    "events": {"create", "patch"},
    "events.events.k8s.io": {"create", "patch"},
    "schedulers.berth.dev": READ,
    "schedulers.berth.dev/status": {"patch", "update"},
}
LEASE_RIGHTS = {"leases.coordination.k8s.io": {"create", "get", "update"}}
EVERY_ACCOUNT = {"authorization.k8s.io", "authentication.k8s.io", "certificates.k8s.io"}  # reviews of oneself


def rights(server: ApiServer, token: str, namespace: str) -> dict[str, set[str]]:
    """What the account may do in a namespace, by resource, as the API server itself lists it."""
    with server.client(token) as client:
        review = AuthorizationV1Api(client).create_self_subject_rules_review({"spec": {"namespace": namespace}})
    found: dict[str, set[str]] = {}
    for rule in review.status.resource_rules:
        for group in set(rule.api_groups) - EVERY_ACCOUNT:
            for resource in rule.resources:
                name, slash, subresource = resource.partition("/")
                full = f"{name}.{group}" if group else name
                found.setdefault(full + slash + subresource, set()).update(rule.verbs)
    return found


def test_the_account_has_exactly_the_rights_that_berth_needs(real_apiserver: ApiServer) -> None:
    token = shipped_account(real_apiserver)
    assert rights(real_apiserver, token, "default") == CLUSTER_RIGHTS
    assert rights(real_apiserver, token, "berth-system") == CLUSTER_RIGHTS | LEASE_RIGHTS


@pytest.mark.parametrize("name", ["base", "overlays/kind", "overlays/node-test"])
def test_the_api_server_accepts_every_object(real_apiserver: ApiServer, name: str) -> None:
    kubectl(real_apiserver, "apply", "-f", "-", stdin=kustomize(real_apiserver.binaries, name))


def test_its_pods_may_run_where_pod_security_is_restricted(real_apiserver: ApiServer, real_namespace: str) -> None:
    documents = yaml.safe_load_all(kustomize(real_apiserver.binaries, "base"))
    template = next(document["spec"]["template"] for document in documents if document["kind"] == "Deployment")
    core = CoreV1Api(real_apiserver.admin)
    core.patch_namespace(real_namespace, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    core.create_namespaced_pod(real_namespace, {"metadata": {"name": "berth"}, "spec": template["spec"]}, dry_run="All")


def test_the_node_overlay_sets_host_network_api_address_and_pull_policy_only(binaries: Binaries) -> None:
    base, overlay = (kustomize(binaries, name).splitlines() for name in ("base", "overlays/node-test"))
    changed = [line for line in difflib.ndiff(base, overlay) if line[0] in "+-"]
    assert "\n".join(changed) == textwrap.dedent("""\
        +         env:
        +         - name: KUBERNETES_SERVICE_HOST
        +           value: 127.0.0.1
        +         - name: KUBERNETES_SERVICE_PORT
        +           value: "16443"
        +         imagePullPolicy: Never
        +       hostNetwork: true""")
