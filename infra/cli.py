"""The command `shanghai`; each command imports what it runs only when it runs."""

import click


@click.group()
def main() -> None:
    """Runs the Shanghai server."""


if __name__ == "__main__":
    main()
