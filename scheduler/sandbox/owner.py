"""Something like a ReplicaSet: keeps a number of pods of one template alive, replacing those that fail or vanish."""

from scheduler.sandbox.clock import VirtualClock
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.fields import JsonObject, copy_object, object_at, text_at


class Owner:
    """Keeps `replicas` unfinished pods; new ones get generated names and come `delay` seconds after the loss."""

    def __init__(
        self, cluster: Cluster, clock: VirtualClock, template: JsonObject, replicas: int, delay: float
    ) -> None:
        self.replicas = replicas
        self.created: list[str] = []
        self._cluster = cluster
        self._clock = clock
        self._template = copy_object(template)
        self._delay = delay
        self._alive: set[str] = set()
        self._watch = cluster.watch("pods", max(1, cluster.revision), wake=lambda: clock.after(0.0, self._look))
        self._fill()

    def _look(self) -> None:
        for event in self._watch.drain():
            if not isinstance(event.object, dict):
                continue
            uid = text_at(event.object, "metadata", "uid")
            ended = text_at(event.object, "status", "phase") in ("Failed", "Succeeded")
            if uid in self._alive and (event.type == "DELETED" or ended):
                self._alive.discard(uid)
                self._clock.after(self._delay, self._fill)

    def _fill(self) -> None:
        while len(self._alive) < self.replicas:
            pod = copy_object(self._template)
            metadata = object_at(pod, "metadata")
            made = self._cluster.create(
                "pods", {**pod, "metadata": {**metadata, "name": "", "generateName": f"{text_at(metadata, 'name')}-"}}
            )
            self._alive.add(text_at(made, "metadata", "uid"))
            self.created.append(text_at(made, "metadata", "name"))
