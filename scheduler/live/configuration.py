"""Which configuration is in force: that of the Scheduler object if it has one, else that of the file (or the defaults).

Either may change at any time. What cannot be used is refused and told, and what was in force stays. Not here: what taking
over a configuration means (Engine), and what follows for watches, rights and extenders (parts.py).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import structlog

from scheduler.config import ConfigError, Configuration, load, load_object
from scheduler.config.merge import Registry
from scheduler.live.client import Transport
from scheduler.live.errors import NoAnswerError, SetupError
from scheduler.live.files import read_text

_FIRST_LOOK = 5.0
_UNCHANGEABLE = ("leaderElection", "clientConnection")

log = structlog.get_logger("berth.configuration")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What has become of the configuration that counts, as a condition has it."""

    status: str
    reason: str
    message: str


class ObjectSpec(msgspec.Struct):
    """spec of a Scheduler."""

    configuration: dict[str, object] | None = None


class SchedulerObject(msgspec.Struct):
    """A Scheduler, as far as it configures."""

    spec: ObjectSpec = msgspec.field(default_factory=ObjectSpec)


class Configurator:
    """Follows file and object. `put_in_force` raises ConfigError or SetupError, with nothing changed, for what cannot be used.

    `asked` is set once the object has been looked for, so that nothing is decided by a configuration that it overrules.
    """

    def __init__(
        self,
        given: Configuration,
        path: Path | None,
        registry: Registry,
        put_in_force: Callable[[Configuration], None],
        *,
        every: float,
    ) -> None:
        self.asked = False
        self._put_in_force = put_in_force
        self._path = path
        self._registry = registry
        self._every = every
        self._start = given
        self._of_file = given
        self._file_problem: str | None = None
        self._text: str | None = None
        self._of_object: Mapping[str, object] | None = None
        self._in_force = given
        self._source = self._file
        self.verdict = Verdict("True", "InForce", f"{self._file} is in force.")

    @property
    def _file(self) -> str:
        return str(self._path) if self._path else "The default configuration"

    async def look(self, transport: Transport, url: str) -> None:
        """Look for the object once, for a few seconds at most; later changes come by `object_seen`."""
        try:
            response = await transport.call("GET", url, limit=_FIRST_LOOK)
            if response.status == 200:
                self.object_seen(msgspec.json.decode(response.body, type=SchedulerObject).spec.configuration)
        except (NoAnswerError, msgspec.DecodeError) as error:
            log.warning("whether the Scheduler object has a configuration is not known yet", problem=str(error))
        finally:
            self.asked = True

    def object_seen(self, configuration: Mapping[str, object] | None) -> None:
        """The object's configuration, None if there is none (any more)."""
        if configuration != self._of_object:
            self._of_object = configuration
            self._judge()

    async def follow_file(self) -> None:
        """Read the file again and again until cancelled. A change counts once it has come to rest."""
        if self._path is None:
            return
        seen: str | ConfigError | None = None
        while True:
            await asyncio.sleep(self._every)
            now = _read(self._path)
            if str(now) == str(seen) and str(now) != self._text:
                self._text = str(now)
                self._take_file(now)
            seen = now

    def _take_file(self, read: "str | ConfigError") -> None:
        try:
            if isinstance(read, ConfigError):
                raise read
            self._of_file = load(read, str(self._path), self._registry)
            self._file_problem = None
        except ConfigError as error:
            self._file_problem = "; ".join(error.problems)
        self._judge()

    def _judge(self) -> None:
        """Put in force what counts now, or keep what is."""
        source, problem, wanted = self._file, self._file_problem, self._of_file
        ignored = [field for field in _UNCHANGEABLE if _differs(field, wanted, self._start)]
        try:
            if self._of_object is not None:
                source, problem = "spec.configuration", None
                wanted = load_object(self._of_object, source, self._registry)
                ignored = [field for field in _UNCHANGEABLE if field in self._of_object]
            self._take_over(wanted, source)
        except (ConfigError, SetupError) as error:
            problem = "; ".join(str(error).splitlines())
        if problem is not None:
            self._tell(Verdict("False", "Refused", f"{self._source} stays in force. {problem}"))
        elif ignored:
            what = f"{' and '.join(ignored)} as they were at the start"
            self._tell(
                Verdict("True", "InForceInPart", f"{source} is in force, with {what}; restart berth to change them.")
            )
        else:
            self._tell(Verdict("True", "InForce", f"{source} is in force."))

    def _take_over(self, wanted: Configuration, source: str) -> None:
        wanted = replace(
            wanted, leader_election=self._start.leader_election, client_connection=self._start.client_connection
        )
        if wanted != self._in_force:
            self._put_in_force(wanted)
            tell_notices(wanted)
        self._in_force, self._source = wanted, source

    def _tell(self, verdict: Verdict) -> None:
        if verdict != self.verdict:
            tell = log.warning if verdict.status == "False" else log.info
            tell("configuration", reason=verdict.reason, message=verdict.message)
        self.verdict = verdict


def tell_notices(configuration: Configuration) -> None:
    """Log what in a configuration has no effect."""
    for notice in configuration.notices:
        log.warning("configuration", notice=notice)


def _differs(field: str, one: Configuration, other: Configuration) -> bool:
    if field == "leaderElection":
        return one.leader_election != other.leader_election
    return one.client_connection != other.client_connection


def _read(path: Path) -> "str | ConfigError":
    """The text of the file; a mounted ConfigMap is swapped as a whole, other files may be read half written."""
    try:
        return read_text(path)
    except ConfigError as error:
        return error
