"""The `berth` command. Each subcommand is a module of its own, imported when it is called for."""

from importlib import import_module

import click

_COMMANDS = ("config", "demo", "run", "sandbox")


class Subcommands(click.Group):
    """Finds a command in the module of its name: a scheduler need not load what only the demo takes."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's
        """All of them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's
        """One of them."""
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(f"scheduler.cli.{cmd_name}"), cmd_name)
        return command if isinstance(command, click.Command) else None


@click.group(cls=Subcommands)
def main() -> None:
    """berth schedules the pods that ask for it (spec.schedulerName)."""
