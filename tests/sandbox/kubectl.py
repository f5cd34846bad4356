"""kubectl, run against a sandbox that the same event loop serves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

DEADLINE_SECONDS = 30.0


@dataclass(frozen=True)
class Kubectl:
    """Runs one kubectl command after the other; a failing command fails the test."""

    binary: Path
    kubeconfig: Path

    async def __call__(self, *arguments: str, stdin: str = "") -> str:
        """What a command prints."""
        async with self.started(*arguments) as process:
            async with asyncio.timeout(DEADLINE_SECONDS):
                output, errors = await process.communicate(stdin.encode())
        assert process.returncode == 0, f"kubectl {' '.join(arguments)}: {errors.decode()}{output.decode()}"
        return output.decode()

    @asynccontextmanager
    async def started(self, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """A command that runs until it ends or the context does."""
        process = await asyncio.create_subprocess_exec(
            self.binary,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.kubeconfig.parent)},
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def write_kubeconfig(path: Path, url: str) -> Path:
    """A kubeconfig with one context."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": {"server": url}}],
        "users": [{"name": "sandbox", "user": {}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}],
        "current-context": "sandbox",
    }
    path.write_text(yaml.safe_dump(document))
    return path
