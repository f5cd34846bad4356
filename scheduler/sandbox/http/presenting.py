"""Objects, lists and watch events in the form that a client asked for: as they are, as tables, or metadata only."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from scheduler.sandbox.errors import Status
from scheduler.sandbox.fields import Json, JsonObject
from scheduler.sandbox.http.bodies import Form
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.listing import Page
from scheduler.sandbox.tables.table import partial_metadata, table
from scheduler.sandbox.watch import WatchEvent


class Presenter(msgspec.Struct, frozen=True):
    """Knows the resource, the form, what table rows carry (`includeObject`), and the time that ages are told from."""

    resource: Resource
    form: Form
    include: str
    now: datetime

    def object(self, obj: JsonObject) -> JsonObject:
        """One object; its own version in a table's metadata."""
        match self.form:
            case Form.TABLE:
                metadata = obj.get("metadata")
                version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
                return self._table([obj], {"resourceVersion": version})
            case Form.METADATA:
                return partial_metadata(obj)
        return ordered(obj)

    def page(self, page: Page) -> JsonObject:
        """A page of a list."""
        metadata: JsonObject = {"resourceVersion": str(page.resource_version)}
        if page.continue_token:
            metadata["continue"] = page.continue_token
        if page.remaining:
            metadata["remainingItemCount"] = page.remaining
        if self.form is Form.TABLE:
            return self._table(page.items, metadata)
        if self.form in (Form.METADATA, Form.METADATA_LIST):
            kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
            items: list[Json] = [partial_metadata(obj) for obj in page.items]
        else:
            kind, version = self.resource.list_kind, self.resource.api_version
            items = [self._item(obj) for obj in page.items]
        return {"kind": kind, "apiVersion": version, "metadata": metadata, "items": items}

    def event(self, event: WatchEvent, *, with_columns: bool) -> WatchEvent:
        """A watch event; only the first table of a stream names its columns."""
        if isinstance(event.object, Status):
            return event
        shown = self.object(event.object)
        if self.form is Form.TABLE and not with_columns:
            shown["columnDefinitions"] = None
        return WatchEvent(event.type, shown)

    def _table(self, objects: Sequence[JsonObject], metadata: JsonObject) -> JsonObject:
        return table(self.resource, objects, metadata, self.now, include=self.include)

    def _item(self, obj: JsonObject) -> JsonObject:
        """Items of built-in kinds do not repeat kind and apiVersion, those of custom resources do."""
        if self.resource.custom:
            return ordered(obj)
        return {field: value for field, value in obj.items() if field not in ("kind", "apiVersion")}


def ordered(obj: JsonObject) -> JsonObject:
    """The object with kind, apiVersion and metadata first, for human eyes."""
    first: JsonObject = {field: obj[field] for field in ("kind", "apiVersion", "metadata") if field in obj}
    return {**first, **obj}
