"""The terminal front end; installed as entrez_kit.commands. Importing it costs nothing."""

from typing import Any

PROGRAM = "entrez-kit"


class ReaderGone(BaseException):
    """The reader of standard output closed the pipe (``| head``). This is not an error; handlers must not catch it."""


class Ended(BaseException):
    """The program was ended by a signal; temporary files are removed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def build_command(name: str) -> Any:
    """Import a subcommand (a group ``app`` or a single ``command``) without the common options."""
    from importlib import import_module

    import typer

    module = import_module(f".{name}", __package__)
    if hasattr(module, "app"):
        command: Any = typer.main.get_group(module.app)
        command.name = name
        return command
    app = typer.Typer(add_completion=False)
    app.command(name, no_args_is_help=False)(module.command)
    return typer.main.get_command(app)
