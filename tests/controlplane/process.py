"""Child processes that keep their log, end with their parent, and are ended by their own pid."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar, runtime_checkable

Found = TypeVar("Found")
POLL_SECONDS = 0.05


class ProcessDiedError(Exception):
    """A process ended although it was needed; the text carries the end of its log."""


def wait_until(condition: Callable[[], Found | None], timeout: float, what: str) -> Found:
    """The first truthy answer of `condition`; TimeoutError naming `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(POLL_SECONDS)


class Process:
    """One running child; a context manager that stops it.

    Start it from a thread that outlives it: the kernel kills the child when the *thread* that made it ends, which is what
    leaves nothing behind when a test run is killed.
    """

    def __init__(self, command: Sequence[str | Path], log: Path, env: dict[str, str] | None = None) -> None:
        self.name = Path(command[0]).name
        self.log = log
        setpriv = shutil.which("setpriv")
        guard = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        with log.open("ab") as sink:
            self._child = subprocess.Popen(
                [*guard, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal, None while it runs."""
        return self._child.poll()

    def wait_until(self, condition: Callable[[], Found | None], timeout: float, what: str) -> Found:
        """Like the function of this name, but raises ProcessDiedError as soon as the process has ended."""

        def alive_and_true() -> Found | None:
            if self.returncode is not None:
                raise ProcessDiedError(
                    f"{self.name} ended with status {self.returncode}; {self.log} ends:\n{self.tail()}"
                )
            return condition()

        return wait_until(alive_and_true, timeout, what)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self._child.kill()
        self._child.wait()

    def stop(self, grace: float = 10.0) -> None:
        """SIGTERM, and SIGKILL when it is still there after `grace` seconds."""
        self._child.terminate()
        try:
            self._child.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()

    def tail(self, lines: int = 40) -> str:
        """The end of the log."""
        return tail(self.log, lines)

    def resident_bytes(self) -> int:
        """Memory in use now (VmRSS)."""
        return self._status_bytes("VmRSS:")

    def peak_bytes(self) -> int:
        """The most memory that was ever in use (VmHWM)."""
        return self._status_bytes("VmHWM:")

    def _status_bytes(self, key: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
        return 0

    def cpu_seconds(self) -> float:
        """User and system time used so far (proc(5), stat fields 14 and 15)."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@runtime_checkable
class KeepsLogs(Protocol):
    """A fixture whose logs are shown below a test that failed with it."""

    def log_files(self) -> list[Path]:
        """All of them, in the order to show them in."""
        ...


def tail(log: Path, lines: int = 40) -> str:
    """The last lines of a log file; empty when there is none."""
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
