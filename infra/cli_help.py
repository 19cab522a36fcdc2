"""The list of commands in `shanghai --help`, and the option that many of them have."""

from pathlib import Path

import click

RUNNING = click.option("--data", type=click.Path(path_type=Path), help="The folder of a running `shanghai up`.")


class WholeSentences(click.Group):
    """Lists each command with the whole first sentence of its help, in as many lines as that takes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list: click itself cuts what a terminal of 80 columns has no room for."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
            )
