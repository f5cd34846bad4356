"""The in-memory cluster: one object that answers like an API server, in process.

It is synchronous and repeatable: time is told by the caller's clock, UIDs and generated names come from a seed. Nothing happens
by itself: no kubelet, no scheduler, no controller. Served over HTTP by scheduler/sandbox/http. A test bed, not a server: no
admission webhooks, quotas, limit ranges, schema validation or garbage collection; each module says what its kind leaves out.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from scheduler.sandbox import listing
from scheduler.sandbox.builtin import BUILT_IN
from scheduler.sandbox.crds import custom_resources
from scheduler.sandbox.deletion import DeleteOptions
from scheduler.sandbox.errors import bad_request, method_not_allowed, no_such_resource
from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    copy_object,
    name_of,
    namespace_of,
    object_at,
    text_at,
    typed_copy,
)
from scheduler.sandbox.identity import Identities, Key, WallClock
from scheduler.sandbox.kinds import Resource, ResourceTable
from scheduler.sandbox.listing import ListOptions, Page
from scheduler.sandbox.namespaces import BUILT_IN as BUILT_IN_NAMESPACES
from scheduler.sandbox.namespaces import NAMESPACE_STORAGE, check_deletable, finalized, terminating
from scheduler.sandbox.patches import parse_patch
from scheduler.sandbox.pods import binding, eviction
from scheduler.sandbox.priority import system_classes
from scheduler.sandbox.registry import Registry
from scheduler.sandbox.store import Store
from scheduler.sandbox.watch import Subscription, WatchEvent

JsonObjects: TypeAlias = list[JsonObject]  # named here because a method of Cluster is called `list`
WatchEvents: TypeAlias = list[WatchEvent]
_DEFINITIONS = "CustomResourceDefinition"


class Cluster:
    """Objects of a Kubernetes cluster and the requests one can make about them.

    A resource is given as a `Resource` or by any of its names: `pods`, `Pod`, `po`, `leases.coordination.k8s.io`. Objects are
    plain JSON dicts. Every refusal is an `ApiError`, with the code, reason and message of kube-apiserver. Answers are copies;
    only the objects in watch events are shared and must not be changed.
    """

    def __init__(self, now: WallClock, seed: int = 0) -> None:
        self.resources = ResourceTable(BUILT_IN)
        self.registry = Registry(Store(), now, Identities(seed))
        self.registry.deleted.append(self._forget_definition)
        for name in BUILT_IN_NAMESPACES:
            self.create("namespaces", {"metadata": {"name": name}})
        for priority_class in system_classes():
            self.create("priorityclasses", priority_class)

    @property
    def revision(self) -> int:
        """The newest resourceVersion."""
        return self.registry.store.revision

    @property
    def compacted(self) -> int:
        """The newest resourceVersion that is forgotten; 0 if none is."""
        return self.registry.store.compacted

    def resource(self, name: str | Resource) -> Resource:
        """The resource of a name. Raises ApiError 404."""
        if isinstance(name, Resource):
            return name
        found = self.resources.named(name)
        if found is None:
            raise no_such_resource()
        return found

    def create(
        self, resource: str | Resource, obj: JsonObject, namespace: str | None = None, *, dry_run: bool = False
    ) -> JsonObject:
        """Create an object, in the namespace given, or else its own, or else `default`."""
        found = self.resource(resource)
        if namespace is None:
            namespace = (namespace_of(obj) or "default") if found.namespaced else ""
        created = self.registry.create(found, namespace, obj, dry_run=dry_run)
        if found.kind == _DEFINITIONS and not dry_run:
            self._serve_definition(created)
        return created

    def get(self, resource: str | Resource, namespace: str | None, name: str) -> JsonObject:
        """One object; the namespace of an object of the cluster is None."""
        found = self.resource(resource)
        return copy_object(found.show(self.registry.stored(found, namespace or "", name)))

    def list(
        self,
        resource: str | Resource,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 0,
        continue_: str = "",
        resource_version: str = "",
    ) -> tuple[JsonObjects, int, str]:
        """Objects by name, the version they show, and the token for the next page (empty at the end)."""
        options = ListOptions(
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            limit=limit,
            continue_token=continue_,
            resource_version=resource_version,
        )
        page = self.list_page(resource, options)
        return [copy_object(item) for item in page.items], page.resource_version, page.continue_token

    def list_page(self, resource: str | Resource, options: ListOptions) -> Page:
        """One page of a list, with all that a query string can say. The objects are shared and must not be changed."""
        return listing.list_page(self.registry.store, self.resource(resource), options)

    def update(
        self, resource: str | Resource, obj: JsonObject, subresource: str = "", *, dry_run: bool = False
    ) -> JsonObject:
        """Replace an object, or with `subresource="status"` its status. A resourceVersion in it must be the newest."""
        return self.put(resource, namespace_of(obj), name_of(obj), obj, subresource, dry_run=dry_run)[0]

    def put(
        self,
        resource: str | Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        subresource: str = "",
        *,
        dry_run: bool = False,
    ) -> tuple[JsonObject, bool]:
        """Replace the object of a name; answers it and whether it was created, as leases and events may be."""
        found = self.resource(resource)
        if subresource == "finalize":
            return self._finalize(found, name, obj), False
        changed, created = self.registry.update(found, namespace, name, obj, subresource=subresource, dry_run=dry_run)
        self._notice(found, changed)
        return changed, created

    def patch(
        self,
        resource: str | Resource,
        namespace: str | None,
        name: str,
        patch: Json,
        content_type: str,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> JsonObject:
        """Patch an object or its status; the media type says what kind of patch it is."""
        return self.apply(resource, namespace, name, patch, content_type, subresource=subresource, dry_run=dry_run)[0]

    def apply(
        self,
        resource: str | Resource,
        namespace: str | None,
        name: str,
        patch: Json,
        content_type: str,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> tuple[JsonObject, bool]:
        """Patch, and say whether the object was created, as an apply patch may."""
        found = self.resource(resource)
        parsed = parse_patch(patch, content_type, custom=found.custom)
        changed, created = self.registry.patch(
            found, namespace or "", name, parsed, subresource=subresource, dry_run=dry_run
        )
        self._notice(found, changed)
        return changed, created

    def delete(
        self,
        resource: str | Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period: int | None = None,
    ) -> JsonObject:
        """Delete an object or begin to; a pod on a node stays until a kubelet deletes it with a grace period of 0."""
        options = DeleteOptions(uid, resource_version, grace_period)
        return self.delete_with(resource, namespace, name, options)[0]

    def delete_with(
        self, resource: str | Resource, namespace: str | None, name: str, options: DeleteOptions
    ) -> tuple[JsonObject, bool]:
        """Delete by options; answers the object's last or present state and whether it is gone."""
        found = self.resource(resource)
        if found.storage == NAMESPACE_STORAGE:
            check_deletable(name)
        return self.registry.delete(found, namespace or "", name, options)

    def bind(self, namespace: str, name: str, body: JsonObject, *, dry_run: bool = False) -> None:
        """POST a Binding for a pod."""
        binding.bind(self.registry, self.resource("pods"), namespace, name, body, dry_run=dry_run)

    def evict(self, namespace: str, name: str, options: DeleteOptions = DeleteOptions()) -> None:  # noqa: B008 - frozen
        """POST an Eviction for a pod."""
        eviction.evict(self.registry, self.resource("pods"), namespace, name, options)

    def watch(
        self,
        resource: str | Resource,
        since: int,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        wake: Callable[[], None] | None = None,
    ) -> Subscription:
        """Changes after a version (1: all that are kept). An expired version shows as an ERROR event with status 410."""
        if since < 1:
            raise bad_request("a watch in process starts from the version of a list")
        options = ListOptions(
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            resource_version=str(since),
        )
        return self.open_watch(resource, options, wake)[1]

    def open_watch(
        self, resource: str | Resource, options: ListOptions, wake: Callable[[], None] | None = None
    ) -> tuple[WatchEvents, Subscription]:
        """A watch, with present objects as ADDED events first when no version is given."""
        return listing.open_watch(self.registry.store, self.resource(resource), options, wake)

    def bookmark(
        self, resource: str | Resource, subscription: Subscription, annotations: Mapping[str, str] | None = None
    ) -> WatchEvent:
        """A BOOKMARK for a drained watch; moves its position to the newest version, as nothing it wants is between."""
        subscription.revision = max(subscription.revision, self.revision)
        return listing.bookmark(self.resource(resource), subscription.revision, annotations or {})

    def compact(self, revision: int | None = None) -> None:
        """Forget changes up to a version (None: all), so that lists and watches from before get 410."""
        self.registry.store.compact(self.revision if revision is None else revision)

    def empty_terminating_namespaces(self) -> None:
        """What the namespace controller does: delete everything in terminating namespaces, and those that are empty."""
        for namespace in terminating(self.registry):
            left = False
            for resource in [r for r in self.resources if r.namespaced and r.face is None]:
                for obj in self.registry.all(resource.storage, namespace):
                    _, gone = self.delete_with(resource, namespace, name_of(obj), DeleteOptions())
                    left |= not gone
            if not left:
                self._finalize(
                    self.resource("namespaces"), namespace, finalized(self.get("namespaces", None, namespace))
                )

    def _finalize(self, resource: Resource, name: str, namespace: JsonObject) -> JsonObject:
        """PUT namespaces/finalize: the only way to change spec.finalizers; the last one to go takes the namespace along."""
        if resource.storage != NAMESPACE_STORAGE:
            raise method_not_allowed()
        old = self.registry.stored(resource, "", name)
        new = {**copy_object(old), "spec": typed_copy(object_at(namespace, "spec"))}
        if text_at(new, "status", "phase") == "Terminating" and not object_at(new, "spec").get("finalizers"):
            self.registry.remove(resource, Key("", name), new)
            return copy_object(new)
        return copy_object(self.registry.store.write(resource.storage, Key("", name), new))

    def _notice(self, resource: Resource, obj: JsonObject) -> None:
        if resource.kind == _DEFINITIONS:
            self._serve_definition(obj)

    def _serve_definition(self, definition: JsonObject) -> None:
        spec = object_at(definition, "spec")
        self.resources.remove(text_at(spec, "group"), text_at(spec, "names", "plural"))
        for resource in custom_resources(definition):
            self.resources.add(resource)

    def _forget_definition(self, resource: Resource, definition: JsonObject) -> None:
        """A definition that goes takes its objects and its resource along."""
        if resource.kind != _DEFINITIONS:
            return
        for custom in custom_resources(definition):
            for obj in self.registry.all(custom.storage):
                self.registry.remove(custom, Key(namespace_of(obj), name_of(obj)), obj)
            self.resources.remove(custom.group, custom.plural)
