"""The terminal front end; installed as entrez_kit.commands. Importing it costs nothing."""

from functools import cache
from importlib import import_module
from typing import Any

PROGRAM = "entrez-kit"


class ReaderGone(BaseException):
    """The reader of standard output closed the pipe (``| head``). This is not an error; handlers must not catch it."""


class Ended(BaseException):
    """The program was ended by a signal; temporary files are removed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@cache
def load_command(name: str) -> Any:
    """Import a subcommand: a command, or a group of commands. A later call returns the same object."""
    import typer

    command = typer.main.get_command(import_module(f".{name}", __package__).app)
    command.name = name
    return command
