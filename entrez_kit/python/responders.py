"""Choose the responder that answers the requests of a program in its own process: the demo."""

from typing import TYPE_CHECKING

from entrez_kit.base.settings import DEMO_URL, Settings

if TYPE_CHECKING:
    from entrez_kit.services.transport import Responder


def create_responder(settings: Settings) -> "Responder":
    """Return the responder for settings with which this process answers all requests."""
    from entrez_kit.sandbox.demo import DemoEntrez

    return DemoEntrez(DEMO_URL).respond
