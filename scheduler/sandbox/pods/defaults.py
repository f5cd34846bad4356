"""Fields of a pod that the server fills in (pkg/apis/core/v1/defaults.go).

Left out: defaults inside volume sources other than emptyDir, configMap, secret and projected.
"""

from scheduler.sandbox.fields import JsonObject, copy_json, ensure_object, object_at, objects_at, text_at
from scheduler.sandbox.quantities import canonicalize_resources

_POD_SPEC: JsonObject = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}
_PROBE: JsonObject = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_DEFAULT_FILE_MODE = 0o644
_SOURCES_WITH_MODE = ("configMap", "secret", "projected", "downwardAPI")
_OVERCOMMITTABLE = ("cpu", "memory")


def default_pod(pod: JsonObject) -> None:
    """Defaults of a pod itself: those of its spec, and those that no pod template gets."""
    spec = ensure_object(pod, "spec")
    default_pod_spec(spec, "Pod")
    for container in containers(spec):
        _default_requests(container)
    _default_pod_level_requests(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in containers(spec):
            for port in objects_at(container, "ports"):
                port.setdefault("hostPort", port.get("containerPort"))


def default_pod_spec(spec: JsonObject, kind: str) -> None:
    """Defaults of a pod spec, also inside a template; `kind` is the object's, for error messages."""
    _set_missing(spec, _POD_SPEC)
    for account in ("serviceAccountName", "serviceAccount"):  # two names of one field
        if name := text_at(spec, account):
            spec["serviceAccountName"] = spec["serviceAccount"] = name
            break
    for container in containers(spec):
        _default_container(container, kind)
    for volume in objects_at(spec, "volumes"):
        _default_volume(volume)
    canonicalize_resources(spec, "overhead", kind=kind)
    for amounts in ("requests", "limits"):
        canonicalize_resources(spec, "resources", amounts, kind=kind)


def containers(spec: JsonObject) -> list[JsonObject]:
    """Init containers and containers."""
    return objects_at(spec, "initContainers") + objects_at(spec, "containers")


def _default_container(container: JsonObject, kind: str) -> None:
    _, _, tag = text_at(container, "image").rpartition("/")[2].partition(":")
    pull_policy = "Always" if tag in ("", "latest") and "@" not in text_at(container, "image") else "IfNotPresent"
    defaults: JsonObject = {
        "imagePullPolicy": pull_policy,
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    _set_missing(container, defaults)
    for amounts in ("requests", "limits"):
        canonicalize_resources(container, "resources", amounts, kind=kind)
    for port in objects_at(container, "ports"):
        port.setdefault("protocol", "TCP")
    for probe in _PROBES:
        if isinstance(container.get(probe), dict):
            _set_missing(object_at(container, probe), _PROBE)
            if http := object_at(container, probe, "httpGet"):
                _set_missing(http, {"path": "/", "scheme": "HTTP"})
    for variable in objects_at(container, "env"):
        if field := object_at(variable, "valueFrom", "fieldRef"):
            field.setdefault("apiVersion", "v1")


def _default_volume(volume: JsonObject) -> None:
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}
    for source in _SOURCES_WITH_MODE:
        if isinstance(volume.get(source), dict):
            object_at(volume, source).setdefault("defaultMode", _DEFAULT_FILE_MODE)


def _default_requests(container: JsonObject) -> None:
    """A resource with a limit and no request is requested up to its limit."""
    limits = object_at(container, "resources", "limits")
    if limits:
        requests = ensure_object(container, "resources", "requests")
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _default_pod_level_requests(spec: JsonObject) -> None:
    """Pod-level limits become pod-level requests (KEP-2837).

    The sum of the containers' requests, which comes first in the server, is left out where containers request the resource.
    """
    limits = object_at(spec, "resources", "limits")
    requested = {name for c in containers(spec) for name in object_at(c, "resources", "requests")}
    for name, amount in limits.items():
        if name not in requested or name not in _OVERCOMMITTABLE:
            ensure_object(spec, "resources", "requests").setdefault(name, amount)


def _set_missing(obj: JsonObject, defaults: JsonObject) -> None:
    for name, value in defaults.items():
        if obj.get(name) is None or obj[name] == "":
            obj[name] = copy_json(value)
