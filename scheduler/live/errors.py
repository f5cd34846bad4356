"""What can go wrong on the way to the API server, told apart once."""

from scheduler.objects import ApiStatus


class SetupError(Exception):
    """berth cannot start: one line that names what, where, what was found and what is allowed."""


class NoAnswerError(Exception):
    """A call brought no answer. `sent` says whether the server may have carried it out."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class UntrustedServerError(NoAnswerError):
    """The server's certificate does not check out; nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class RefusedError(Exception):
    """The server answered with a status that is no success."""

    def __init__(self, status: ApiStatus, retry_after: float | None = None) -> None:
        super().__init__(f"HTTP {status.code} {status.reason}: {status.message}".rstrip(": "))
        self.status = status
        self.retry_after = retry_after
