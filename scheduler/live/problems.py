"""What stands in the way, one line for each thing; readiness shows them, and each is logged when it changes."""

import structlog

log = structlog.get_logger("berth")


class Problems:
    """Problems by what they are about. Telling the same one again changes nothing."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def tell(self, about: str, problem: str | None) -> None:
        """What is the matter with something now; None for nothing."""
        if self._lines.get(about) == problem:
            return
        if problem is None:
            del self._lines[about]
            log.info("solved", about=about)
        else:
            self._lines[about] = problem
            log.warning(problem, about=about)

    def lines(self) -> list[str]:
        """All of them, as `about: problem`."""
        return [f"{about}: {problem}" for about, problem in sorted(self._lines.items())]
