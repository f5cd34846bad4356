"""DefaultBinder: writes the Binding."""

from typing import ClassVar

from scheduler.framework import Bind, CycleState, PodInfo, Status


class DefaultBinder(Bind):
    """Binds through the API server (pods/binding); what plugins left in `bind_annotations` rides along."""

    name: ClassVar[str] = "DefaultBinder"

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Returns once the outcome is known."""
        return await self.handle.bind(pod, node_name, state.bind_annotations)
