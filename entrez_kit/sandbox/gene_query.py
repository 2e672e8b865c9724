"""Run a query on Gene: its fields, and Entrez's left-to-right reading of AND, OR, NOT and parentheses."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.sandbox.database import BadRequest
from entrez_kit.sandbox.gene_records import GeneRecord
from entrez_kit.sandbox.lexer import Token, tokenize
from entrez_kit.sandbox.taxonomy import named, with_everything_below
from entrez_kit.sandbox.text import STOP_WORDS, words

Found = frozenset[str]


@dataclass(frozen=True, slots=True)
class GeneField:
    """A search field: "whole" values are compared whole, "words" by phrase, "number" as numbers."""

    code: str
    label: str
    kind: Literal["whole", "words", "number"]
    tags: tuple[str, ...]
    description: str
    values: Callable[[GeneRecord], Sequence[str]]


def _everything(gene: GeneRecord) -> Sequence[str]:
    return (
        gene.shown_symbol,
        f"LOC{gene.uid}",
        gene.locus_tag,
        gene.name,
        gene.summary,
        gene.organism,
        gene.common,
        gene.chromosome,
        gene.location,
        *gene.synonyms,
        *gene.designations,
        *gene.identifiers,
        *gene.accessions,
    )


def _properties(gene: GeneRecord) -> Sequence[str]:
    return (*(("alive",) if gene.status == 0 else ()), f"genetype {gene.kind.replace('-', ' ')}")


FIELDS: Final[tuple[GeneField, ...]] = (
    GeneField("ALL", "All Fields", "words", ("all",), "All terms from all searchable fields", _everything),
    GeneField("UID", "UID", "number", ("geneid",), "Unique number assigned to a gene record", lambda gene: (gene.uid,)),
    GeneField(
        "FILT",
        "Filter",
        "whole",
        ("filter", "sb"),
        "Limits the records",
        lambda gene: ("all", *(("current only",) if gene.status == 0 else ())),
    ),
    GeneField(
        "TITL",
        "Gene/Protein Name",
        "words",
        ("title", "ti"),
        "gene or protein name",
        lambda gene: (gene.shown_symbol, gene.name, *gene.designations),
    ),
    GeneField(
        "ORGN",
        "Organism",
        "whole",
        ("organism", "orgn"),
        "scientific and common names of organism",
        lambda gene: tuple(filter(None, (gene.organism, gene.common))),
    ),
    GeneField(
        "CHR",
        "Chromosome",
        "whole",
        ("chr",),
        "Chromosome number or numbers; also 'mitochondrial', 'unknown' properties",
        lambda gene: (gene.chromosome or "unknown",),
    ),
    GeneField(
        "GENE",
        "Gene Name",
        "whole",
        ("gene", "sym", "symbol"),
        "Symbol or symbols of the gene",
        lambda gene: (gene.shown_symbol, f"LOC{gene.uid}", *gene.aliases),
    ),
    GeneField("MIM", "MIM ID", "whole", ("mim",), "MIM number from OMIM", lambda gene: gene.mim),
    GeneField(
        "ACCN",
        "Nucleotide/Protein Accession",
        "whole",
        ("accn", "accession"),
        "Nucleotide or protein accession(s) associated with this gene",
        lambda gene: gene.accessions,
    ),
    GeneField("PROP", "Properties", "whole", ("prop", "property"), "Properties of Gene record", _properties),
    GeneField("TID", "Taxonomy ID", "number", ("tid",), "taxonomy id", lambda gene: (str(gene.taxid),)),
    GeneField("GFN", "Gene Full Name", "words", ("gfn",), "Gene full name", lambda gene: (gene.name,)),
    GeneField("PFN", "Protein Full Name", "words", ("pfn",), "Protein full name", lambda gene: gene.designations),
    GeneField(
        "PREF",
        "Preferred Symbol",
        "whole",
        ("pref",),
        "Preferred symbol of the gene",
        lambda gene: (gene.shown_symbol,),
    ),
)
BY_TAG: Final = {tag: field for field in FIELDS for tag in (field.code.lower(), field.label.lower(), *field.tags)}


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a query: its genes, None where there is nothing to search for."""

    found: Found | None
    text: str


class GeneQuery:
    """One query over genes; afterwards its attributes hold what Entrez has to say about it."""

    def __init__(
        self,
        genes: Iterable[GeneRecord],
        *,
        history: Callable[[int], Sequence[str] | None] = lambda number: None,
        field: str | None = None,
    ) -> None:
        self._genes = list(genes)
        self._history = history
        self._field = field
        self.translation = ""
        self.translations: list[tuple[str, str]] = []
        self.phrases_not_found: list[str] = []
        self.fields_not_found: list[str] = []
        self.quoted_not_found: list[str] = []
        self.messages: list[str] = []

    def run(self, term: str) -> Found:
        """Return the ids of the genes a query finds.

        Raises:
            BadRequest: a set of the history is named that does not exist.
        """
        tokens, self.messages = tokenize(term)
        stack: list[tuple[_Part | None, str]] = []
        current: _Part | None = None
        operator = "AND"
        for token in tokens:
            if token.kind == "operator":
                operator = token.text
            elif token.kind == "open":
                stack.append((current, operator))
                current, operator = None, "AND"
            elif token.kind == "close" or token.kind == "operand":
                part: _Part | None
                if token.kind == "close":
                    part = current
                    current, operator = stack.pop() if stack else (None, "AND")
                    part = part and _Part(part.found, f"({part.text})")
                else:
                    part = self._operand(token)
                current, operator = self._join(current, operator, part), "AND"
        while stack:
            part, (current, operator) = current, stack.pop()
            current = self._join(current, operator, part)
        self.translation = current.text if current else ""
        return (current.found or frozenset()) if current else frozenset()

    def _join(self, left: _Part | None, operator: str, right: _Part | None) -> _Part | None:
        if right is None or right.found is None:
            return left
        if left is None or left.found is None:
            if operator == "NOT":
                return _Part(self._all - right.found, f"NOT {right.text}")
            return right
        joined = {
            "AND": left.found & right.found,
            "OR": left.found | right.found,
            "NOT": left.found - right.found,
        }[operator]
        return _Part(joined, f"{left.text} {operator} {right.text}")

    @property
    def _all(self) -> Found:
        return frozenset(gene.uid for gene in self._genes)

    def _operand(self, token: Token) -> _Part:
        tag = token.tag or self._field
        if tag is None:
            return self._untagged(token)
        name = " ".join(tag.lower().split())
        bare = name.removesuffix(":noexp").removesuffix(":exp").strip()
        field = BY_TAG.get(bare)
        if field is None:
            self.fields_not_found.append(tag)
            return self._untagged(Token("operand", token.text, token.quoted))
        if field.code == "ORGN":
            found = self._of_organism(token.text, exploded=not name.endswith(":noexp"))
        else:
            found = self._in_field(field, token.text)
        if not found:
            shown = f'"{token.text}"[{tag}]' if token.quoted else f"{token.text}[{tag}]"
            (self.quoted_not_found if token.quoted else self.phrases_not_found).append(shown)
        return _Part(found, f'"{token.text}"[{field.label}]' if token.quoted else f"{token.text}[{field.label}]")

    def _in_field(self, field: GeneField, text: str) -> Found:
        if field.kind == "words":
            return frozenset(gene.uid for gene in self._genes if _has_words(field.values(gene), text))
        wanted = " ".join(text.lower().split())
        if wanted.endswith("*"):
            stem = wanted[:-1]
            return self._where(field, lambda value: value.startswith(stem))
        return self._where(field, lambda value: value == wanted)

    def _where(self, field: GeneField, test: Callable[[str], bool]) -> Found:
        return frozenset(gene.uid for gene in self._genes if any(test(value.lower()) for value in field.values(gene)))

    def _of_organism(self, text: str, *, exploded: bool) -> Found:
        name = text.strip().lower()
        number = name.removeprefix("txid")
        if name.startswith("txid") and number.isascii() and number.isdigit():
            taxids = [int(number)]
        else:
            taxids = [taxon.taxid for taxon in named(text)]
        wanted = with_everything_below(taxids) if exploded else set(taxids)
        return frozenset(gene.uid for gene in self._genes if gene.taxid in wanted)

    def _untagged(self, token: Token) -> _Part:
        """Search words without a tag: names of organisms mean the organism, everything else any field."""
        if token.quoted:
            found = self._in_field(FIELDS[0], token.text)
            if found:
                return _Part(found, f'"{token.text}"[All Fields]')
            self.quoted_not_found.append(f'"{token.text}"')
        run = token.words
        current: _Part | None = None
        place = 0
        while place < len(run):
            length, part = self._next(run, place)
            current = self._join(current, "AND", part)
            place += length
        return current or _Part(None, "")

    def _next(self, run: Sequence[str], place: int) -> tuple[int, _Part | None]:
        word = run[place]
        if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
            kept = self._history(int(word[1:]))
            if kept is None:
                raise BadRequest(f"Unable to obtain query {word}")
            return 1, _Part(frozenset(kept) & self._all, word)
        for length in range(min(5, len(run) - place), 0, -1):
            phrase = " ".join(run[place : place + length])
            taxa = named(phrase)
            if taxa:
                found = self._of_organism(phrase, exploded=True)
                shown = f'"{taxa[0].names[0]}"[Organism] OR {phrase}[All Fields]'
                self.translations.append((phrase, shown))
                return length, _Part(found | self._in_field(FIELDS[0], phrase), f"({shown})")
        if word.lower() in STOP_WORDS and len(run) > 1:
            return 1, None
        found = self._in_field(FIELDS[0], word)
        if not found:
            self.phrases_not_found.append(word)
        return 1, _Part(found, f"{word}[All Fields]")


def _has_words(values: Iterable[str], text: str) -> bool:
    """Tell whether one of the values has these words next to each other; the last one may be truncated with ``*``."""
    wanted = words(text)
    if not wanted:
        return False
    stem = text.rstrip().endswith("*")
    for value in values:
        split = words(value)
        for start in range(len(split) - len(wanted) + 1):
            here = split[start : start + len(wanted)]
            if here == wanted or (stem and here[:-1] == wanted[:-1] and here[-1].startswith(wanted[-1])):
                return True
    return False
