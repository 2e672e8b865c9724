"""PubMed's rules of matching without an index: every record is read again for every query.

This is the specification of ``entrez_kit.query``. It shares no code with it: it reads the XML with another parser,
finds words with regular expressions in whole texts instead of splitting them, and tries every combination of positions.
``query_writer`` writes each query also as a condition, so that nothing here reads PubMed's syntax.
"""

import itertools
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

LETTER = r"[^\W_]"
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "\u00b5": "mu",
    "ω": "omega",
}
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: place for place, name in enumerate(_NAMES, start=1)}
_SEASONS = {"winter": 1, "spring": 4, "summer": 7, "autumn": 10, "fall": 10}
_STATUS = {"MEDLINE": "medline", "PubMed-not-MEDLINE": "pubmednotmedline", "Publisher": "publisher"}


@lru_cache(maxsize=100_000)
def to_plain(text: str) -> str:
    """Return text in lower case without accents; Greek letters are spelled."""
    for letter, name in _GREEK.items():
        text = text.replace(letter, name).replace(letter.upper(), name)
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return "".join(sign for sign in decomposed if unicodedata.category(sign) != "Mn").casefold()


@lru_cache(maxsize=100_000)
def squeeze_blanks(text: str) -> str:
    """Return text whose words are separated by single spaces."""
    return re.sub(r"[\W_]+", " ", to_plain(text)).strip()


@lru_cache(maxsize=10_000)
def build_sequence(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression for words in sequence; ``*`` is any number of letters."""
    inner = r"[\W_]+".join(re.escape(word).replace(r"\*", f"{LETTER}*") for word in words)
    return re.compile(rf"(?<!{LETTER}){inner}(?!{LETTER})")


def keep_stars(words: Sequence[str]) -> list[str]:
    """Return the words of a term as PubMed searches them: ``*`` counts only after four letters of the whole term."""
    letters = 0
    for sign in "".join(words):
        if sign == "*":
            break
        letters += 1
    return list(words) if letters >= 4 else [word.replace("*", "") for word in words]


@dataclass
class Article:
    """One record, by the names of PubMed's fields."""

    root: ElementTree.Element = field(repr=False)

    def list_texts(self, path: str) -> list[str]:
        return ["".join(element.itertext()) for element in self.root.iterfind(path)]

    @cached_property
    def pmid(self) -> int:
        return int(self.list_texts("MedlineCitation/PMID")[0])

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """The values of each text field."""
        article = "MedlineCitation/Article"
        abstract = [
            " ".join(
                f"{part.get('Label')}: {''.join(part.itertext())}" if part.get("Label") else "".join(part.itertext())
                for part in self.root.iterfind(f"{article}/Abstract/AbstractText")
            ),
            *(
                " ".join("".join(part.itertext()) for part in other.iterfind("AbstractText"))
                for other in self.root.iterfind("MedlineCitation/OtherAbstract")
            ),
        ]
        title = self.list_texts(f"{article}/ArticleTitle")
        keywords = self.list_texts("MedlineCitation/KeywordList/Keyword")
        mesh = [name for heading, marks in self.headings for name in (heading, *(mark for mark, _ in marks))]
        substances = [
            *self.list_texts(".//ChemicalList/Chemical/NameOfSubstance"),
            *self.list_texts(".//SupplMeshList/SupplMeshName"),
        ]
        notes = self.list_texts("MedlineCitation/CommentsCorrectionsList/CommentsCorrections/Note")
        groups = self.list_texts(f"{article}/AuthorList/Author/CollectiveName")
        ad = self.list_texts(f"{article}/AuthorList/Author/AffiliationInfo/Affiliation")
        ad += self.list_texts("MedlineCitation/InvestigatorList/Investigator/AffiliationInfo/Affiliation")
        grants = [
            part for path in ("GrantID", "Acronym", "Agency", "Country") for part in self.list_texts(f".//Grant/{path}")
        ]
        accessions = [
            f"{bank.findtext('DataBankName')}/{number.text}"
            for bank in self.root.iterfind(".//DataBank")
            for number in bank.iterfind(".//AccessionNumber")
        ]
        vernacular, types = self.list_texts(f"{article}/VernacularTitle"), self.types
        subjects = [name for person in self.list_people(".//PersonalNameSubject") for name in person]
        word = [*title, *abstract, *keywords, *mesh, *types, *substances, *subjects, *groups, *accessions, *notes]
        journal = self.list_texts(f"{article}/Journal/Title") + self.list_texts(f"{article}/Journal/ISOAbbreviation")
        journal += self.list_texts("MedlineCitation/MedlineJournalInfo/MedlineTA")
        people = [*self.authors, *self.investigators]
        everything = [
            *word,
            *vernacular,
            *journal,
            *ad,
            *grants,
            *(name for person in people for name in person),
            *self.identifiers,
            str(self.pmid),
            *self.registry,
            *(name for code in self.list_texts(f"{article}/Language") for name in (code, _LANGUAGES.get(code, ""))),
            *self.list_texts(f"{article}/Journal/JournalIssue/Volume"),
            *self.list_texts(f"{article}/Journal/JournalIssue/Issue"),
            self.first_page,
            *self.list_texts("MedlineCitation/CoiStatement"),
        ]
        return {
            "ti": title,
            "tiab": [*title, *abstract, *keywords],
            "tw": word,
            "ot": keywords,
            "tt": vernacular,
            "ad": ad,
            "gr": grants,
            "cois": self.list_texts("MedlineCitation/CoiStatement"),
            "all": everything,
        }

    @cached_property
    def headings(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """The headings with their subheadings, and whether each is a major topic."""
        return [(name, marks) for name, _, marks in self.is_marked]

    @cached_property
    def is_marked(self) -> list[tuple[str, bool, list[tuple[str, bool]]]]:
        found = []
        for heading in self.root.iterfind("MedlineCitation/MeshHeadingList/MeshHeading"):
            name = heading.find("DescriptorName")
            assert name is not None
            marks = [
                (element.text or "", element.get("MajorTopicYN") == "Y")
                for element in heading.iterfind("QualifierName")
            ]
            found.append((name.text or "", name.get("MajorTopicYN") == "Y", marks))
        return found

    @cached_property
    def types(self) -> list[str]:
        return self.list_texts(".//PublicationTypeList/PublicationType")

    @cached_property
    def registry(self) -> list[str]:
        return self.list_texts(".//ChemicalList/Chemical/RegistryNumber")

    def list_people(self, path: str) -> list[tuple[str, str]]:
        found = []
        for person in self.root.iterfind(path):
            if person.findtext("CollectiveName"):
                found.append((person.findtext("CollectiveName") or "", ""))
                continue
            last, suffix = person.findtext("LastName") or "", person.findtext("Suffix") or ""
            initials = person.findtext("Initials") or ""
            given = " ".join(filter(None, (person.findtext("ForeName") or initials, suffix)))
            short = " ".join(filter(None, (last, initials, suffix)))
            found.append((short, ", ".join(filter(None, (last, given)))))
        return found

    @cached_property
    def authors(self) -> list[tuple[str, str]]:
        """The short and the full name of each author."""
        path = "MedlineCitation/Article/AuthorList/Author"
        valid = [element for element in self.root.iterfind(path) if element.get("ValidYN") != "N"]
        return (
            self.list_people(f"{path}[@ValidYN='Y']")
            if valid and len(valid) < len(self.root.findall(path))
            else self.list_people(path)
        )

    @cached_property
    def investigators(self) -> list[tuple[str, str]]:
        return self.list_people("MedlineCitation/InvestigatorList/Investigator")

    @cached_property
    def identifiers(self) -> list[str]:
        own = [
            element.text or ""
            for element in self.root.iterfind("PubmedData/ArticleIdList/ArticleId")
            if element.get("IdType") != "pubmed"
        ]
        return [*own, *self.list_texts("MedlineCitation/Article/ELocationID")]

    @cached_property
    def first_page(self) -> str:
        pages = self.list_texts("MedlineCitation/Article/Pagination/MedlinePgn")
        pages = pages or self.list_texts("MedlineCitation/Article/Pagination/StartPage")
        return pages[0].split("-")[0] if pages else ""

    @cached_property
    def dates(self) -> dict[str, list[int]]:
        """The dates of each date field as yyyymmdd."""
        events: dict[str, int] = {}
        for event in self.root.iterfind("PubmedData/History/PubMedPubDate"):
            events.setdefault(event.get("PubStatus") or "", _read_day(event))
        printed = _read_day(self.root.find("MedlineCitation/Article/Journal/JournalIssue/PubDate"))
        online = _read_day(self.root.find("MedlineCitation/Article/ArticleDate[@DateType='Electronic']"))
        entry = events.get("pubmed") or events.get("entrez") or printed
        completed = _read_day(self.root.find("MedlineCitation/DateCompleted"))
        revised = _read_day(self.root.find("MedlineCitation/DateRevised"))
        found = {
            "dp": [printed, online],
            "single": [printed, online if not printed or online <= printed else 0],
            "ppdat": [printed],
            "epdat": [online],
            "edat": [entry],
            "crdt": [events.get("entrez") or events.get("pubmed") or printed],
            "mhda": [events.get("medline") or entry],
            "lr": [revised or completed or entry],
            "dcom": [completed],
        }
        return {name: [day for day in days if day] for name, days in found.items()}

    @cached_property
    def filters(self) -> set[str]:
        """Some of the filters that the record answers."""
        citation = self.root.find("MedlineCitation")
        assert citation is not None
        found = {"all", _STATUS.get(citation.get("Status") or "", "inprocess")}
        for name, path in (
            ("hasabstract", "Article/Abstract/AbstractText"),
            ("haskeyword", "KeywordList/Keyword"),
            ("hasretractionin", "CommentsCorrectionsList/CommentsCorrections[@RefType='RetractionIn']"),
            ("haserratumin", "CommentsCorrectionsList/CommentsCorrections[@RefType='ErratumIn']"),
            ("hascommenton", "CommentsCorrectionsList/CommentsCorrections[@RefType='CommentOn']"),
        ):
            if citation.find(path) is not None:
                found.add(name)
        if any(identifier.startswith("PMC") for identifier in self.identifiers):
            found.add("pubmed pmc")
        return found


_LANGUAGES = {"eng": "english", "fre": "french", "ger": "german", "spa": "spanish", "jpn": "japanese", "rus": "russian"}


def _read_day(element: ElementTree.Element | None) -> int:
    if element is None:
        return 0
    text = element.findtext("MedlineDate")
    if text:
        year = re.search("[0-9]{4}", text)
        if year is None:
            return 0
        after = re.match(r"\W*([A-Za-z]+)(?:\s+([0-9]{1,2})(?![0-9]))?", text[year.end() :])
        month, day = (_read_month(after[1]), int(after[2] or 1)) if after else (1, 1)
        return int(year[0]) * 10000 + month * 100 + day
    year_text = element.findtext("Year") or ""
    if not year_text.isdigit():
        return 0
    season, month_text, day_text = (element.findtext(name) or "" for name in ("Season", "Month", "Day"))
    month = _read_month(season or month_text)
    return int(year_text) * 10000 + month * 100 + (int(day_text) if month_text and day_text.isdigit() else 1)


def _read_month(text: str) -> int:
    if text.isdigit():
        return int(text)
    word = text.lower()
    return _MONTHS.get(word[:3]) or next((month for name, month in _SEASONS.items() if name in word), 1)


@dataclass(frozen=True)
class Tree:
    """Headings with their places, to find the narrower ones."""

    places: dict[str, tuple[str, ...]]
    entry_terms: dict[str, str] = field(default_factory=dict)

    def below(self, name: str, explodes: bool) -> set[str]:
        """Return the squeezed names of a heading and of the narrower ones."""
        name = self.entry_terms.get(squeeze_blanks(name), name)
        found = {squeeze_blanks(name)}
        mine = next(
            (trees for other, trees in self.places.items() if squeeze_blanks(other) == squeeze_blanks(name)), ()
        )
        if explodes:
            for other, trees in self.places.items():
                if any(tree == top or tree.startswith(top + ".") for tree in trees for top in mine):
                    found.add(squeeze_blanks(other))
        return found


Check = Callable[[Article], bool]


def has_words(tag: str, words: Sequence[str]) -> Check:
    """Match words in sequence in one value of a text field; a word may have ``*``."""
    pattern = build_sequence(tuple(words))
    return lambda article: any(pattern.search(to_plain(value)) for value in article.texts[tag])


def has_near(tag: str, words: Sequence[str], distance: int) -> Check:
    """Match words in any order in one value, with at most ``distance`` other words between the first and the last."""

    def check(article: Article) -> bool:
        for value in article.texts[tag]:
            all_words = re.findall(f"{LETTER}+", to_plain(value))
            places = [[place for place, one in enumerate(all_words) if one == word] for word in words]
            for chosen in itertools.product(*places):
                others = max(chosen) - min(chosen) + 1 - len(words)
                if len(set(chosen)) == len(words) and others <= distance:
                    return True
        return False

    return check


def has_heading(names: set[str], *, major: bool = False) -> Check:
    """Match a heading; a major topic is marked itself or has a marked subheading."""
    return lambda article: any(
        squeeze_blanks(name) in names and (not major or star or any(mark for _, mark in marks))
        for name, star, marks in article.is_marked
    )


def has_pair(names: set[str], subheadings: set[str], *, major: bool = False) -> Check:
    """Match a heading with a subheading at the same place."""
    return lambda article: any(
        squeeze_blanks(name) in names and squeeze_blanks(sub) in subheadings and (not major or star or mark)
        for name, star, marks in article.is_marked
        for sub, mark in marks
    )


def has_subheading(names: set[str]) -> Check:
    """Match a subheading of any heading."""
    return lambda article: any(squeeze_blanks(sub) in names for _, marks in article.headings for sub, _ in marks)


def has_type(names: set[str]) -> Check:
    """Match a publication type."""
    return lambda article: any(squeeze_blanks(name) in names for name in article.types)


def has_name(text: str, *, quoted: bool, where: str = "authors") -> Check:
    """Match a person by short name, truncated unless quoted, or by full name."""
    key = squeeze_blanks(text)
    words = key.split()
    with_initials = len(words) > 1 and len(words[-1]) <= 2 and words[-1].isalpha()
    if quoted and len(words) > 1:
        short = re.compile(re.escape(key) + "$")
    elif with_initials:
        short = re.compile(re.escape(key) + f"{LETTER}*( .*)?$")
    else:
        short = re.compile(re.escape(key) + "( .*)?$")
    turns = range(1) if "," in text else range(len(words))
    forms = [" ".join(words[turn:] + words[:turn]) for turn in turns]
    end = "$" if quoted or len(words) == 1 else "( .*)?$"
    full = [re.compile(re.escape(form) + end) for form in forms]

    def check(article: Article) -> bool:
        people = article.investigators if where == "investigators" else article.authors
        if where in ("first", "last"):
            people = [person for person in people if person[1]]
            people = people[:1] if where == "first" else people[-1:]
        for short_name, full_name in people:
            if short.match(squeeze_blanks(short_name)):
                return True
            if full_name and any(form.match(squeeze_blanks(full_name)) for form in full):
                return True
        return False

    return check


def has_full_name(text: str) -> Check:
    """Match an author by full name in the order of the record, without the rest of the given names."""
    form = re.compile(re.escape(squeeze_blanks(text)) + "( .*)?$")
    return lambda article: any(full and form.match(squeeze_blanks(full)) for _, full in article.authors)


def has_subject(text: str) -> Check:
    """Match the short name of a person whom the article is about."""
    return lambda article: any(
        squeeze_blanks(short) == squeeze_blanks(text) for short, _ in article.list_people(".//PersonalNameSubject")
    )


def has_accession(text: str) -> Check:
    """Match an accession number, its data bank, or both joined by a slash."""

    def check(article: Article) -> bool:
        for bank in article.root.iterfind(".//DataBank"):
            name = (bank.findtext("DataBankName") or "").casefold()
            for number in bank.iterfind(".//AccessionNumber"):
                one = (number.text or "").casefold()
                if text.casefold() in (name, one, f"{name}/{one}"):
                    return True
        return False

    return check


def has_value(path: str, text: str) -> Check:
    """Match the whole value of an element, without regard to case and punctuation."""
    return lambda article: any(
        squeeze_blanks(text) == squeeze_blanks("".join(element.itertext())) for element in article.root.iterfind(path)
    )


def has_journal(text: str) -> Check:
    """Match a journal by title, abbreviation, ISSN or identifier."""
    article_path, info = "MedlineCitation/Article/Journal", "MedlineCitation/MedlineJournalInfo"
    paths = [f"{article_path}/Title", f"{article_path}/ISOAbbreviation", f"{article_path}/ISSN"]
    paths += [f"{info}/MedlineTA", f"{info}/NlmUniqueID", f"{info}/ISSNLinking"]
    return matches_some([has_value(path, text) for path in paths])


def has_identifier(text: str) -> Check:
    """Match an identifier of the article, case aside."""
    return lambda article: text.casefold() in (identifier.casefold() for identifier in article.identifiers)


def has_day(column: str, low: int, high: int) -> Check:
    """Match one of the dates of a column."""
    return lambda article: any(low <= day <= high for day in article.dates[column])


def has_filter(name: str) -> Check:
    """Match a filter."""
    return lambda article: name in article.filters


def matches_any(numbers: Iterable[int]) -> Check:
    """Match PMIDs."""
    wanted = set(numbers)
    return lambda article: article.pmid in wanted


def matches_some(checks: Sequence[Check]) -> Check:
    """Match any of several conditions."""
    return lambda article: any(check(article) for check in checks)


def search(check: Check, articles: Sequence[Article]) -> set[int]:
    """Return the PMIDs of the records that match."""
    return {article.pmid for article in articles if check(article)}
