"""The one error of the API: a metav1.Status with a code, a reason and a message in the words of kube-apiserver."""

from collections.abc import Sequence

import msgspec

from scheduler.sandbox.identity import GroupResource


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """A metav1.StatusCause: one thing wrong with one field."""

    reason: str
    message: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class Details(msgspec.Struct, frozen=True, omit_defaults=True):
    """metav1.StatusDetails; `kind` is a resource name or a kind, as the server has it."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after: int = msgspec.field(default=0, name="retryAfterSeconds")


class Status(msgspec.Struct, frozen=True):
    """metav1.Status in the shape it has on the wire."""

    kind: str = "Status"
    api_version: str = msgspec.field(default="v1", name="apiVersion")
    metadata: dict[str, str] = {}
    status: str = "Success"
    message: str | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET
    details: Details | msgspec.UnsetType = msgspec.UNSET
    code: int | msgspec.UnsetType = msgspec.UNSET


class ApiError(Exception):
    """A refused request.

    `code` is the HTTP status, `reason` the machine-readable metav1.StatusReason. `continue_token` is set on an expired list.
    """

    def __init__(
        self, code: int, reason: str, message: str, details: Details | None = None, continue_token: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_token = continue_token

    def status(self) -> Status:
        """The metav1.Status that a client receives."""
        return Status(
            metadata={"continue": self.continue_token} if self.continue_token else {},
            status="Failure",
            message=self.message,
            reason=self.reason or msgspec.UNSET,
            details=msgspec.UNSET if self.details is None else self.details,
            code=self.code,
        )


def not_found(resource: GroupResource, name: str) -> ApiError:
    """404: no object of this name."""
    details = Details(name, resource.group, resource.plural)
    return ApiError(404, "NotFound", f'{resource} "{name}" not found', details)


def already_exists(resource: GroupResource, name: str) -> ApiError:
    """409: an object of this name is there."""
    details = Details(name, resource.group, resource.plural)
    return ApiError(409, "AlreadyExists", f'{resource} "{name}" already exists', details)


def conflict(resource: GroupResource, name: str, why: str) -> ApiError:
    """409: the object is not in the state that the request presumes."""
    details = Details(name, resource.group, resource.plural)
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, details)


def forbidden(resource: GroupResource, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    """403: admission refuses."""
    details = Details(name, resource.group, resource.plural, causes=tuple(causes))
    message = f'{resource} "{name}" is forbidden: {why}' if name else f"{resource} is forbidden: {why}"
    return ApiError(403, "Forbidden", message, details)


def invalid(group_kind: GroupResource, name: str, causes: Sequence[Cause]) -> ApiError:
    """422: the object breaks rules of its kind; one cause a field. `group_kind` holds the kind in place of the plural."""
    unique = list(dict.fromkeys(str(cause) for cause in causes))
    text = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
    details = Details(name, group_kind.group, group_kind.plural, causes=tuple(causes))
    return ApiError(422, "Invalid", f'{group_kind} "{name}" is invalid: {text}', details)


def bad_request(message: str) -> ApiError:
    """400: the request makes no sense."""
    return ApiError(400, "BadRequest", message)


def expired(message: str, continue_token: str = "") -> ApiError:
    """410: the resourceVersion asked for is no longer kept."""
    return ApiError(410, "Expired", message, continue_token=continue_token)


def method_not_allowed() -> ApiError:
    """405: the resource does not have this verb."""
    return ApiError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", Details()
    )


def no_such_resource() -> ApiError:
    """404: the path names no resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", Details())


def internal(message: str) -> ApiError:
    """500, also what the server answers to a Binding without a target (kubernetes issue 139488)."""
    return ApiError(500, "", message)


def field_required(field: str, detail: str = "") -> Cause:
    """A field that must be given."""
    return Cause("FieldValueRequired", f"Required value: {detail}" if detail else "Required value", field)


def field_invalid(field: str, value: object, detail: str) -> Cause:
    """A value that its field does not take."""
    return Cause("FieldValueInvalid", f"Invalid value: {_shown(value)}: {detail}", field)


def field_forbidden(field: str, detail: str) -> Cause:
    """A field that may not be given, or not be changed."""
    return Cause("FieldValueForbidden", f"Forbidden: {detail}", field)


def field_duplicate(field: str, value: object) -> Cause:
    """A key that occurs twice in a list."""
    return Cause("FieldValueDuplicate", f"Duplicate value: {_shown(value)}", field)


def field_unsupported(field: str, value: object, allowed: Sequence[str]) -> Cause:
    """A value outside an enumeration."""
    choices = ", ".join(_shown(choice) for choice in allowed)
    return Cause("FieldValueNotSupported", f"Unsupported value: {_shown(value)}: supported values: {choices}", field)


def field_too_long(field: str, limit: int) -> Cause:
    """A string over its limit in bytes."""
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} bytes", field)


def _shown(value: object) -> str:
    """A value as Go prints it in a field error."""
    if value is None:
        return "null"
    return msgspec.json.encode(value).decode()
