"""Measure how many citations that `cite` writes `check` verifies, by style. Run by hand, without the network:

    Measure the share of citations written by `cite` that `check` verifies, by style. Run by hand, without the network:

The articles are those of recorded EFetch replies. The references have no identifiers: `check` finds them by title and
place. RECORDINGS has the folders `efetch_pubmed` and `baseline`.
"""

import argparse
import gzip
import re
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from written_references import render_references, write_as_text

from entrez_kit import EntrezKit, load_settings
from entrez_kit.citations.style.format_entries import STYLES
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.sandbox.server import Sandbox

RECORD = re.compile(rb"<PubmedArticle(?:\s[^<>]*)?>.*?</PubmedArticle>", re.DOTALL)
STANDING = ("superseded", "retracted", "concern", "duplicate")
"""Statuses of a reference that agrees with its record, including those of retracted articles."""


def write_corpus(recordings: Path, file: Path) -> list[Article]:
    """Write all recorded articles to a file, each once, and return those that can be cited."""
    replies = [path.read_bytes() for path in sorted(recordings.glob("efetch_pubmed/*.xml"))]
    replies += [gzip.decompress(path.read_bytes()) for path in sorted(recordings.glob("baseline/*.xml.gz"))]
    records: dict[bytes, bytes] = {}
    for match in (match for reply in replies for match in RECORD.finditer(reply)):
        pmid = re.search(rb"<PMID[^<>]*>([0-9]+)", match[0])
        if pmid is not None:
            records.setdefault(pmid[1], match[0])
    file.write_bytes(b"<PubmedArticleSet>%b</PubmedArticleSet>" % b"".join(records.values()))
    articles = [record.article() for record in iter_records(file.read_bytes()) if record.kind == "article"]
    return [article for article in articles if article.title and article.authors and article.journal_info]


def main() -> None:
    """Print the percentage that is verified for each style, and the statuses of the others."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("recordings", type=Path)
    arguments.add_argument("--every", type=int, default=1)
    options = arguments.parse_args()
    verified = total = 0
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.xml"
        articles = write_corpus(options.recordings, corpus)[:: options.every]
        with Sandbox(corpus=[corpus], enforce_limits=False) as sandbox:
            settings = load_settings({"home": Path(folder)}).use_sandbox(sandbox.url)
            with EntrezKit(replace(settings, demo=False, state_dir=Path(folder))) as kit:
                for style in STYLES:
                    references = write_as_text(render_references(style, articles))
                    rows = CHECK.run(kit.services, {"references": references, "sources": ["pubmed"]}).references
                    statuses: Counter[str] = Counter()
                    for article, row in zip(articles, rows, strict=True):
                        agrees = row.pmid == article.pmid and not row.differences and row.same_work is None
                        good = agrees and (row.status == "verified" or row.status in STANDING)
                        statuses["verified" if good else row.status] += 1
                    verified += statuses["verified"]
                    total += len(articles)
                    share = statuses["verified"] / len(articles)
                    print(f"{style}: {share:.1%} of {len(articles)}, {dict(statuses)}", flush=True)
    print(f"all styles: {verified / total:.2%} of {total}")


if __name__ == "__main__":
    main()
