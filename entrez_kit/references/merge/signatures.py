"""Reduce records to the parts that are compared: folded titles, names, journals and places.

A title is compared without the remarks that databases add: "[Erratum appears in ...]", "[Chinese]", "[abstract]".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Final

from entrez_kit.pubmed.comparison import convert_roman, fold_text, page_ends, strip_place

LANGUAGES: Final = (
    "afrikaans|arabic|bosnian|bulgarian|catalan|chinese|croatian|czech|danish|dutch|english|estonian|finnish|french"
    "|german|greek|hebrew|hungarian|icelandic|indonesian|italian|japanese|korean|latvian|lithuanian|norwegian|persian"
    "|polish|portuguese|romanian|russian|serbian|slovak|slovene|slovenian|spanish|swedish|thai|turkish|ukrainian"
    "|vietnamese"
)
_REMARKS: Final = re.compile(
    r"[\[(] ?(?:(?:published |publisher |author )?(?:erratum|corrigendum|correction|comment|comments|retraction"
    r"|summary|update|republished|expression of concern)\b[^\[\]]{0,300}\b(?:in|for|from"
    r"|of)\b[^\[\]]{0,400}+(?>(?:\[[^\[\]]{0,100}\][^\[\]]{0,100}){0,3})"
    rf"|see comments?|corrected|(?:in )?(?:{LANGUAGES})(?: ?(?:,|and|/) ?(?:{LANGUAGES}))*"
    r"|(?:meeting |conference )?abstract[^\[\]()]{0,40}|letter|editorial|poster|review"
    r"|retracted(?: article)?[^\[\]()]{0,120}"
    r"|clinical trial|proceedings?|[0-9]{1,5} refs?) ?[.;]? ?[\])]"
    r"|\bLA: [A-Z][a-z]{2}\b|^ ?(?:retracted(?: article)?|withdrawn) ?:",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"</?(?:i|b|em|strong|u|sub|sup|span|sc|bold|italic|inf)\b[^<>]*>", re.IGNORECASE)
_ORIGINAL: Final = re.compile(r" ?<ORIGINAL> ?| ?; (?=[^\W\d_])| = | / ")
_DIGRAPH: Final = re.compile(r"[ao]e")
_NUMBER: Final = re.compile(r"[0-9]+")
_ROMAN: Final = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_WORDED: Final = {
    name: str(number)
    for names in ("one two three four five six seven eight nine ten", "first second third fourth fifth sixth")
    for number, name in enumerate(names.split(), 1)
}
_PART: Final = re.compile(
    r"\b(?:part|parts|pt|section|chapter|volume|vol|paper|article|study|report|series|no|number)\s+"
    r"([0-9]{1,2}|[ivx]{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|[a-h])\b"
)
_LAST_ROMAN: Final = frozenset(_ROMAN) - {"ix"}
"""Roman numbers that are the number of a part as the last word of a title."""
_ERRATUM: Final = re.compile(
    r"^(?:(?:publisher|author|editorial)s? )?(?:erratum|errata|corrigend(?:um|a)|correction|addendum|retraction"
    r"|(?:notice|statement|expression) of (?:retraction|concern|correction|redundant publication)|retraction note"
    r"|withdrawal|withdrawn article|republished|expression of concern)\b(?! of (?:anemia|metabolic|acidosis"
    r"|deformit|vitamin|hypo|hyper))"
    r"(?: (?:to|for|of|notice|note|in|on)\b)*"
)
_CITED: Final = re.compile(
    r"(?:\((?:retraction of )?vol\.? ?[^()]{1,40}, (?:pg|p|art)[^()]{1,40}, (?:19|20)[0-9]{2}\)"
    r"|\([^()]{3,120} \((?:19|20)[0-9]{2}\)[ ,:;][^\n]{1,200}\)"
    r"|\[[^\[\]]{3,160} \((?:19|20)[0-9]{2}\)[^\[\]]{1,60}\])$",
    re.IGNORECASE,
)
"""The article that a correction or a letter is about: "(vol 17, pg 245, 2015)", "(Heart (2015) 17:3 (245-253))"."""
_NOTICE_REMARK: Final = re.compile(
    r"\((retraction of )?vol\.? ?[^()]{1,40}, (?:pg|p|art)[^()]{1,40}, (?:19|20)[0-9]{2}\)\W*$", re.IGNORECASE
)
"""The remark of the Web of Science in the title of a correction or a retraction."""
_NOTICES: Final = (("retraction", "retraction"), ("withdraw", "retraction"), ("concern", "concern"))
_CUT: Final = re.compile(r"(?:\.{3}|\u2026)\W*$")
_GROUP: Final = re.compile(
    r"\b(?:groups?|investigators?|stud(?:y|ies)|trials?|trialists|committee|collaborat(?:ors?|ions?|ives?)|consortium"
    r"|society|association|network|team|project|institute|organi[sz]ation|task force|panel|council|foundation|agency)\b"
)
"""Words in the names of groups."""
_NO_AUTHORS: Final = frozenset(
    ("null", "anonymous", "anon", "unknown", "no authors listed", "no authorship indicated", "et al")
)
_REPLY: Final = re.compile(
    r"^(?:(?:the )?(?:authors?|editors?)s? (?:s )?(?:reply|response|comment)|reply|response|in reply|in response"
    r"|comments? (?:on|to|regarding)|commentary(?: on)?|comment|re|letter(?: to the editor)?|correspondence"
    r"|editorial(?: comment(?:ary)?)?"
    r"|discussion(?: of)?|invited commentary|rebuttal|a reply|reply to|response to|letter by)\b(?: (?:to|on"
    r"|from|by|regarding|re)\b)*"
)
_REPLY_END: Final = re.compile(r"\b(?:(?:the )?authors?(?: s)? (?:reply|response)|reply|a reply|in reply|rebuttal)$")
_PROTOCOL: Final = re.compile(
    r"\b(?:(?:study|trial|review|research)? ?protocol|rationale and (?:study )?design|design and rationale"
    r"|study design"
    r"|design of (?:a|the)|trial design|statistical analysis plan|methods and design)\b"
)
_PREPRINT_DOIS: Final = (
    "10.1101/",
    "10.64898/",
    "10.21203/rs.",
    "10.2139/ssrn",
    "10.20944/preprints",
    "10.48550/arxiv",
    "10.26434/chemrxiv",
    "10.31234/osf",
    "10.31219/osf",
    "10.35542/osf",
    "10.22541/au",
    "10.36227/techrxiv",
    "10.14293/s2199",
    "10.37044/osf",
    "10.32942/",
    "10.55458/neurolibre",
    "10.1590/scielopreprints",
    "10.12688/openreseurope",
)
"""The beginnings of DOIs of preprints."""
_PREPRINT_SERVER: Final = re.compile(
    r"\b(?:biorxiv|medrxiv|arxiv|chemrxiv|psyarxiv|research square|ssrn|preprints?(?: org)?|authorea|techrxiv"
    r"|osf preprints"
    r"|scielo preprints|social science research network)\b"
)
_CONFERENCE: Final = re.compile(
    r"\b(?:proceedings? of|conference|congress|symposium|annual meeting|scientific meeting|meeting abstracts?"
    r"|abstracts? of"
    r"|abstracts? from|workshop)\b"
)
_JOURNALS_OF_PROCEEDINGS: Final = tuple(
    f"proceedings of the {name}" for name in ("national academy", "royal society", "nutrition society")
)
"""Journals that are not the proceedings of a conference."""
_ABSTRACT_TITLE: Final = re.compile(
    r"[\[(](?:meeting |conference |poster )?abstracts?\b[^\[\]()]{0,40}[\])]", re.IGNORECASE
)
_ARTICLE: Final = re.compile(
    r"\b(?:article|review|trial|study|meta-analysis|case reports?|observational|multicenter|guideline)\b"
)
"""Types of records that are articles, not conference abstracts."""
_LETTER: Final = re.compile(r"\b(?:letter|editorial)\b")
_ENGLISH_TEXT: Final = "of the and with from by for to on at between among during after versus their its"
_FOREIGN_TEXT: Final = (
    "und der die das bei mit von zur zum des dem durch eine einer eines nach über für als "
    "de la las los del el y con para por una un en al su les et dans chez une du le au aux sur par "
    "di della dei delle nel nella il da do dos das na em com os "
    "och hos av til og med van het een bij voor ved efter pri po iz"
)
_ENGLISH: Final = frozenset(_ENGLISH_TEXT.split())
_FOREIGN: Final = frozenset(_FOREIGN_TEXT.split())
"""Frequent words of English titles, and of titles in other languages that are written with Latin letters."""
_TRANSLATED: Final = re.compile(rf"<ORIGINAL>|[\[(](?:in )?(?!english)(?:{LANGUAGES})[\])]", re.IGNORECASE)
"""Signs of a translated title: its original, or a language other than English."""
_SUPPLEMENT: Final = ("suppl", "spec", "abstr")
_COCHRANE: Final = re.compile(r"10\.1002/14651858\.(cd[0-9]+|mr[0-9]+)(?:\.pub([0-9]+))?")
_VERSIONED: Final = re.compile(
    r"(10\.(?:21203/rs\.[0-9.a-z-]+|20944/preprints[0-9.]+|12688/[a-z0-9]+\.[0-9]+|7554/elife\.[0-9]+"
    r"|26434/chemrxiv[-0-9a-z]+"
    r"|2196/preprints\.[0-9]+|31234/osf\.io/[a-z0-9]+|22541/au\.[0-9.]+))(?:[./_-]v?|v)([0-9]{1,2})"
)
_SAME_TEXT: Final = re.compile(r"(10\.(?:6084/m9\.figshare\.[0-9a-z.]*[0-9]|1101/[0-9.]+))\.?v[0-9]{1,2}$")
"""DOIs of one text in several versions: figshare's ``.v2``, and ``v2`` in addresses of bioRxiv and medRxiv."""
_PROOF: Final = re.compile(r"[._/-](?:proof|accepted|uncorrected)$")
_STOP: Final = frozenset(
    (
        *("the", "a", "an", "of", "and", "in", "for", "on", "to", "at", "by", "with", "from"),
        *("und", "der", "die", "das", "des", "et", "la", "le", "les", "de", "del", "e"),
        *("y", "part", "section"),
    )
)
_NO_PAGES: Final = re.compile(
    r"[0-9]{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-[0-9]{1,2}"
    r"|[0-9]+ ?p(?:ages)?\.?|[0\W_]+|epub.*|online.*|\(?no pagination.*|(?=[^0-9]*$)(?![ivxl\W]+$).*",
    re.IGNORECASE,
)
"""Values that are not pages: pages 1-10 that a spreadsheet changed to "01-Oct", numbers of pages ("215 p"), zero, and
words without a number, such as "N.PAG" and "(no pagination)"; Roman numbers are pages."""
MAX_TITLE: Final = 1000


@dataclass(slots=True, kw_only=True)
class RecordFields:
    """The fields of a record from which its signature is built.

    Args:
        authors: pairs of family and given names; a group has no given name.
        kind: words that name the type of the record: "preprint", "conference paper", "published erratum".
    """

    title: str | None
    authors: Sequence[tuple[str, str]]
    journal: str | None
    year: str | None
    volume: str | None
    issue: str | None
    pages: str | None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    ids: frozenset[tuple[str, str]] = frozenset()
    registrations: frozenset[str] = frozenset()
    abstract: str | None = None
    kind: str = ""


@dataclass(slots=True)
class Signature:
    """The parts of a record that are compared.

    Args:
        number: the position of the record among all records.
        title: the folded title.
        titles: the title, and the parts of a title in two languages.
        core: the title without the words of its kind: part, protocol, erratum, reply, update.
        numbers: the numbers of the title, Roman ones and words included.
        part: the number of a part ("Part II").
        is_cut: whether the title ends with "...".
        families: the folded family names of persons, in order.
        groups: the folded names of groups.
        names: the words of all names of the first author.
        everyone: the words of all names of all authors, which also agree if given and family names are swapped.
        starts: the first pages of all ranges ("230-5, 246-51").
        issues: the numbers of the issue, without those of a supplement.
        ids: identifiers of databases other than PubMed, as pairs of database and number.
        registrations: the numbers of a record of a trial register; records of articles have none here.
        language: "foreign" for a title that is not in English, "translated" for "[A translated title]", or "".
        is_article: whether its type says that it is an article.
        is_letter: whether its type says that it is a letter or an editorial, not an article.
    """

    number: int
    title: str = ""
    titles: tuple[str, ...] = ()
    core: str = ""
    numbers: tuple[str, ...] = ()
    part: str = ""
    is_cut: bool = False
    families: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    everyone: frozenset[str] = frozenset()
    journal: str = ""
    journals: tuple[tuple[str, ...], ...] = ()
    year: int | None = None
    volume: str = ""
    supplement: str = ""
    issue: str = ""
    issues: frozenset[str] = frozenset()
    first_page: str = ""
    last_page: str = ""
    starts: frozenset[str] = frozenset()
    pmid: str = ""
    doi: str = ""
    pmcid: str = ""
    ids: frozenset[tuple[str, str]] = frozenset()
    registrations: frozenset[str] = frozenset()
    abstract: str = ""
    is_erratum: bool = False
    is_reply: bool = False
    is_protocol: bool = False
    is_preprint: bool = False
    is_conference: bool = False
    is_proceedings: bool = False
    is_article: bool = False
    is_letter: bool = False
    language: str = ""

    @property
    def content(self) -> tuple[str | int | tuple[str, ...] | None, ...]:
        """The fields that are equal in two copies of one record."""
        return (
            *(
                self.title,
                self.families,
                self.groups,
                self.journal,
                self.year,
                self.volume,
                self.issue,
                self.supplement,
            ),
            *(self.first_page, self.last_page, self.pmid, self.doi, self.pmcid),
        )

    @property
    def is_registration(self) -> bool:
        """Whether it is a record of a trial register."""
        return bool(self.registrations)

    @property
    def pages_length(self) -> int:
        """The number of pages of a range; 0 if it is unknown."""
        first, last = _NUMBER.findall(self.first_page), _NUMBER.findall(self.last_page)
        return int(last[-1][:9]) - int(first[-1][:9]) + 1 if first and last else 0

    @property
    def may_be_abstract(self) -> bool:
        """Whether it is of a conference, or on one or two pages of a supplement."""
        return self.is_conference or bool(self.supplement and self.first_page and self.pages_length <= 2)


def clean_title(text: str) -> str:
    """Return a title without markup and without the remarks of databases."""
    text = " ".join(text.split())[:MAX_TITLE]
    text = _MARKUP.sub("", unescape(text)) if "<" in text or "&" in text else text
    return _CITED.sub("", _REMARKS.sub(" ", text).strip(" .\"'")).strip(" .\"'")


def fold_title(text: str) -> str:
    """Fold a title to words; British and American spellings are equal."""
    folded = fold_text(text.replace("&", " and "))
    return _DIGRAPH.sub("e", folded).replace("our", "or").replace("z", "s").replace("sulph", "sulf")


def fold_titles(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the folded title, and all titles of a text that has a title in two languages."""
    cleaned = clean_title(text)
    whole = fold_title(cleaned)
    parts = [fold_title(part) for part in _ORIGINAL.split(cleaned)] if _ORIGINAL.search(cleaned) else []
    if "<ORIGINAL>" in cleaned and parts and parts[0]:
        whole = parts[0]
    original, bracket, translation = cleaned.rpartition("[")  # a title, and its translation in brackets
    if bracket and translation.find("]") == len(translation) - 1 and min(len(original), len(translation) - 1) > 14:
        parts += [fold_title(original), fold_title(translation)]
    return whole, tuple(
        dict.fromkeys(folded for folded in (whole, *parts) if folded == whole or len(folded.split()) > 3)
    )


def list_numbers(title: str) -> tuple[str, ...]:
    """Return the numbers in a folded title, Roman ones as digits."""
    numbers = [
        _ROMAN.get(word, word) for word in title.split() if word in _ROMAN or word[:1].isdigit() or word[-1:].isdigit()
    ]
    return tuple(sorted(numbers))


def find_part(title: str) -> str:
    """Return the number of the part that a folded title names ("part ii" is 2); "" without one."""
    match = _PART.search(title)
    if match:
        return _ROMAN.get(match[1], _WORDED.get(match[1], match[1]))
    front, _, last = title.rpartition(" ")
    return _ROMAN[last] if front and last in _LAST_ROMAN else ""


def _find_core(title: str) -> str:
    """Return a folded title without the words that name its kind or part."""
    core = _ERRATUM.sub("", title, count=1)
    core = _REPLY.sub("", core, count=1) if len(core.split()) > 3 else core
    core = _REPLY_END.sub("", core)
    core = _PART.sub(" ", core)
    front, space, last = core.rpartition(" ")
    core = front if space and last in _LAST_ROMAN else core
    core = _PROTOCOL.sub(" ", core)
    core = re.sub(r"\b(?:an? )?(?:[0-9]{4} )?update[ds]?\b(?: [0-9]{4})?|\bversion [0-9.]+\b", " ", core)
    return " ".join(core.split())


@lru_cache(maxsize=65536)
def fold_journal(text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the folded name of a journal, and the words of each of its names ("Ai zheng = Chinese journal")."""
    text = unescape(text)
    plain = re.sub(r" ?[\[(][^\[\]()]*+[\])]?", " ", text) or text
    names = [plain, *re.split(r" [=/] | ?: |\. (?=[A-Z][a-z]{3})| ?\[", text)]
    folded = [fold_title(name) for name in names]
    words = [tuple(word for word in name.split() if word not in _STOP and len(word) > 1) for name in folded]
    return folded[0], tuple(dict.fromkeys(word for word in words if word))


def read_doi(text: str | None) -> str:
    """Return a DOI for comparisons: in lower case, without the version of the same text."""
    doi = (text or "").strip().lower().rstrip(".,;")
    if not doi:
        return ""
    match = _SAME_TEXT.match(doi)
    return _PROOF.sub("", match[1] if match else doi)


def _convert_roman(volume: str) -> str:
    """Return a Roman volume in digits; "" for a text that is not a number ("(Jul)", "Ph.D.")."""
    digits = convert_roman(strip_place(volume))
    return digits if digits.isdigit() else ""


def split_doi_version(doi: str) -> tuple[str, str] | None:
    """Return the work and the version of a DOI with a version: Cochrane's ``.pub3``, preprints' ``/v2``."""
    if match := _COCHRANE.fullmatch(doi):
        return match[1], match[2] or "1"
    if match := _VERSIONED.fullmatch(doi):
        return match[1], match[2] or "1"
    return None


@lru_cache(maxsize=262144)
def _fold_name(text: str) -> str:
    return fold_text(text)


def build_signature(number: int, record: RecordFields) -> Signature:
    """Return the signature of a record, from its position among all records and its fields."""
    folded, titles = fold_titles(record.title or "")
    core = _find_core(folded)
    name, journals = fold_journal(record.journal) if record.journal else ("", ())
    kind, key = record.kind.casefold(), read_doi(record.doi)
    if notice := _find_notice(record.title or "", folded, kind):
        folded = f"{notice} {core}".strip()
        titles = (folded,)
    persons, groups = _split_names(record.authors)
    first = persons[0] if persons else ("", "")
    ranges = _read_ranges(record.pages or "")
    first_page, last_page = ranges[0] if ranges else ("", "")
    return Signature(
        number=number,
        title=folded,
        titles=titles,
        core=core,
        numbers=list_numbers(folded),
        part=find_part(folded),
        is_cut=_CUT.search(record.title or "") is not None,
        families=tuple(_fold_name(family) for family, _ in persons),
        groups=groups,
        names=frozenset(_fold_name(f"{first[0]} {first[1]}").split()),
        everyone=frozenset(
            word for family, given in persons for word in _fold_name(f"{family} {given}").split() if len(word) > 2
        ),
        journal=name,
        journals=journals,
        year=int(record.year) if record.year and record.year.isdigit() else None,
        volume=_read_volume(record.volume or ""),
        supplement=_read_supplement(f"{record.volume or ''} {record.issue or ''}"),
        issue=fold_text(record.issue or ""),
        issues=_read_issues(record.issue or ""),
        first_page=first_page,
        last_page=last_page,
        starts=frozenset(first for first, _ in ranges if first),
        pmid=record.pmid or "",
        doi=key,
        pmcid=record.pmcid or "",
        ids=record.ids,
        registrations=record.registrations,
        abstract=record.abstract or "",
        is_erratum=bool(notice),
        is_reply=_REPLY.match(folded) is not None or _REPLY_END.search(folded) is not None,
        is_protocol=_PROTOCOL.search(folded) is not None or "protocol" in kind,
        is_preprint=_is_preprint(key, name, kind),
        is_conference=_is_conference(record.title or "", kind),
        is_proceedings=_is_proceedings(name),
        is_article=_ARTICLE.search(kind) is not None,
        is_letter=_LETTER.search(kind) is not None and _ARTICLE.search(kind) is None,
        language=_detect_language(record.title or ""),
    )


def _read_ranges(pages: str) -> list[tuple[str, str]]:
    """Return the first and the last page of each range ("230-5, 246-51")."""
    if _NO_PAGES.fullmatch(pages.strip()):
        return []
    return [page_ends(part) for part in re.split(r"[,;+]", pages) if part.strip()]


def _read_volume(volume: str) -> str:
    digits = _NUMBER.findall(volume)
    return digits[0].lstrip("0") if digits else _convert_roman(volume)


def _read_issues(issue: str) -> frozenset[str]:
    """Return the numbers of an issue ("1-2", "Pt 3") without those of a supplement ("SUPPL. 2")."""
    before = issue.lower().partition("suppl")[0]
    return frozenset(number.lstrip("0") for number in _NUMBER.findall(before))


def _read_supplement(place: str) -> str:
    """Return the numbers of a supplement in volume and issue, "s" for one without a number, "" without one."""
    place = place.lower()
    if not any(word in place for word in _SUPPLEMENT):
        return ""
    return " ".join(_NUMBER.findall(place.partition("suppl")[2])) or "s"


def _detect_language(title: str) -> str:
    """Return "foreign" for a title that is not in English, "translated" for an English title of such an article."""
    if _is_foreign(title):
        return "foreign"
    is_in_brackets = title.strip(" .").startswith("[") and title.strip(" .").endswith("]")
    return "translated" if is_in_brackets or _TRANSLATED.search(title) else ""


def _is_foreign(title: str) -> bool:
    """Return whether a title is not in English, by its most frequent words, or else by letters with accents."""
    words = re.findall(r"[^\W\d_]+", clean_title(title).casefold())
    english, other = (sum(word in known for word in words) for known in (_ENGLISH, _FOREIGN))
    if english or other:
        return other > english
    return any(not letter.isascii() and not "\u0370" <= letter <= "\u03ff" for word in words for letter in word)


def _split_names(authors: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the persons among authors, and the folded names of groups."""
    persons, groups = [], []
    for family, given in authors:
        name = _fold_name(family)
        if not given and _GROUP.search(name):
            groups.append(name)
        elif name and name not in _NO_AUTHORS:
            persons.append((family, given))
    return persons, tuple(groups)


def _find_notice(text: str, title: str, kind: str) -> str:
    """Return what a record announces: "retraction", "concern" or "correction" of an article; "" for other records.

    Args:
        text: the title.
        title: the folded title.
    """
    remark = None if _REPLY.match(title) else _NOTICE_REMARK.search(text)
    beginning = _ERRATUM.match(title)
    named = any(word in kind for word in ("erratum", "retraction of", "retraction notice"))
    if not (remark or beginning or named):
        return ""
    words = f"{remark[1] or '' if remark else ''} {beginning[0] if beginning else ''} {kind}".casefold()
    return next((notice for word, notice in _NOTICES if word in words), "correction")


def _is_preprint(doi: str, journal: str, kind: str) -> bool:
    return "preprint" in kind or doi.startswith(_PREPRINT_DOIS) or _PREPRINT_SERVER.search(journal) is not None


def _is_proceedings(journal: str) -> bool:
    """Return whether a journal is the proceedings of a conference."""
    return _CONFERENCE.search(journal) is not None and not any(name in journal for name in _JOURNALS_OF_PROCEEDINGS)


def _is_conference(title: str, kind: str) -> bool:
    """Return whether a record is of a conference, by its type or a remark in its title."""
    words = ("conference", "proceeding", "meeting abstract", "congress", "cpaper")
    return any(word in kind for word in words) or _ABSTRACT_TITLE.search(title) is not None
