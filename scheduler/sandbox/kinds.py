"""The resources an API server knows: their names, scopes, subresources, selectable fields and rules."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.identity import GroupResource
from scheduler.sandbox.selectors import FieldReader, reader
from scheduler.sandbox.strategy import Strategy

METADATA_FIELDS: Mapping[str, FieldReader] = {
    "metadata.name": reader("metadata", "name"),
    "metadata.namespace": reader("metadata", "namespace"),
}
_UNKNOWN_FIELD = '"%s" is not a known field selector: only "metadata.name", "metadata.namespace"'
_UNSUPPORTED_FIELD = "field label not supported: %s"
STANDARD_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


# API groups that only answer questions: the resource and its kind.
REVIEWS = {
    "authorization.k8s.io": ("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    "authentication.k8s.io": ("selfsubjectreviews", "SelfSubjectReview"),
}


class Face(msgspec.Struct, frozen=True):
    """How a resource shows objects that are stored in the shape of another API version, and takes them in."""

    stored_version: str
    show: Callable[[JsonObject], JsonObject]
    take: Callable[[JsonObject], JsonObject]


class Column(msgspec.Struct, frozen=True):
    """A metav1.TableColumnDefinition. Priority 1 is shown by `kubectl get -o wide` only."""

    name: str
    type: str = "string"
    priority: int = 0
    format: str = ""
    description: str = ""


class Resource(msgspec.Struct, frozen=True):
    """One resource of one API version.

    `storage` names the collection; resources that share it are two faces of the same objects. `verbs` is empty for what is only
    ever created (SelfSubjectAccessReview).
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    strategy: Strategy = Strategy()
    subresource_strategies: Mapping[str, Strategy] = {}  # of those that have rules of their own
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    fields: Mapping[str, FieldReader] = {}
    face: Face | None = None
    custom: bool = False
    singular_name: str = ""
    list_kind_name: str = ""
    columns: tuple[tuple[Column, str], ...] = ()  # printer columns of a custom resource, each with its JSONPath

    @property
    def api_version(self) -> str:
        """`v1`, or `group/version`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def stored_version(self) -> str:
        """apiVersion of the stored form, which another face translates from and to."""
        return self.api_version if self.face is None else self.face.stored_version

    @property
    def group_resource(self) -> GroupResource:
        """The name in error messages."""
        return GroupResource(self.group, self.plural)

    @property
    def group_kind(self) -> GroupResource:
        """The kind with its group, as validation messages begin; events are of the core group whatever face they have."""
        return GroupResource(self.stored_version.rpartition("/")[0], self.kind)

    @property
    def singular(self) -> str:
        """The name kubectl also takes."""
        return self.singular_name or self.kind.lower()

    @property
    def list_kind(self) -> str:
        """Kind of a list of these."""
        return self.list_kind_name or f"{self.kind}List"

    @property
    def storage(self) -> str:
        """Name of the collection; one for both groups that serve events."""
        return "events" if self.kind == "Event" else f"{self.plural}.{self.group}"

    @property
    def selectable(self) -> Mapping[str, FieldReader]:
        """Fields a field selector may name."""
        metadata = METADATA_FIELDS if self.namespaced else {"metadata.name": METADATA_FIELDS["metadata.name"]}
        return {**metadata, **self.fields}

    @property
    def unsupported_field(self) -> str:
        """What a field selector that names another field is told."""
        return _UNSUPPORTED_FIELD if self.fields or self.custom else _UNKNOWN_FIELD

    def show(self, obj: JsonObject) -> JsonObject:
        """A stored object in the shape of this API version. Shares with the stored object: not to be changed."""
        return obj if self.face is None else self.face.show(obj)

    def take(self, obj: JsonObject) -> JsonObject:
        """A received object in the shape it is stored in."""
        return obj if self.face is None else self.face.take(obj)


class ResourceTable:
    """All resources, found by path or by any name a person uses; CustomResourceDefinitions add to it."""

    def __init__(self, resources: tuple[Resource, ...]) -> None:
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_name: dict[str, Resource] = {}
        for resource in resources:
            self.add(resource)

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._by_path.values())

    def add(self, resource: Resource) -> None:
        """Serve a resource; of two with the same name, the first one added keeps the bare name."""
        self._by_path[resource.group, resource.version, resource.plural] = resource
        for name in _names(resource):
            self._by_name.setdefault(name, resource)
        self._by_name[str(resource.group_resource)] = resource

    def remove(self, group: str, plural: str) -> None:
        """Stop serving a resource in all its versions."""
        self._by_path = {path: r for path, r in self._by_path.items() if (r.group, r.plural) != (group, plural)}
        self._by_name = {name: r for name, r in self._by_name.items() if (r.group, r.plural) != (group, plural)}

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource that a URL path names."""
        return self._by_path.get((group, version, plural))

    def serves(self, group: str, version: str) -> bool:
        """Whether anything of an API version is served; that of reviews always is."""
        return group in REVIEWS or any((r.group, r.version) == (group, version) for r in self)

    def named(self, name: str) -> Resource | None:
        """The resource of a plural, singular, kind or short name, or of `plural.group`."""
        return self._by_name.get(name) or self._by_name.get(name.lower())


def _names(resource: Resource) -> tuple[str, ...]:
    return (resource.plural, resource.singular, resource.kind, resource.kind.lower(), *resource.short_names)
