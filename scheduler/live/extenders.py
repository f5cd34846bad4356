"""HTTP to extenders. A session of its own and no limit on calls, so that one that is slow holds up nobody else.

Not here: what is asked and what an answer means (scheduler/extenders), when (scheduler/consulting.py).
"""

import asyncio
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Protocol

import aiohttp
import structlog

from scheduler.config import Extender, ExtenderTls
from scheduler.live import clock
from scheduler.live.dispatcher import NO_LEASE, Principal
from scheduler.live.errors import SetupError
from scheduler.messages import Answered, CallExtender, EffectDone, Outcome, Unknown, Withdrawn

_HEADERS = {"User-Agent": "berth", "Content-Type": "application/json"}
_SLOW = 1.0
_BETWEEN = 10.0

log = structlog.get_logger("berth.extenders")


class ExtenderObserver(Protocol):
    """Told of every call that was made."""

    def extender_called(self, extender: str, verb: str, seconds: float) -> None:
        """A call ended, one way or another."""


class ExtenderCalls:
    """Makes the calls. `settled` is awaited before a pod is bound: nothing else may be under way for it then."""

    def __init__(
        self,
        extenders: Sequence[Extender],
        principal: Principal,
        observer: ExtenderObserver,
        settled: Callable[[str], Awaitable[None]],
    ) -> None:
        self._tls: dict[str, ssl.SSLContext] = {}
        self._server_names: dict[str, str | None] = {}
        self.know(extenders)()
        self._principal = principal
        self._observer = observer
        self._settled = settled
        self._session: aiohttp.ClientSession | None = None
        self._calls: dict[asyncio.Task[Outcome], CallExtender] = {}
        self._complained: dict[str, float] = {}

    def know(self, extenders: Sequence[Extender]) -> Callable[[], None]:
        """Prepare to call these; what is answered makes it so. Raises SetupError if what one names for TLS cannot be used."""
        contexts = {extender.name: tls_context(extender) for extender in extenders}
        names = {extender.name: extender.tls.server_name or None for extender in extenders}

        def begin() -> None:
            # Those of before stay: calls of them may be on their way.
            self._tls.update(contexts)
            self._server_names.update(names)

        return begin

    def submit(self, effect: CallExtender) -> None:
        """Make a call now."""
        task = asyncio.get_running_loop().create_task(self._make(effect))
        self._calls[task] = effect
        task.add_done_callback(partial(self._ended, effect))

    @property
    def in_flight(self) -> int:
        """How many calls are under way."""
        return len(self._calls)

    async def stop(self, within: float) -> None:
        """Let Bindings that are under way end, for `within` seconds at most; nobody needs the other answers any more."""
        binding = [task for task, effect in self._calls.items() if effect.binding is not None]
        if binding and within:
            await asyncio.wait(binding, timeout=within)
        calls = list(self._calls)
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _make(self, effect: CallExtender) -> Outcome:
        if effect.binding is not None:
            await self._settled(effect.uid)
        reason = self._why_not(effect)
        if reason is not None:
            return Withdrawn(reason)
        began = clock.now()
        try:
            async with asyncio.timeout(effect.timeout):
                return await self._post(effect)
        except TimeoutError:
            return Unknown(f"no answer within {effect.timeout:g} s")
        except (aiohttp.ClientError, OSError) as error:
            return Unknown(str(error) or type(error).__name__)
        finally:
            self._took(effect, clock.now() - began)

    def _why_not(self, effect: CallExtender) -> str | None:
        if not self._principal.may_write():
            return NO_LEASE
        return None if effect.binding is None else self._principal.withdrawn(effect.binding)

    async def _post(self, effect: CallExtender) -> Answered:
        """Once more if a kept connection turns out to have been closed, which says nothing about the extender. A Binding is not
        asked for twice: what became of it is found out in another way.
        """
        try:
            return await self._once(effect)
        except (aiohttp.ServerDisconnectedError, ConnectionResetError):
            if effect.binding is not None:
                raise
            return await self._once(effect)

    async def _once(self, effect: CallExtender) -> Answered:
        if self._session is None:
            # Without a limit: which calls are made at once is the engine's to decide. Proxies as in the environment, like Go.
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, headers=_HEADERS, trust_env=True)
        async with self._session.post(
            effect.url,
            data=effect.body,
            timeout=aiohttp.ClientTimeout(total=None),
            ssl=self._tls[effect.extender],
            server_hostname=self._server_names[effect.extender],
        ) as answer:
            return Answered(answer.status, await answer.read())

    def _took(self, effect: CallExtender, seconds: float) -> None:
        """Name the extender if it was slow, but not each time."""
        self._observer.extender_called(effect.extender, effect.verb, seconds)
        now = clock.now()
        if seconds >= _SLOW and now - self._complained.get(effect.extender, -_BETWEEN) >= _BETWEEN:
            self._complained[effect.extender] = now
            log.warning("extender is slow", extender=effect.extender, verb=effect.verb, seconds=round(seconds, 3))

    def _ended(self, effect: CallExtender, task: "asyncio.Task[Outcome]") -> None:
        """A call is over, and is answered for however it ended."""
        outcome: Outcome
        if task.cancelled():
            outcome = Unknown("given up before the answer came")
        elif (error := task.exception()) is not None:
            log.error("a call failed", extender=effect.extender, verb=effect.verb, exc_info=error)
            outcome = Unknown(f"{type(error).__name__}: {error}")
        else:
            outcome = task.result()
        del self._calls[task]
        self._principal.report(EffectDone(effect.effect_id, outcome))


def tls_context(extender: Extender) -> ssl.SSLContext:
    """TLS as its tlsConfig and enableHTTPS say. Raises SetupError if what they name cannot be used."""
    tls = extender.tls
    try:
        context = ssl.create_default_context(cafile=tls.ca_file or None, cadata=tls.ca.decode() or None)
        if tls.certificate or tls.certificate_file:
            _load_certificate(context, tls)
    except (OSError, ValueError) as error:
        raise SetupError(f"extender {extender.name}: tlsConfig cannot be used: {error}") from error
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_certificate(context: ssl.SSLContext, tls: ExtenderTls) -> None:
    """The library reads files only."""
    with ExitStack() as stack:

        def path(data: bytes, file: str) -> str:
            if not data:
                return file
            made = stack.enter_context(tempfile.NamedTemporaryFile())
            made.write(data)
            made.flush()
            return made.name

        context.load_cert_chain(path(tls.certificate, tls.certificate_file), path(tls.key, tls.key_file))
