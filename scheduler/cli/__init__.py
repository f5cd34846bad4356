"""The `berth` command."""

import click


@click.group()
def main() -> None:
    """berth schedules the pods that ask for it (spec.schedulerName)."""
