"""Pods: JSON to `PodInfo`, with what many pods share held once."""

from datetime import datetime
from sys import intern
from weakref import WeakValueDictionary

import msgspec

from scheduler.framework import (
    HostPort,
    PodCondition,
    PodInfo,
    PodSpec,
    PodTemplate,
    PreferredTerm,
    Resources,
)
from scheduler.matching import NodeSelector, Operator, Requirement, Toleration
from scheduler.objects import wire
from scheduler.objects.manifests import NO_MANIFESTS, Manifests, manifest
from scheduler.objects.pod_terms import controller_of, preferred_terms, required_terms, spread_constraints
from scheduler.objects.requests import UnreadableError, is_sidecar, names_of, pod_requests, pod_usage
from scheduler.objects.selectors import term
from scheduler.objects.stream import WatchEvent, bookmark_version, decode_status, split_event, split_list
from scheduler.objects.volumes import pod_volumes, required_features

_NOTHING = Resources({})
_DEFAULT_SCHEDULER = "default-scheduler"


class PodList(wire.Wire):
    """A page of pods."""

    metadata: wire.ListMeta = msgspec.field(default_factory=wire.ListMeta)
    items: list[wire.Pod] = msgspec.field(default_factory=list)


class PodDecoder:
    """Decodes pods. Pods that say the same share one `PodSpec` and one `PodTemplate`, which live as long as a pod does.

    A pod with values that cannot be understood is decoded too, with a `problem` that says what and where. `manifests` may be
    set to something else at any time.
    """

    def __init__(self, manifests: Manifests = NO_MANIFESTS) -> None:
        self.manifests = manifests
        self._pod = msgspec.json.Decoder(wire.Pod)
        self._list = msgspec.json.Decoder(PodList)
        self._encode = msgspec.msgpack.Encoder().encode
        self._specs: WeakValueDictionary[bytes, PodSpec] = WeakValueDictionary()
        self._templates: WeakValueDictionary[tuple[str, bytes, bytes, str], PodTemplate] = WeakValueDictionary()
        self._problems: dict[bytes, str] = {}
        self._signatures = 0

    def decode(self, body: bytes | msgspec.Raw) -> PodInfo:
        """One pod."""
        pod = self._info(self._pod.decode(body))
        return msgspec.structs.replace(pod, manifest=manifest(body)) if self._is_shown(pod) else pod

    def decode_list(self, page: bytes) -> tuple[list[PodInfo], str, str]:
        """A page of a list: pods, version, and the token for the next page (empty at the end)."""
        if self.manifests.pods:
            items, meta = split_list(page)
            return [self.decode(item) for item in items], meta.resource_version, meta.continue_
        decoded = self._list.decode(page)
        pods = [self._info(pod) for pod in decoded.items]
        return pods, decoded.metadata.resource_version, decoded.metadata.continue_

    def decode_event(self, line: bytes) -> WatchEvent[PodInfo]:
        """A line of a watch. Raises msgspec.DecodeError if it is cut or malformed."""
        kind, raw = split_event(line)
        if kind == "BOOKMARK":
            return WatchEvent(kind, None, bookmark_version(raw), None)
        if kind == "ERROR":
            return WatchEvent(kind, None, "", decode_status(bytes(raw)))
        pod = self.decode(raw)
        return WatchEvent(kind, pod, pod.resource_version, None)

    def _is_shown(self, pod: PodInfo) -> bool:
        if pod.node_name:
            return self.manifests.bound
        return pod.spec.scheduler_name in self.manifests.waiting

    def _info(self, pod: wire.Pod) -> PodInfo:
        meta, spec, status = pod.metadata, pod.spec, pod.status
        node_name = intern(spec.node_name)
        spec.node_name = ""
        encoded = self._encode(spec)
        template = self._template(meta, spec, encoded)
        problem = self._problems.get(encoded)
        usage = template.spec.requests
        if node_name and problem is None:
            try:
                usage = pod_usage(pod, usage)
            except UnreadableError as error:
                problem = str(error)
        return PodInfo(
            uid=meta.uid,
            name=meta.name,
            template=template,
            usage=usage,
            node_name=node_name,
            nominated_node=intern(status.nominated_node_name),
            phase=intern(status.phase),
            phase_reason=intern(status.reason),
            terminating=meta.deletion_timestamp is not None,
            preempted=_preempted(status.conditions),
            created=_seconds(meta.creation_timestamp),
            started=_seconds(status.start_time),
            generation=meta.generation,
            resource_version=meta.resource_version,
            # Once a pod has a node its condition is of no interest, and there are many such pods.
            scheduled_condition=None if node_name else _scheduled(status.conditions),
            problem=problem,
        )

    def _template(self, meta: wire.ObjectMeta, spec: wire.PodSpec, encoded: bytes) -> PodTemplate:
        # The claims of ephemeral volumes are the pod's own.
        owner = meta.uid if any(volume.ephemeral is not None for volume in spec.volumes or ()) else ""
        controller = controller_of(meta.owner_references)
        key = (meta.namespace, self._encode((meta.labels, controller)), encoded, owner)
        template = self._templates.get(key)
        if template is None:
            self._signatures += 1
            labels = {intern(k): v for k, v in (meta.labels or {}).items()}
            compiled = self._spec(spec, encoded)
            template = PodTemplate(self._signatures, intern(meta.namespace), labels, compiled, controller)
            self._templates[key] = template
        return template

    def _spec(self, spec: wire.PodSpec, encoded: bytes) -> PodSpec:
        known = self._specs.get(encoded)
        if known is None:
            try:
                known = compile_spec(spec)
                self._problems.pop(encoded, None)
            except ValueError as error:
                self._problems[encoded] = str(error)
                known = _unreadable(spec)
            self._specs[encoded] = known
        return known


def compile_spec(spec: wire.PodSpec) -> PodSpec:
    """A spec as the rules read it. Raises ValueError naming the path of a value that cannot be understood."""
    containers = spec.containers or []
    init = spec.init_containers or []
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required.node_selector_terms if affinity and affinity.required else None
    volumes = [volume.image.reference for volume in spec.volumes or () if volume.image and volume.image.reference]
    path = "spec.affinity.nodeAffinity"
    pods, anti = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity) if spec.affinity else (None, None)
    return PodSpec(
        scheduler_name=spec.scheduler_name or _DEFAULT_SCHEDULER,
        priority=spec.priority,
        preemption_policy=spec.preemption_policy,
        requests=pod_requests(spec),
        node_selector=tuple(
            Requirement(key, Operator.IN, (value,)) for key, value in sorted((spec.node_selector or {}).items())
        ),
        required_node_affinity=None
        if affinity is None or affinity.required is None
        else NodeSelector(tuple(term(t, f"{path}.required") for t in required or ())),
        preferred_node_affinity=tuple(
            PreferredTerm(p.weight, term(p.preference, f"{path}.preferred"))
            for p in (affinity.preferred if affinity else None) or ()
        ),
        tolerations=tuple(Toleration(t.key, t.operator or "Equal", t.value, t.effect) for t in spec.tolerations or ()),
        host_ports=tuple(_host_ports([*containers, *(c for c in init if is_sidecar(c))])),
        images=(*names_of(containers), *names_of(init), *names_of([wire.Container(image=v) for v in volumes])),
        container_count=len(containers) + len(init),
        scheduling_gates=tuple(gate.name for gate in spec.scheduling_gates or ()),
        volumes=pod_volumes(spec.volumes or ()),
        required_features=required_features(spec),
        pod_affinity=required_terms(pods, "spec.affinity.podAffinity"),
        pod_anti_affinity=required_terms(anti, "spec.affinity.podAntiAffinity"),
        preferred_pod_affinity=preferred_terms(pods, "spec.affinity.podAffinity"),
        preferred_pod_anti_affinity=preferred_terms(anti, "spec.affinity.podAntiAffinity"),
        spread=spread_constraints(spec.topology_spread_constraints or ()),
    )


def _unreadable(spec: wire.PodSpec) -> PodSpec:
    """A spec that says nothing but whose pod it is and how important."""
    name = spec.scheduler_name or _DEFAULT_SCHEDULER
    gates = tuple(gate.name for gate in spec.scheduling_gates or ())
    return PodSpec(name, spec.priority, "", _NOTHING, (), None, (), (), (), (), 0, gates)


def _host_ports(containers: list[wire.Container]) -> list[HostPort]:
    return [
        HostPort(port.host_port, port.protocol or "TCP", port.host_ip or HostPort(0).ip)
        for container in containers
        for port in container.ports or ()
        if port.host_port > 0
    ]


def _scheduled(conditions: list[wire.Condition] | None) -> PodCondition | None:
    for condition in conditions or ():
        if condition.type == "PodScheduled":
            return PodCondition(condition.status, condition.reason, condition.message)
    return None


def _preempted(conditions: list[wire.Condition] | None) -> bool:
    for condition in conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _seconds(stamp: str | None) -> float:
    return datetime.fromisoformat(stamp).timestamp() if stamp else 0.0
