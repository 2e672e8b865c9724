"""The corpus of the demo: the invented articles of the sandbox, fetched on first use."""

from typing import TYPE_CHECKING, Final

from entrez_kit.base.errors import StoreError
from entrez_kit.corpus.models import SyncRequest
from entrez_kit.corpus.store import store_of
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

KEY: Final = "demo"
TERM: Final = "all[sb]"


def open_corpus(services: Services) -> "Store":
    """Return the corpus to read from; fill the demo's corpus first if it is empty."""
    fill(services)
    return store_of(services)


def fill(services: Services) -> int:
    """Fill the demo's corpus if it is empty; return the number of records added."""
    settings = services.settings
    if not settings.demo or settings.offline or store_of(services).corpora().corpora:
        return 0
    from entrez_kit.corpus.sync import Sync

    try:
        return Sync(services, SyncRequest(query_key=KEY, term=TERM)).result().inserted
    except StoreError as exc:
        if exc.reason == "sync_running":  # another process fills it
            return 0
        raise
