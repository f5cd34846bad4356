"""What a server says about versions that it has forgotten; told to servers that are made to forget in the middle."""

from collections.abc import Awaitable, Callable

from tests.conformance.stories.objects import pod
from tests.conformance.teller import Teller

Forget = Callable[[], Awaitable[None]]


async def versions_are_forgotten(api: Teller, forget: Forget) -> None:
    """A watch from before gets an ERROR line, a list that goes on from before gets status 410."""
    for name in ("a", "b", "c"):
        await api.ask("POST", "pods", pod(name), silent=True)
    page = await api.get("pods", limit="1")
    version, token = page.at("metadata", "resourceVersion"), page.at("metadata", "continue")
    await api.create("pods", pod("d"))
    await forget()
    async with api.watch("pods", version) as watch:
        await watch.events(1)
        await watch.ends()
    expired = await api.get("pods", limit="1", **{"continue": token})
    await api.get("pods", **{"continue": expired.at("metadata", "continue")})
    await api.get("pods", resourceVersion=version, resourceVersionMatch="Exact")
