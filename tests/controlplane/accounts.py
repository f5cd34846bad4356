"""Accounts with few rights: a ServiceAccount, what it may do, and a token that the API server issued for it."""

from dataclasses import dataclass

import yaml
from kubernetes.client import CoreV1Api, RbacAuthorizationV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.kubectl import kubectl, kustomize


@dataclass(frozen=True)
class Rule:
    """One RBAC rule, in every namespace: these verbs on these resources (`pods/binding` names a subresource)."""

    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ("",)


def service_account(server: ApiServer, namespace: str, name: str, *rules: Rule, seconds: int = 3600) -> str:
    """Make a ServiceAccount with exactly these rights; its token, good for `seconds` (600 at least, as the API demands)."""
    core = CoreV1Api(server.admin)
    core.create_namespaced_service_account(namespace, {"metadata": {"name": name}})
    if rules:
        _grant(RbacAuthorizationV1Api(server.admin), namespace, name, rules)
    return token_for(server, namespace, name, seconds)


def token_for(server: ApiServer, namespace: str, name: str, seconds: int = 3600) -> str:
    """Another token for a ServiceAccount that exists."""
    body = {"spec": {"expirationSeconds": seconds}}
    answer = CoreV1Api(server.admin).create_namespaced_service_account_token(name, namespace, body)
    return str(answer.status.token)


def _grant(rbac: RbacAuthorizationV1Api, namespace: str, name: str, rules: tuple[Rule, ...]) -> None:
    metadata = {"name": f"{namespace}-{name}"}
    rbac.create_cluster_role(
        {
            "metadata": metadata,
            "rules": [
                {"apiGroups": [*rule.groups], "resources": [*rule.resources], "verbs": [*rule.verbs]} for rule in rules
            ],
        }
    )
    rbac.create_cluster_role_binding(
        {
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        }
    )


def shipped_account(server: ApiServer) -> str:
    """Apply manifests/base without what runs; a token for the account berth has in a cluster, with the rights it ships with."""
    kinds = ("Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    wanted = [
        document for document in yaml.safe_load_all(kustomize(server.binaries, "base")) if document["kind"] in kinds
    ]
    kubectl(server, "apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(wanted))
    return token_for(server, "berth-system", "berth")
