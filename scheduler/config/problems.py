"""Everything that is wrong with a configuration, collected so that all of it can be said at once."""

from collections.abc import Sequence

from scheduler.config.document import Document, joined, steps
from scheduler.config.model import ConfigError


class Problems:
    """Each problem has a field path and a text; it is shown with the line of the file, if there is a file. `within` is the path
    of the whole configuration in what it is a part of.

    Lists that lost unsound items while they were decoded are counted as they are in the file.
    """

    def __init__(self, document: Document | None, within: str = "") -> None:
        self._document = document
        self._within = within
        self._found: list[tuple[int, str]] = []
        self._paths: set[str] = set()
        self.notices: list[str] = []
        self._numbers: dict[str, Sequence[int]] = {}

    def add(self, path: str, text: str) -> None:
        """Note one problem of a field, by its path in the decoded values."""
        self.add_in_file(self.in_file(path), text)

    def add_in_file(self, path: str, text: str) -> None:
        """Note one problem of a field, by its path in the file."""
        line = self._document.line(path) if self._document else 0
        place = f"{self._document.place(path)}: " if self._document else ""
        self._paths.add(path)
        self._found.append((line, f"{place}{joined(self._within, path)}: {text}"))

    def notice(self, path: str, text: str) -> None:
        """Note something that is no problem, but that whoever wrote the field will want to know."""
        in_file = self.in_file(path)
        place = f"{self._document.place(in_file)}: " if self._document else ""
        self.notices.append(f"{place}{joined(self._within, in_file)}: {text}")

    def known(self, path: str) -> bool:
        """Whether a problem of this field, by its path in the decoded values, was noted already."""
        return self.in_file(path) in self._paths

    def in_file(self, path: str) -> str:
        """The path in the file of a path in the decoded values."""
        name = ""
        for step in steps(path):
            numbers = self._numbers.get(name)
            name = joined(name, numbers[step] if numbers and isinstance(step, int) else step)
        return name

    def renumber(self, path: str, numbers: Sequence[int]) -> None:
        """Only these items of a list, by its path in the file, are among the decoded values."""
        self._numbers[path] = numbers

    def raise_if_any(self) -> None:
        """Raise ConfigError with all of them, in the order of the file."""
        if self._found:
            raise ConfigError([text for _, text in sorted(self._found, key=lambda found: found[0])])
