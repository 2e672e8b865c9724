"""Choose what answers the requests of a program in its own process: the demo, or a copy of PubMed."""

from dataclasses import replace
from typing import TYPE_CHECKING

from entrez_kit.base.settings import DEMO_URL, Settings

if TYPE_CHECKING:
    from entrez_kit.services.transport import Responder


def create_responder(settings: Settings) -> tuple[Settings, "Responder"]:
    """Return the responder for settings with which this process answers, and the settings that name its copy.

    Raises:
        EntityNotFound: the copy does not exist.
        StoreError: the copy is damaged or cannot be read.
    """
    if settings.local is None:
        from entrez_kit.sandbox.demo import DemoEntrez

        return settings, DemoEntrez(DEMO_URL).respond
    from entrez_kit.local.copy_entrez import CopyEntrez, describe_copy
    from entrez_kit.local.open_local import open_local

    copy = open_local(settings, settings.local)
    return replace(settings, copy_label=describe_copy(copy)), CopyEntrez(copy).respond
