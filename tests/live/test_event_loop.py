"""What the loop must keep apart: one connection's end is not another's."""

import subprocess
import sys


def test_connections_that_break_while_they_are_opened_leave_others_alone() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.live.broken_connections"], check=False, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (0, "[4000, 0]\n"), ended.stderr
