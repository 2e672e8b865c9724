"""Full-text replies without the requested article are not cached."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cache_helpers import assert_only_cached

from entrez_kit.base.identifiers import Identifier
from entrez_kit.fulltext.article_lookup import ArticleLookup
from entrez_kit.fulltext.tiers import is_cacheable, read_requested_article
from entrez_kit.services import Services

PMC1 = Identifier("pmcid", "PMC1", "PMC1")
NO_ARTICLE = b"<pmc-articleset><p>none</p></pmc-articleset>"


def write_article(pmcid: str) -> bytes:
    """Return an article as PMC sends it."""
    number = f'<article-id pub-id-type="pmcid">{pmcid}</article-id>'
    body = "<body><sec><title>Results</title><p>Mice were fed.</p></sec></body>"
    return f"<article><front><article-meta>{number}</article-meta></front>{body}</article>".encode()


def fetch_from_bucket(services: Services) -> object:
    """Fetch the article from PMC's open-data bucket."""
    read = partial(read_requested_article, lookup=ArticleLookup(PMC1))
    return services.pmc_oa.fetch_article("PMC1", "PMC1.1", read=read, keep=is_cacheable)


def fetch_from_europepmc(services: Services) -> object:
    """Fetch the article from Europe PMC."""
    read = partial(read_requested_article, lookup=ArticleLookup(PMC1))
    return services.europepmc.fetch_full_text("PMC1", read=read, keep=is_cacheable)


@pytest.mark.parametrize("call", [fetch_from_bucket, fetch_from_europepmc])
@pytest.mark.parametrize("rejected", [write_article("PMC2"), NO_ARTICLE])
def test_a_reply_without_the_requested_article_is_requested_again(
    call: Callable[[Services], object], rejected: bytes, tmp_path: Path
) -> None:
    assert_only_cached(write_article("PMC1"), rejected, call, tmp_path)
