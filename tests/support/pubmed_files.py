"""Small PubMed records and files, written by hand and independent of the readers."""

import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.local.copies import open_copy

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January '
    '2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
DATE = ("Year", "Month", "Day")


def make_home_settings(home: Path) -> Settings:
    """Return settings with all folders below a home folder."""
    return load_settings(environ={"HOME": str(home), "ENTREZ_KIT_HOME": str(home / "kit")}, working_dir=home)


def write_record(
    pmid: int | str,
    title: str = "A title",
    *,
    version: int = 1,
    day: int = 1,
    revised: str = "",
    journal: str = "<Title>Journal</Title>",
    more: str = "",
    types: Iterable[str] = (),
    citation: str = "",
    corrections: str = "",
    ids: Mapping[str, str] | None = None,
) -> str:
    """Return a record.

    Args:
        day: the day in January 2026 on which the record entered PubMed.
        revised: the date of the last revision, as in ``2024-01-31``.
        journal: the elements of ``Journal``.
        more: elements of ``Article`` after the title.
        types: publication types.
        citation: elements of ``MedlineCitation`` after the article.
        corrections: elements of ``CommentsCorrectionsList``.
        ids: identifiers by their ``IdType``.
    """
    if revised:
        date = "".join(f"<{part}>{value}</{part}>" for part, value in zip(DATE, revised.split("-"), strict=True))
        revised = f"    <DateRevised>{date}</DateRevised>\n"
    kinds = "".join(f"<PublicationType>{kind}</PublicationType>" for kind in types)
    more += f"<PublicationTypeList>{kinds}</PublicationTypeList>" if kinds else ""
    citation += f"<CommentsCorrectionsList>{corrections}</CommentsCorrectionsList>" if corrections else ""
    listed = "".join(f'<ArticleId IdType="{kind}">{value}</ArticleId>' for kind, value in (ids or {}).items() if value)
    listed = f"<ArticleIdList>{listed}</ArticleIdList>" if listed else ""
    return (
        '<PubmedArticle>\n  <MedlineCitation Status="MEDLINE" Owner="NLM">\n'
        f'    <PMID Version="{version}">{pmid}</PMID>\n{revised}'
        '    <Article PubModel="Print">\n      '
        f"<Journal>{journal}</Journal>\n      <ArticleTitle>{title}</ArticleTitle>{more}\n"
        f"    </Article>{citation}\n  </MedlineCitation>\n"
        f'  <PubmedData><History><PubMedPubDate PubStatus="pubmed"><Year>2026</Year><Month>1</Month><Day>{day}</Day>'
        f"</PubMedPubDate></History>{listed}</PubmedData>\n</PubmedArticle>\n"
    )


def write_correction(kind: str, pmid: int | str, source: str, note: str = "") -> str:
    """Return a link to another record: a retraction, a comment, an update."""
    note = f"<Note>{note}</Note>" if note else ""
    link = f"<RefSource>{source}</RefSource><PMID>{pmid}</PMID>{note}"
    return f'<CommentsCorrections RefType="{kind}">{link}</CommentsCorrections>'


def write_deletion(*pmids: int, version: int | None = 1) -> str:
    """Return a list of deletions."""
    mark = "" if version is None else f' Version="{version}"'
    return f"<DeleteCitation>{''.join(f'<PMID{mark}>{pmid}</PMID>' for pmid in pmids)}</DeleteCitation>\n"


def join_articles(*parts: str) -> bytes:
    """Return a document with records and deletions."""
    return (HEAD + "".join(parts) + "</PubmedArticleSet>\n").encode()


def write_set(folder: Path, name: str, *parts: str, md5: bool = False) -> Path:
    """Write a file, compressed if its name ends so, and its checksum."""
    folder.mkdir(parents=True, exist_ok=True)
    content = join_articles(*parts)
    path = folder / name
    path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
    if md5:
        write_md5(path)
    return path


def write_md5(path: Path) -> None:
    """Write the checksum beside a file, as NLM does."""
    found = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {found}\n", encoding="ascii")


def read_titles(settings: Settings, name: str) -> dict[str, str]:
    """Return the titles of a copy by PMID."""
    copy = open_copy(settings, name)
    try:
        collection = copy.collection
        numbers = collection.index.find_range("uid", 0, 10**10)
        return {collection.get_pmid(number): collection.read_document(number).title for number in numbers}
    finally:
        copy.close()


def compute_content_hash(settings: Settings, name: str) -> str:
    """Return the identity of a copy."""
    copy = open_copy(settings, name)
    try:
        return copy.hash
    finally:
        copy.close()


def compute_titles(files: Iterable[tuple[int, int, Sequence[tuple[int, int, str | None]]]]) -> dict[str, str]:
    """Apply the rules of the baseline in the simplest way.

    Args:
        files: year, number and events (PMID, version, title or None for a deletion) of each file, in any order.
    """
    ordered = sorted(files, key=lambda one: one[:2])
    first = max((year for year, number, _ in ordered if number == 1), default=0)
    state: dict[tuple[int, int], str] = {}
    for year, _, events in ordered:
        if year < first:
            continue
        for pmid, version, title in sorted(events, key=lambda event: event[2] is None):
            if title is None:
                state.pop((pmid, version), None)
            else:
                state[pmid, version] = title
    shown: dict[int, tuple[int, str]] = {}
    for (pmid, version), title in state.items():
        shown[pmid] = max(shown.get(pmid, (0, "")), (version, title))
    return {str(pmid): title for pmid, (_, title) in shown.items()}
