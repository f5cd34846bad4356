"""docs/parity.md: what it says is missing is what is missing."""

import re
from pathlib import Path

from plugins.registry import BUILT_IN
from scheduler.config.catalog import PLUGINS

PAGE = (Path(__file__).parents[2] / "docs" / "parity.md").read_text()


def test_the_plugins_that_are_not_there_yet_are_named() -> None:
    listed = PAGE.split("## Not there yet")[1]
    assert {name for name in PLUGINS if re.search(rf"\b{name}\b", listed)} == PLUGINS - BUILT_IN.keys()
