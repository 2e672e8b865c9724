"""EntrezKit: the Python front end, a client with one method per operation."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.python.kit_methods import Methods
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.python.kit_streams import Streams
    from entrez_kit.services.eutils import EUtils


class EntrezKit(Methods):
    """One thread-safe client for all operations. Use it as a context manager, or close it after use.

    With the setting ``demo`` it sends no request: this process answers with invented articles. With the setting
    ``local`` the named local copy of PubMed answers.

    Args:
        record: a file (``.ekz``) for all requests and their replies, written when the client is closed.
        replay: such a file, which answers the same calls again; no request is sent.
        settings: the settings; by default they are read from the environment and the config files.
        overrides: single settings by name, e.g. ``ncbi_api_key="..."`` or ``no_cache=True``.

    Raises:
        NotConfigured: a setting has an invalid value.
        InvalidInput: both files are given, or one cannot be used.
        StoreError: the recording is damaged, or cannot be written.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        **overrides: Any,
    ) -> None:
        if settings is None:
            settings = load_settings(overrides)
        elif overrides:
            raise TypeError("give either settings or single overrides, not both")
        if record is None and replay is None:
            settings = settings.prepare()
            responder = None
            if settings.answers_in_process:
                from entrez_kit.python.responders import create_responder

                settings, responder = create_responder(settings)
            self.services = Services(settings, responder)
            return
        from entrez_kit.python.recorded_services import open_recorded_services

        self.services = open_recorded_services(settings, record=record, replay=replay)

    search = Methods.search_articles
    """Short for ``search_articles``."""
    fetch = Methods.fetch_contents
    """Short for ``fetch_contents``."""

    @property
    def settings(self) -> Settings:
        """The settings of this client."""
        return self.services.settings

    @cached_property
    def stream(self) -> "Streams":
        """The operations over many inputs, which yield each outcome as it arrives, in constant memory."""
        from entrez_kit.python.kit_streams import Streams

        return Streams(self.services)

    @property
    def eutils(self) -> "EUtils":
        """The nine E-utilities by NCBI's names; the replies are checked but not parsed."""
        return self.services.eutils

    def close(self) -> None:
        """Close the cache file and the connections, and write the recording, if there is one."""
        self.services.close()
        if self.services.recording is not None:
            self.services.recording.finish()
            self.services.recording.close()

    def __enter__(self) -> "EntrezKit":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
