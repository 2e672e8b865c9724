"""Objects of other packages that live as long as the clients of the services."""

from entrez_kit.base.settings import Settings
from entrez_kit.services import Services


class Opened:
    """An object that counts how often it is closed."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.closed = settings, 0

    def close(self) -> None:
        self.closed += 1


def test_a_stored_object_is_created_once_from_the_settings_and_closed_with_the_clients() -> None:
    settings = Settings()
    with Services(settings) as services:
        kept = services.keep(Opened)

        assert services.keep(Opened) is kept
        assert kept.settings is settings
        assert kept.closed == 0
    assert kept.closed == 1


def test_services_without_stored_objects_close_nothing() -> None:
    with Services(Settings()) as services:
        assert services.opened_transport is None
