"""The operator shell for berth's own resources: kopf, in a thread and loop of its own, restarted whenever it ends.

It only watches; what it sees is handed to the main loop. Scheduling does not depend on it, and it never touches pods or nodes.
Without the definition of the resources it looks for them once in a while.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping

import aiohttp
import kopf
import structlog

from scheduler.live.client import Transport
from scheduler.live.credentials import Credentials
from scheduler.live.errors import NoAnswerError
from scheduler.live.scheduler_object import GROUP, PLURAL, VERSION, SchedulerSeen

_FIRST_BACKOFF = 1.0
_LONGEST_BACKOFF = 300.0
_ENDS_WITHIN = 5.0

log = structlog.get_logger("berth.operator")


class OperatorShell:
    """Follows the Scheduler object of one name; `seen` is called in the main loop. `look_again` is how often (seconds) it is
    looked for a definition that is not there.
    """

    def __init__(
        self,
        transport: Transport,
        credentials: Credentials,
        name: str,
        seen: Callable[[SchedulerSeen | None], None],
        *,
        look_again: float,
    ) -> None:
        self._transport = transport
        self._credentials = credentials
        self._name = name
        self._seen = seen
        self._look_again = look_again
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Keep kopf running where there is something for it to do, until cancelled."""
        backoff = _FIRST_BACKOFF
        while True:
            if not await self._defined():
                await asyncio.sleep(self._look_again)
                continue
            began = self._loop.time()
            await self._run_once()
            if self._loop.time() - began > _LONGEST_BACKOFF:
                backoff = _FIRST_BACKOFF
            log.warning("the operator has ended and is started again", seconds=backoff)
            await asyncio.sleep(backoff)
            backoff = min(_LONGEST_BACKOFF, 2 * backoff)

    async def _defined(self) -> bool:
        try:
            response = await self._transport.call("GET", f"/apis/{GROUP}/{VERSION}", limit=10.0)
        except NoAnswerError:
            return False
        return response.status == 200

    async def _run_once(self) -> None:
        """One life of kopf, from start to end."""
        stop, ended = threading.Event(), asyncio.Event()

        def live() -> None:
            try:
                asyncio.run(self._operate(stop))
            except Exception:
                # Whatever kopf ends with (a bad answer is enough), scheduling goes on.
                log.exception("the operator failed")
            finally:
                self._tell(ended.set)

        thread = threading.Thread(target=live, name="operator", daemon=True)
        thread.start()
        try:
            await ended.wait()
        finally:
            stop.set()
            await asyncio.to_thread(thread.join, _ENDS_WITHIN)

    async def _operate(self, stop: threading.Event) -> None:
        # It would warn that it takes no signals in this thread, which is as it should be.
        logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
        registry = kopf.OperatorRegistry()

        @kopf.on.login(registry=registry)
        async def login(**_: object) -> kopf.AiohttpSession:
            connection = await self._credentials.load()
            headers = {"Authorization": connection.authorization} if connection.authorization else {}
            connector = aiohttp.TCPConnector(ssl=connection.ssl)
            session = aiohttp.ClientSession(connector=connector, headers=headers, proxy=connection.proxy)
            return kopf.AiohttpSession(server=connection.server, aiohttp_session=session)

        @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
        async def observe(event: kopf.RawEvent, name: str, **_: object) -> None:
            if name == self._name:
                gone = event["type"] == "DELETED"
                self._tell(self._seen, None if gone else _read(event["object"]))

        await kopf.operator(
            registry=registry,
            settings=_settings(),
            standalone=True,
            clusterwide=True,
            stop_flag=stop,
            # Left to itself kopf asks for the user's name, and the user of a container mostly has none.
            identity=self._name,  # type: ignore[arg-type] # a NewType of str that kopf does not export
        )

    def _tell(self, function: Callable[..., None], *args: object) -> None:
        """From kopf's thread to the main loop, as long as there is one."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *args)


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    # kopf takes away finalizers of this name, so it must not be the one that other operators use.
    settings.persistence.finalizer = f"{GROUP}/kopf"
    settings.persistence.progress_storage = kopf.StatusProgressStorage(name=GROUP)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=GROUP)
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.chunk_size = 500
    settings.networking.error_backoffs = (1, 2, 5)
    return settings


def _read(body: Mapping[str, object]) -> SchedulerSeen:
    metadata, status = _mapping(body.get("metadata")), _mapping(body.get("status"))
    conditions, configuration = status.get("conditions"), _mapping(body.get("spec")).get("configuration")
    transitions = {
        str(c.get("type")): (str(c.get("status")), str(c.get("lastTransitionTime")))
        for c in map(_mapping, conditions if isinstance(conditions, list) else [])
    }
    generation = metadata.get("generation")
    return SchedulerSeen(
        str(metadata.get("name")),
        str(metadata.get("uid")),
        generation if isinstance(generation, int) else 0,
        transitions,
        configuration if isinstance(configuration, Mapping) else None,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
