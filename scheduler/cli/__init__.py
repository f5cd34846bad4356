"""The `berth` command."""

import click

from scheduler.cli.config import config
from scheduler.cli.demo import demo
from scheduler.cli.run import run
from scheduler.cli.sandbox import sandbox


@click.group()
def main() -> None:
    """berth schedules the pods that ask for it (spec.schedulerName)."""


for _command in (config, demo, run, sandbox):
    main.add_command(_command)
