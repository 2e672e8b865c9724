"""Many claims about many articles: each has its status, and the work for one does not grow with the articles."""

from collections import Counter

import pytest
from claim_articles import ClaimArticles

from entrez_kit.references.claims.match_claims import ClaimMatcher
from entrez_kit.references.claims.passages import FoldedText


def count_work(monkeypatch: pytest.MonkeyPatch, articles: ClaimArticles, claims: int) -> Counter[str]:
    """Return how many texts were folded and searched, and how many claims have another status than expected."""
    counts: Counter[str] = Counter()
    fold, find = FoldedText.__init__, FoldedText.find_all

    def count_fold(self: FoldedText, text: str, **options: bool) -> None:
        counts["folded"] += len(text) > 1000
        fold(self, text, **options)

    def count_find(self: FoldedText, claim: FoldedText, start: int = 0):  # type: ignore[no-untyped-def]  # an iterator
        counts["searched"] += 1
        return find(self, claim, start)

    with monkeypatch.context() as patch:
        patch.setattr(FoldedText, "__init__", count_fold)
        patch.setattr(FoldedText, "find_all", count_find)
        papers = articles.papers()
        matcher = ClaimMatcher(papers)
        for text, cited, status in articles.claims(claims):
            outcome = matcher.verify(text, [papers[cited].id], [papers[cited]])
            counts["wrong"] += outcome.status != status
    return counts


@pytest.mark.long
def test_the_work_for_a_claim_does_not_grow_with_the_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    few = count_work(monkeypatch, ClaimArticles(10, sections=3), 60)
    many = count_work(monkeypatch, ClaimArticles(80, sections=3), 60)

    assert few["wrong"] == many["wrong"] == 0
    assert many["searched"] <= 2 * few["searched"] <= 2 * 60 * 3
    assert few["folded"] <= 2 * 10 * 3
    assert many["folded"] <= 2 * 80 * 3
