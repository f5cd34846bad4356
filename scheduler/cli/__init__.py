"""The `berth` command."""

import click

from scheduler.cli.config import config


@click.group()
def main() -> None:
    """berth schedules the pods that ask for it (spec.schedulerName)."""


for _command in (config,):
    main.add_command(_command)
