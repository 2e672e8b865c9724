"""A record as one line of text, for whoever has to tell it from another: authors, title, journal, place, PMID."""

from typing import Final

from entrez_kit.pubmed.models import Article

MAX_AUTHORS: Final = 3


def brief_citation(article: Article) -> str:
    """Return a record as one line: Doe J, Roe R, et al. A title. J Inv. 2024;12(3):201-12. PMID 99000001."""
    names = [
        author.collective_name or " ".join(part for part in (author.last_name, author.initials) if part)
        for author in article.authors[:MAX_AUTHORS]
    ]
    if len(article.authors) > MAX_AUTHORS:
        names.append("et al")
    title = article.title.rstrip(".")
    parts = [", ".join(name for name in names if name), title, _place(article), f"PMID {article.pmid}"]
    return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)


def _place(article: Article) -> str:
    journal = article.journal_info
    if journal is None:
        return ""
    date = journal.publication_date
    year = str(date.year or date.medline_date or "") if date else ""
    volume = (journal.volume or "") + (f"({journal.issue})" if journal.issue else "")
    place = ";".join(part for part in (year, volume) if part) + (f":{journal.pages}" if journal.pages else "")
    name = (journal.iso_abbreviation or journal.title or "").rstrip(".")
    return ". ".join(part for part in (name, place) if part)
