"""Create the clients of a call that is recorded, or replayed."""

from pathlib import Path

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.base.settings import Settings
from entrez_kit.python.responders import create_responder
from entrez_kit.services import Services
from entrez_kit.services.recordings.record import Recorder, refuse_unrecorded_services
from entrez_kit.services.recordings.replay import Replay


def open_recorded_services(
    settings: Settings, *, record: str | Path | None = None, replay: str | Path | None = None
) -> Services:
    """Return clients that record their requests in a file, or that a recorded file answers.

    Raises:
        InvalidInput: both files are given, or one cannot be used.
        StoreError: the recording is damaged, or cannot be written.
    """
    refuse_both(record, replay)
    if replay is not None:
        opened = Replay(Path(replay))
        return Services(opened.use_settings(settings), recording=opened)
    assert record is not None, "a caller gives one of the files"
    refuse_unrecorded_services(settings)
    settings, responder = settings.prepare(), None
    if settings.answers_in_process:
        settings, responder = create_responder(settings)
    return Services(settings, responder, recording=Recorder(Path(record), settings))


def refuse_both(record: object, replay: object) -> None:
    """Refuse to record a replay.

    Raises:
        InvalidInput: both are given.
    """
    if record is not None and replay is not None:
        raise InvalidInput(
            FrontendText(Argument("record"), " cannot be used with ", Argument("replay"), "."),
            invalid_input=f"record={record}",
            recovery_hint="Give only one of them. A replay sends no requests that could be recorded.",
            details={"reason": "bad_usage"},
        )
