"""Measure `verify` on generated articles, without the network. Run by hand:

    python tests/benchmarks/claims.py [--articles 1000] [--claims 1000]

The articles are in memory, as after a fetch: reading, indexing and matching are measured. The claims have five
statuses in equal parts, and each cites one article. CPU seconds of this process and its peak memory are printed. The
goal is 100 CPU seconds for 1,000 claims on 1,000 articles.
"""

import argparse
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from claim_articles import ClaimArticles

from entrez_kit.references.claims.match_claims import ClaimMatcher


def main() -> None:
    """Print the seconds for the index and for the claims, the peak memory, and the wrong statuses."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--articles", type=int, default=1_000)
    arguments.add_argument("--claims", type=int, default=1_000)
    options = arguments.parse_args()
    articles = ClaimArticles(options.articles)
    claims = list(articles.claims(options.claims))
    papers = articles.papers()
    print(f"{len(papers):,} articles, {articles.characters / 1e6:.1f} million characters, {len(claims):,} claims")

    start = time.process_time()
    matcher = ClaimMatcher(papers)
    indexed = time.process_time()
    wrong: Counter[str] = Counter()
    for text, cited, status in claims:
        outcome = matcher.verify(text, [papers[cited].id], [papers[cited]])
        if outcome.status != status:
            wrong[f"{status}, not {outcome.status}"] += 1
    end = time.process_time()

    print(f"index {indexed - start:.1f} CPU s, claims {end - indexed:.1f} CPU s, together {end - start:.1f} CPU s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
    print(f"wrong statuses: {dict(wrong) or 'none'}")


if __name__ == "__main__":
    main()
