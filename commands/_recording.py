"""Open the recording of ``--record`` or ``--replay``. A command without these options does not import this module."""

from collections.abc import Sequence
from typing import Final

from entrez_kit.python.recorded_services import refuse_both
from entrez_kit.services.recordings.record import Recorder, refuse_unrecorded_services
from entrez_kit.services.recordings.replay import Replay

from ._state import State, usage_error

_NOT_RECORDED: Final = ("serve", "sandbox", "doctor", "local", "cache", "config")
"""Commands that cannot be recorded: they manage this computer, test the network itself, or run a server."""
_BESIDE_REPLAY: Final = ("demo", "local", "offline", "refresh", "no_cache")
"""Flags that choose what answers; with --replay the recording does."""


def open_recording(state: State, command: str) -> None:
    """Open the file of --record or --replay before a command runs, if one of them is given.

    Args:
        command: the words of the command: ``corpus sync``.

    Raises:
        InvalidInput: the file cannot be used, the command cannot be recorded, or two flags exclude each other.
        StoreError: the recording is damaged, or cannot be written.
    """
    record, replay = state.flags.get("record"), state.flags.get("replay")
    if state.recorder or state.replay or (record is None and replay is None):
        return
    refuse_both(record, replay)
    flag = "replay" if record is None else "record"
    if command.partition(" ")[0] in _NOT_RECORDED:
        raise usage_error(
            f"--{flag} cannot be used with {command}.",
            flag,
            f"Omit --{flag}. Commands that search, fetch or check articles and genes can be recorded.",
        )
    if replay is not None:
        for name in _BESIDE_REPLAY:
            if state.flags.get(name):
                option = f"--{name.replace('_', '-')}"
                raise usage_error(
                    f"--replay cannot be used with {option}: the recording answers all requests.",
                    name,
                    f"Omit {option}. The recording has the settings of the recorded command.",
                )
        state.use_replay(Replay(replay))
        return
    if command.startswith("corpus"):
        refuse_unrecorded_services(state.settings)
    assert record is not None, "one of the flags is given"
    state.recorder = Recorder(record, state.settings, _omit_option(state.arguments, "--record"))


def _omit_option(arguments: Sequence[str], name: str) -> list[str]:
    """Return arguments without an option and its value."""
    words = iter(arguments)
    remaining = []
    for word in words:
        if word == name:
            next(words, None)
        elif not word.startswith(f"{name}="):
            remaining.append(word)
    return remaining
