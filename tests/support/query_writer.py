"""Random queries about given records, each as text in PubMed's language and as a condition of ``brute_force``."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import brute_force as brute
from brute_force import Article, Check, Tree

from entrez_kit.query.words import STOP_WORDS as PUBMED_STOP_WORDS

STOP_WORDS = PUBMED_STOP_WORDS | {"and", "or", "not"}
"""Words that are never searched alone."""


@dataclass(frozen=True)
class WrittenQuery:
    """A query and its meaning."""

    text: str
    check: Check
    fields: frozenset[str]


class QueryWriter:
    """Writes queries whose terms mostly occur in the records."""

    def __init__(
        self,
        seed: int,
        articles: Sequence[Article],
        tree: Tree,
        subheadings: Tree,
        actions: Mapping[str, Sequence[str]],
    ) -> None:
        self.pick = random.Random(seed)
        self.articles = articles
        self.tree = tree
        self.subheadings = subheadings
        self.actions = actions
        self.kinds = [name for name in dir(self) if name.startswith("write_")]

    def query(self, depth: int = 0) -> WrittenQuery:
        """Return a query with up to three levels of parentheses."""
        count = self.pick.choice((1, 2, 2, 3, 4) if depth else (1, 2, 2, 3, 4, 6))
        parts: list[tuple[str, WrittenQuery, str]] = []
        for place in range(count):
            nested = depth < 3 and self.pick.random() < 0.25
            part = self.query(depth + 1) if nested else self.term()
            shown = f"({part.text})" if nested else part.text
            operator = self.pick.choice(("AND", "OR", "OR", "NOT"))
            if place == 0:
                operator = "NOT" if self.pick.random() < 0.03 else ""
            written = self.pick.choice((operator, {"AND": "&", "OR": "|"}.get(operator, operator)))
            parts.append((operator, part, " ".join(filter(None, (written, shown)))))
        steps = [(operator, part.check) for operator, part, _ in parts]

        def check(article: Article) -> bool:
            found = steps[0][1](article) != (steps[0][0] == "NOT")
            for operator, inner in steps[1:]:
                if operator == "OR":
                    found = found or inner(article)
                elif operator == "AND":
                    found = found and inner(article)
                else:
                    found = found and not inner(article)
            return found

        fields = frozenset().union(*(part.fields for _, part, _ in parts))
        return WrittenQuery(" ".join(shown for _, _, shown in parts), check, fields)

    def term(self) -> WrittenQuery:
        """Return one term of any kind."""
        kind = self.pick.choice(self.kinds)
        while True:
            text, check = getattr(self, kind)()
            if text:
                return WrittenQuery(text, check, frozenset((kind.removeprefix("write_"),)))
            kind = self.pick.choice(self.kinds)

    # helpers

    def _article(self) -> Article:
        return self.pick.choice(self.articles)

    def _words(self, tag: str, least: int) -> list[str]:
        """Return the words of one value of a text field."""
        for _ in range(40):
            values = [
                value for value in self._article().texts[tag] if len(brute.squeeze_blanks(value).split()) >= least
            ]
            if values:
                return brute.squeeze_blanks(self.pick.choice(values)).split()
        return []

    def _run(self, tag: str, least: int, most: int) -> list[str]:
        words = self._words(tag, least)
        if not words:
            return []
        length = self.pick.randint(least, min(most, len(words)))
        start = self.pick.randrange(len(words) - length + 1)
        run = words[start : start + length]
        if self.pick.random() < 0.15:
            self.pick.shuffle(run)
        return run

    def _case(self, text: str) -> str:
        return self.pick.choice((text, text.upper(), text.title()))

    def _tag(self, *forms: str) -> str:
        form = self.pick.choice(forms)
        return f"{self.pick.choice(('', ' '))}[{self.pick.choice((form, form.upper()))}]"

    # terms: each returns the text and the condition

    def write_word(self) -> tuple[str, Check]:
        tag = self.pick.choice(("ti", "tiab", "tw", "ot", "tt", "ad", "gr", "cois"))
        words = [word for word in self._words(tag, 1) if word not in STOP_WORDS]
        if not words:
            return "", match_nothing
        word = self.pick.choice([*words, *words, "zzqqxx"])
        return f"{self._case(word)}{self._tag(tag)}", brute.has_words(tag, [word])

    def write_word_anywhere(self) -> tuple[str, Check]:
        words = [word for word in self._words("all", 1) if word not in STOP_WORDS]
        word = self.pick.choice(words)
        return f'"{word}"{self.pick.choice(("", "[all]", "[All Fields]"))}', brute.has_words("all", [word])

    def write_phrase(self) -> tuple[str, Check]:
        tag = self.pick.choice(("ti", "tiab", "tw", "ad", "ot", "all"))
        run = self._run(tag, 2, 5)
        if not run:
            return "", match_nothing
        text = self.pick.choice((" ", "-", ", ")).join(run)
        return f'"{self._case(text)}"{self._tag(tag)}', brute.has_words(tag, run)

    def write_wildcard(self) -> tuple[str, Check]:
        tag = self.pick.choice(("ti", "tiab", "tw", "ad"))
        words = [word for word in self._words(tag, 1) if len(word) > 4]
        if not words:
            return "", match_nothing
        word = self.pick.choice(words)
        cut = self.pick.randint(4, len(word))
        pattern = self.pick.choice((f"{word[:cut]}*", f"{word[:4]}*{word[cut:]}", f"{word[:4]}*{word[cut:]}*"))
        return f"{pattern}[{tag}]", brute.has_words(tag, [pattern.replace("**", "*")])

    def write_short_wildcard(self) -> tuple[str, Check]:
        words = [word for word in self._words("tiab", 1) if len(word) == 3 and word not in STOP_WORDS]
        word = self.pick.choice(words or ["cat"])
        return f"{word}*[tiab]", brute.has_words("tiab", [word])

    def write_wildcard_phrase(self) -> tuple[str, Check]:
        run = self._run("tiab", 2, 3)
        if not run:
            return "", match_nothing
        pattern = [f"{word[: self.pick.randint(1, 5)]}*" if self.pick.random() < 0.6 else word for word in run]
        text = self.pick.choice((f'"{" ".join(pattern)}"', "-".join(pattern), " ".join(pattern)))
        return f"{text}[tiab]", brute.has_words("tiab", brute.keep_stars(pattern))

    def write_window(self) -> tuple[str, Check]:
        tag = self.pick.choice(("ti", "tiab", "ad"))
        words = self._words(tag, 3)
        if not words:
            return "", match_nothing
        start = self.pick.randrange(len(words) - 2)
        near = words[start : start + 8]
        chosen = self.pick.sample(near, min(len(near), self.pick.choice((2, 2, 3, 4))))
        distance = self.pick.choice((0, 0, 1, 2, 3, 5, 10, 1000))
        return f'"{" ".join(chosen)}"[{tag}:~{distance}]', brute.has_near(tag, chosen, distance)

    def write_heading(self) -> tuple[str, Check]:
        names = [name for name, _ in self._article().headings] + list(self.tree.places)[:3]
        name = self.pick.choice(names)
        explodes, major = self.pick.random() < 0.6, self.pick.random() < 0.4
        tag = self.pick.choice(("majr", "MeSH Major Topic") if major else ("mh", "mesh", "MeSH Terms"))
        shown = f'"{name}"' if self.pick.random() < 0.5 else name
        text = f"{shown}[{tag}{'' if explodes else self.pick.choice((':noexp', ':NoExp'))}]"
        return text, brute.has_heading(self.tree.below(name, explodes), major=major)

    def write_entry_term(self) -> tuple[str, Check]:
        if not self.tree.entry_terms:
            return "", match_nothing
        term = self.pick.choice(list(self.tree.entry_terms))
        return f'"{term}"[mh]', brute.has_heading(self.tree.below(term, explodes=True))

    def write_heading_pattern(self) -> tuple[str, Check]:
        names = [brute.squeeze_blanks(name) for name, _ in self._article().headings]
        if not names:
            return "", match_nothing
        name = self.pick.choice(names)
        if len(name) < 5 or " " in name[:4]:
            return "", match_nothing
        known = {brute.squeeze_blanks(one) for article in self.articles for one, _ in article.headings}
        return f"{name[:4]}*[mh]", brute.has_heading({one for one in known if one.startswith(name[:4])})

    def write_pair(self) -> tuple[str, Check]:
        pairs = [(name, sub) for name, marks in self._article().headings for sub, _ in marks]
        if not pairs:
            return "", match_nothing
        name, sub = self.pick.choice(pairs)
        explodes, major = self.pick.random() < 0.6, self.pick.random() < 0.4
        names, subs = self.tree.below(name, explodes), self.subheadings.below(sub, explodes)
        tag = ("majr" if major else "mh") + ("" if explodes else ":noexp")
        return f'"{name}/{sub}"[{tag}]', brute.has_pair(names, subs, major=major)

    def write_subheading(self) -> tuple[str, Check]:
        subs = [sub for _, marks in self._article().headings for sub, _ in marks]
        if not subs:
            return "", match_nothing
        sub = self.pick.choice(subs)
        return f'"{sub}"{self._tag("sh")}', brute.has_subheading(self.subheadings.below(sub, explodes=True))

    def write_type(self) -> tuple[str, Check]:
        name = self.pick.choice(self._article().types or ["Review"])
        explodes = self.pick.random() < 0.6
        return f"{name}[pt{'' if explodes else ':noexp'}]", brute.has_type(self.tree.below(name, explodes))

    def write_author(self) -> tuple[str, Check]:
        people = [name for name in self._article().authors if name[1]]
        if not people:
            return "", match_nothing
        short, full = self.pick.choice(people)
        where, tag = self.pick.choice((("authors", "au"), ("authors", "Author"), ("first", "1au"), ("last", "lastau")))
        plain = brute.squeeze_blanks(short)
        text = self.pick.choice(
            (plain, plain[: plain.rindex(" ") + 2] if " " in plain else plain, plain.split()[0], full)
        )
        if brute.squeeze_blanks(text) in STOP_WORDS or not brute.squeeze_blanks(text):
            return "", match_nothing
        quoted = self.pick.random() < 0.4 and text != full
        shown = f'"{text}"' if quoted else text
        return f"{shown}[{tag}]", brute.has_name(text, quoted=quoted, where=where)

    def write_full_name(self) -> tuple[str, Check]:
        names = [full for _, full in self._article().authors if " " in brute.squeeze_blanks(full)]
        if not names:
            return "", match_nothing
        name = self.pick.choice(names)
        return f"{name}[fau]", brute.has_full_name(name)

    def write_investigator(self) -> tuple[str, Check]:
        for article in self.pick.sample(self.articles, len(self.articles)):
            if article.investigators:
                short, _ = self.pick.choice(article.investigators)
                return f'"{short}"[ir]', brute.has_name(short, quoted=True, where="investigators")
        return "", match_nothing

    def write_subject(self) -> tuple[str, Check]:
        for article in self.pick.sample(self.articles, len(self.articles)):
            for short, _ in article.list_people(".//PersonalNameSubject"):
                return f'"{short}"[ps]', brute.has_subject(short)
        return "", match_nothing

    def write_accession(self) -> tuple[str, Check]:
        for article in self.pick.sample(self.articles, len(self.articles)):
            for bank in article.root.iterfind(".//DataBank"):
                name, number = bank.findtext("DataBankName") or "", bank.findtext(".//AccessionNumber") or ""
                text = self.pick.choice((name, number, f"{name}/{number}"))
                return f'"{text}"[si]', brute.has_accession(text)
        return "", match_nothing

    def write_author_identifier(self) -> tuple[str, Check]:
        path = "MedlineCitation/Article/AuthorList/Author/Identifier"
        known = self._article().list_texts(path)
        if not known:
            return "", match_nothing
        number = self.pick.choice(known).strip().rsplit("/", 1)[-1]
        text = self.pick.choice((number, f"orcid {number}", f"https://orcid.org/{number}"))
        check = lambda article: any(one.strip().endswith(number) for one in article.list_texts(path))  # noqa: E731
        return f'"{text}"[auid]', check

    def write_location(self) -> tuple[str, Check]:
        path = "MedlineCitation/Article/ELocationID"
        known = self._article().list_texts(path)
        if not known:
            return "", match_nothing
        one = self.pick.choice(known)
        return f'"{one}"[lid]', lambda article: one.casefold() in map(str.casefold, article.list_texts(path))

    def write_action(self) -> tuple[str, Check]:
        if not self.actions:
            return "", match_nothing
        name = self.pick.choice(list(self.actions))
        members = {brute.squeeze_blanks(member) for member in self.actions[name]}
        substances = [
            brute.has_value(path, member)
            for path in (".//ChemicalList/Chemical/NameOfSubstance", ".//SupplMeshList/SupplMeshName")
            for member in members
        ]
        return f"{name}[pa]", brute.matches_some([brute.has_heading(members), *substances])

    def write_group(self) -> tuple[str, Check]:
        groups = [name for name, full in self._article().authors if not full]
        if not groups:
            return "", match_nothing
        name = self.pick.choice(groups)
        path = "MedlineCitation/Article/AuthorList/Author/CollectiveName"
        return f'"{name}"[cn]', brute.has_value(path, name)

    def write_journal(self) -> tuple[str, Check]:
        root = self._article().root
        path = self.pick.choice(
            (
                "MedlineCitation/MedlineJournalInfo/MedlineTA",
                "MedlineCitation/Article/Journal/Title",
                "MedlineCitation/Article/Journal/ISSN",
                "MedlineCitation/MedlineJournalInfo/NlmUniqueID",
            )
        )
        name = root.findtext(path) or ""
        return (
            (f'"{name}"{self._tag("ta", "journal", "jour")}', brute.has_journal(name)) if name else ("", match_nothing)
        )

    def write_value(self) -> tuple[str, Check]:
        base = "MedlineCitation/Article/"
        tag, path = self.pick.choice(
            (
                ("vi", f"{base}Journal/JournalIssue/Volume"),
                ("ip", f"{base}Journal/JournalIssue/Issue"),
                ("pl", "MedlineCitation/MedlineJournalInfo/Country"),
                ("la", f"{base}Language"),
                ("jid", "MedlineCitation/MedlineJournalInfo/NlmUniqueID"),
            )
        )
        value = self._article().root.findtext(path) or ""
        return (f'"{value}"[{tag}]', brute.has_value(path, value)) if value else ("", match_nothing)

    def write_page(self) -> tuple[str, Check]:
        page = self._article().first_page
        check = lambda article: brute.squeeze_blanks(article.first_page) == brute.squeeze_blanks(page)  # noqa: E731
        return (f"{page}[pg]", check) if brute.squeeze_blanks(page).isalnum() else ("", match_nothing)

    def write_substance(self) -> tuple[str, Check]:
        path = ".//ChemicalList/Chemical/NameOfSubstance"
        names = self._article().list_texts(path)
        if not names:
            return "", match_nothing
        name = self.pick.choice(names)
        checks = [brute.has_value(one, name) for one in (path, ".//SupplMeshList/SupplMeshName")]
        return f'"{name}"[nm]', brute.matches_some(checks)

    def write_registry(self) -> tuple[str, Check]:
        numbers = self._article().registry
        if not numbers:
            return "", match_nothing
        number = self.pick.choice(numbers)
        return f'"{number}"[rn]', lambda article: number in article.registry

    def write_identifier(self) -> tuple[str, Check]:
        known = self._article().identifiers
        if not known:
            return "", match_nothing
        one = self.pick.choice(known)
        return f'"{one}"[aid]', brute.has_identifier(one)

    def write_date(self) -> tuple[str, Check]:
        tag = self.pick.choice(("dp", "edat", "crdt", "mhda", "lr", "dcom", "ppdat", "epdat"))
        days = self._article().dates[tag]
        if not days:
            return "", match_nothing
        day = self.pick.choice(days)
        year, month = day // 10000, day // 100 % 100
        column = "single" if tag == "dp" else tag
        low, high = (
            self.pick.choice(
                (
                    (f"{year}", (year * 10000 + 101, year * 10000 + 1231)),
                    (f"{year}/{month:02}", (day // 100 * 100 + 1, day // 100 * 100 + 31)),
                    (f"{year}/{month:02}/{day % 100:02}", (day, day)),
                )
            ),
            None,
        )
        text, (start, end) = low
        del high
        return f"{text}[{tag}]", brute.has_day(column, start, end)

    def write_date_range(self) -> tuple[str, Check]:
        tag = self.pick.choice(("dp", "edat", "crdt", "mhda", "lr", "dcom"))
        days = self._article().dates[tag]
        if not days:
            return "", match_nothing
        start = self.pick.choice(days)
        year = start // 10000 + self.pick.randint(0, 4)
        shown = f"{start // 10000}/{start // 100 % 100:02}/{start % 100:02}"
        forms = (f"{shown}:{year}[{tag}]", f'"{shown}"[{tag}] : "{year}"[{tag}]', f"{shown}[{tag}]:{year}[{tag}]")
        return self.pick.choice(forms), brute.has_day(tag, start, year * 10000 + 1231)

    def write_relative_date(self) -> tuple[str, Check]:
        years = self.pick.randint(1, 15)
        today = date.today()
        low = (today.year - years) * 10000 + today.month * 100 + min(today.day, 28 if today.month == 2 else 31)
        tag = self.pick.choice(("dp", "edat"))
        high = 30001231 if tag == "dp" else today.year * 10000 + today.month * 100 + today.day
        return f'"last {years} years"[{tag}]', brute.has_day(tag, low, high)

    def write_filter(self) -> tuple[str, Check]:
        names = ("hasabstract", "haskeyword", "medline[sb]", "inprocess[filter]", "all[sb]", '"pubmed pmc"[sb]')
        text = self.pick.choice((*names, "haserratumin", "hasretractionin[filter]", "hascommenton"))
        return text, brute.has_filter(text.partition("[")[0].strip('"'))

    def write_pmids(self) -> tuple[str, Check]:
        numbers = [self._article().pmid for _ in range(self.pick.randint(1, 3))]
        forms = (" ".join(map(str, numbers)), f"{','.join(map(str, numbers))}[uid]")
        return self.pick.choice(forms), brute.matches_any(numbers)

    def write_pmid_range(self) -> tuple[str, Check]:
        low = self._article().pmid
        high = low + self.pick.randint(0, 200)
        return f"{low}:{high}[uid]", lambda article: low <= article.pmid <= high


def match_nothing(article: Article) -> bool:
    """Match no record."""
    return False
