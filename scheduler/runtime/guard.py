"""Between the runtime and a plugin: whatever a plugin raises or answers becomes an error of this attempt, never of the loop."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from scheduler.framework import Code, Plugin, Status, error
from scheduler.observer import Observer
from scheduler.runtime.answers import checked
from scheduler.tasks import CancelledError

T = TypeVar("T")


class Guard:
    """Calls plugins and reports what they raise, and answers that are none."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def call(self, plugin: Plugin, point: str, kind: type[T], function: Callable[[], T]) -> T | Status:
        """The plugin's answer, which is of this kind, or an error status that names plugin, point and exception."""
        self._observer.plugin_started()
        answer = self.repeat(plugin, point, kind, function)
        self._observer.plugin_finished(plugin.name, point, answer.code if isinstance(answer, Status) else Code.SUCCESS)
        return answer

    def repeat(self, plugin: Plugin, point: str, kind: type[T], function: Callable[[], T]) -> T | Status:
        """As `call`, for one of many calls that are measured as a whole (`measured`)."""
        try:
            return checked(function(), kind)
        except Exception as exception:  # noqa: BLE001  plugins are users' code; one that raises must not stop the loop
            return self._report(plugin, point, exception)

    def measured(self, plugin: Plugin, point: str, calls: Callable[[], Status | None]) -> Status | None:
        """Many calls of one plugin, measured as one; None says that they went well."""
        self._observer.plugin_started()
        answer = calls()
        self._observer.plugin_finished(plugin.name, point, Code.SUCCESS if answer is None else answer.code)
        return answer

    async def wait(self, plugin: Plugin, point: str, kind: type[T], function: Callable[[], Awaitable[T]]) -> T | Status:
        """As `call`, for extension points that may await the handle."""
        try:
            return checked(await function(), kind)
        except CancelledError:
            raise
        except Exception as exception:  # noqa: BLE001  as above
            return self._report(plugin, point, exception)

    def _report(self, plugin: Plugin, point: str, exception: Exception) -> Status:
        self._observer.plugin_raised(plugin.name, point, exception)
        return error(f'running {point} plugin "{plugin.name}": {type(exception).__name__}: {_text(exception)}')


def _text(exception: Exception) -> str:
    try:
        return str(exception)
    except Exception:  # noqa: BLE001  an exception of a plugin's own may raise even when it is asked what it says
        return "(says nothing)"
