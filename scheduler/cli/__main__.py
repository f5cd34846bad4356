"""`python -m scheduler.cli` is `berth`."""

from scheduler.cli import main

main()
