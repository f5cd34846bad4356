"""What is asked of both servers: one module a subject, one function a story."""

import inspect
from collections.abc import Awaitable, Callable

from tests.conformance.stories import binding, deleting, listing, others, pods, watching, writing
from tests.conformance.teller import Teller

Story = Callable[[Teller], Awaitable[None]]

_SUBJECTS = (binding, watching, listing, writing, deleting, pods, others)
ALL: tuple[Story, ...] = tuple(
    story
    for subject in _SUBJECTS
    for name, story in vars(subject).items()
    if inspect.iscoroutinefunction(story) and story.__module__ == subject.__name__ and not name.startswith("_")
)
