"""The corpus file: all SQL."""

from typing import TYPE_CHECKING

from entrez_kit.base import tracing
from entrez_kit.services import Services

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store


def store_of(services: Services) -> "Store":
    """Return the local corpus; its file is opened when it is first read or written."""
    from entrez_kit.corpus.store.store import Store

    trace = tracing.get_current_trace()
    if trace is not None and services.settings.demo:
        trace.opens_demo_corpus = True
    store = services.keep(Store.of)
    if services.recording is not None:
        store.clock = services.clock.now
    return store
