"""The `berth` command."""

import click

from scheduler.cli.config import config
from scheduler.cli.run import run


@click.group()
def main() -> None:
    """berth schedules the pods that ask for it (spec.schedulerName)."""


for _command in (config, run):
    main.add_command(_command)
