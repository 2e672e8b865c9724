"""References as people write them: articles in our styles and in other styles, in text and in Word; and false ones."""

import re
from collections.abc import Callable, Sequence

from word_documents import write_heading, write_paragraph, write_word

from entrez_kit.citations.format_citations import format_articles
from entrez_kit.citations.titles import add_full_stops
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.pasted.pasted_lists import split_references
from entrez_kit.references.files.references import Reference
from entrez_kit.references.manuscripts.read_manuscript import read_manuscript

_IDS = re.compile(r"https?://\S+|doi:\s?\S+|PM(?:C)?ID:? ?(?:PMC)?\d+\.?", re.IGNORECASE)


def write_initials(article: Article, *, add_full_stops: bool = False, comma: bool = False) -> list[str]:
    def shorten(text: str) -> str:
        return ". ".join(text) + "." if add_full_stops else text

    return [
        who.collective_name or f"{who.last_name}{',' if comma else ''} {shorten(who.initials or '')}".strip(" ,")
        for who in article.authors
    ]


def write_full_names(article: Article) -> list[str]:
    return [
        who.collective_name or f"{who.first_name or who.initials or ''} {who.last_name}".strip()
        for who in article.authors
    ]


def get_fields(article: Article) -> dict[str, str]:
    journal = article.journal_info
    assert journal is not None
    date = journal.publication_date
    year = (date.year if date else None) or next((date.year for date in article.article_dates if date.year), "")
    return {
        "title": article.title.rstrip("."),
        "journal": journal.title or "",
        "short": journal.iso_abbreviation or "",
        "year": str(year),
        "volume": journal.volume or "",
        "issue": f"({journal.issue})" if journal.issue else "",
        "pages": journal.pages or journal.article_number or "",
    }


def join_some(names: list[str], most: int = 3) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])}, et al"


def lancet(article: Article) -> str:
    return "{names}. {title}. {short} {year}; {volume}: {pages}.".format(
        names=join_some(write_initials(article)), **get_fields(article)
    )


def elsevier(article: Article) -> str:
    names = ", ".join(write_initials(article, add_full_stops=True))
    return "{names}, {title}, {short} {volume} ({year}) {pages}.".format(names=names, **get_fields(article))


def harvard(article: Article) -> str:
    names = " and ".join(write_initials(article, add_full_stops=True, comma=True))
    return "{names} ({year}) ‘{title}’, {journal}, {volume}{issue}, pp. {pages}.".format(
        names=names, **get_fields(article)
    )


def notes(article: Article) -> str:
    names = ", ".join(write_full_names(article))
    return "{names}, “{title},” {journal} {volume} ({year}): {pages}.".format(names=names, **get_fields(article))


def ieee(article: Article) -> str:
    names = ", ".join(write_full_names(article))
    return '{names}, "{title}," {short}, vol. {volume}, pp. {pages}, {year}.'.format(names=names, **get_fields(article))


def visited(article: Article) -> str:
    names = join_some(write_initials(article))
    text = "{names}. {title}. {short} [Internet]. {year} [cited 2025 Mar 4];{volume}{issue}:{pages}. Available from: https://example.org/a"
    return text.format(names=names, **get_fields(article))


def bmc(article: Article) -> str:
    names = ", ".join(write_initials(article))
    return "{names}: {title}. {journal} {year}, {volume}{issue}:{pages}.".format(names=names, **get_fields(article))


def din(article: Article) -> str:
    names = write_initials(article, add_full_stops=True, comma=True)
    shown = " ; ".join(names) if len(names) < 4 else f"{names[0]} u. a."
    issue = f", Nr. {number}" if (number := get_fields(article)["issue"].strip("()")) else ""
    text = "{names}: {title}. In: {journal} Bd. {volume} ({year}){nr}, S. {pages}"
    return text.format(names=shown, nr=issue, **get_fields(article))


def french(article: Article) -> str:
    names = write_initials(article)
    shown = ", ".join(names) if len(names) < 4 else f"{names[0]}, et coll."
    issue = f", n° {number}" if (number := get_fields(article)["issue"].strip("()")) else ""
    text = "{names} — {title}. {journal}, {year}, vol. {volume}{number}, p. {pages}."
    return text.format(names=shown, number=issue, **get_fields(article))


def gost(article: Article) -> str:
    names = ", ".join(write_initials(article, add_full_stops=True))
    issue = f", № {number}" if (number := get_fields(article)["issue"].strip("()")) else ""
    text = "{names} {title} // {journal}. – {year}. – Т. {volume}{number}. – С. {pages}."
    return text.format(names=names, number=issue, **get_fields(article))


def gbt(article: Article) -> str:
    names = ", ".join(write_initials(article)[:3]) + (", et al" if len(article.authors) > 3 else "")
    return "{names}. {title}[J]. {journal}, {year}, {volume}{issue}: {pages}.".format(
        names=names, **get_fields(article)
    )


DIALECTS: dict[str, Callable[[Article], str]] = {
    one.__name__: one for one in (lancet, elsevier, harvard, notes, ieee, visited, bmc, din, french, gost, gbt)
}


def get_first_page(article: Article) -> dict[str, str]:
    given = get_fields(article)
    return {**given, "pages": given["pages"].partition("-")[0]}


def physics(article: Article) -> str:
    names = ", ".join(write_full_initials(article))
    return "{names}, {short} {volume}, {pages} ({year})".format(names=names, **get_first_page(article))


def letters(article: Article) -> str:
    name = write_initials(article)[0] + (", et al." if len(article.authors) > 1 else "")
    return "{name}, {short} {volume}, {pages} ({year}).".format(name=name, **get_fields(article))


def cell(article: Article) -> str:
    given = get_first_page(article)
    short = add_full_stops(given["short"], given["journal"])
    name = write_full_initials(article)[0] + (" et al." if len(article.authors) > 1 else "")
    return "{name}, {journal} {volume}, {pages} ({year})".format(**{**given, "name": name, "journal": short})


def chemistry(article: Article) -> str:
    names = "; ".join(write_initials(article, add_full_stops=True, comma=True)).rstrip(".")
    return "{names}. {short} {year}, {volume}, {pages}.".format(names=names, **get_fields(article))


def bare(article: Article) -> str:
    return "{short} {volume}, {pages} ({year})".format(**get_first_page(article))


def write_full_initials(article: Article) -> list[str]:
    return [
        who.collective_name or " ".join([*(f"{letter}." for letter in who.initials or ""), who.last_name or ""])
        for who in article.authors
    ]


TITLELESS: dict[str, Callable[[Article], str]] = {
    one.__name__: one for one in (physics, letters, cell, chemistry, bare)
}
"""References of physics, chemistry and letters, which have no title."""


def render_references(style: str, articles: list[Article]) -> list[str]:
    """Return references in a style, without the identifiers and notes by which they would be found at once."""
    if written := {**DIALECTS, **TITLELESS}.get(style):
        return [written(article) for article in articles]
    texts = [texts[style] for texts in format_articles(articles, [style])]
    return [" ".join(re.sub(r"PubMed Central|PubMed|\s;", "", _IDS.sub("", text)).split()) for text in texts]


def write_as_text(texts: Sequence[str]) -> list[Reference]:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
    return split_references(f"A title\n\nSome text [1] and (2019).\n\nReferences\n{listed}\n\nAppendix\nMore text.\n")


def write_as_word(texts: Sequence[str]) -> list[Reference]:
    content = write_word(
        write_heading("Introduction"),
        write_paragraph("Some text (2019)."),
        write_heading("References"),
        *(write_paragraph(text, numbered=True) for text in texts),
        write_heading("Appendix"),
        write_paragraph("More text."),
    )
    return read_manuscript(content, "paper.docx", ".docx").references


INVENTED = (
    "Deep learning sees imaginary tumours from low orbit",
    "Statins and the sleep of lighthouse keepers: a sham-controlled trial",
    "A meta-analysis of meta-analyses that were never carried out",
    "Gene drives in paper aeroplanes",
)


def fabricate_references(articles: Sequence[Article], most: int = 14) -> list[str]:
    """Return false references, each false in one respect, or of works that do not exist."""
    made: list[str] = []
    known = [
        article for article in articles if all(who.last_name for who in article.authors) and len(article.authors) > 1
    ]
    wanted = [one for one in known if get_fields(one)["volume"].isdigit() and get_fields(one)["pages"][:1].isdigit()][
        :most
    ]
    for one, other in zip(wanted, [*wanted[1:], wanted[0]], strict=True):
        names, of_other = ", ".join(write_initials(one)), ", ".join(write_initials(other))
        mine, theirs = get_fields(one), get_fields(other)
        if names == of_other or mine["title"] == theirs["title"]:  # a work that was published again
            continue
        text = "{names}. {title}. {short} {year};{volume}{issue}:{pages}."
        first, rest = mine["title"].split(" ", 1)
        made += [
            text.format(names=of_other, **mine),
            text.format(names=names, **{**mine, "title": theirs["title"]}),
            text.format(names=names, **{**mine, "title": INVENTED[len(made) % 4]}),
            text.format(names=f"{names}, Nobodyson Q", **mine),
            text.format(names=", ".join(write_initials(one)[:-1]), **mine),
            text.format(names=names, **{**mine, "year": str(int(mine["year"]) - 3)}),
            text.format(names=names, **{**mine, "volume": str(int(mine["volume"]) + 40)}),
            text.format(names=names, **{**mine, "short": "Nature"}),
            text.format(names=names, **{**mine, "title": f"{first} never {rest}"}),
            text.format(names=", ".join(reversed(write_initials(one))), **mine),
        ]
    return made


def misspell(word: str) -> str:
    """Replace the middle letter."""
    middle = len(word) // 2
    return word[:middle] + ("x" if word[middle] != "x" else "z") + word[middle + 1 :]
