"""Resolve the operands of a parsed query: from PubMed's syntax to the algebra, with what PubMed reports on the way.

Each method returns the resolved part and the report about it. ``resolve`` alone joins the reports of all operands.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query import dates, unsettled
from entrez_kit.query.algebra import NOTHING, HistorySet, Query, Range, Shown, TermSet, Window
from entrez_kit.query.evaluate import Evaluator
from entrez_kit.query.fields import ALL_FIELDS, BY_CODE, Field, Tag, parse_tag
from entrez_kit.query.filters import BARE
from entrez_kit.query.lexer import NCBI_MESSAGES
from entrez_kit.query.mapping import MAX_NAME_WORDS, map_phrase, match_any, to_leaf
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.parser import Operand, Syntax, fold_tree, parse
from entrez_kit.query.printing import print_field_value, print_query, print_words, quote_term
from entrez_kit.query.resolve_values import ValueFinder, search_days
from entrez_kit.query.units import Fidelity, Report, Unit, choose_fidelity, join_units, join_with_and
from entrez_kit.query.words import STOP_WORDS, normalize, split_pattern, split_words


class Resolver:
    """Resolves one query.

    Args:
        evaluator: evaluates leaves, to find out whether any record has a phrase.
        vocabulary: the controlled vocabulary.
        query: the text of the query.
        field: the field of words without a tag, from ESearch's ``field`` parameter.
        today: the last day of a relative range such as "last 5 years".
        lenient: whether to imitate PubMed, which searches without a field or a word that it does not know. Otherwise an
            unknown field is an error, and an unknown word matches no record.

    Raises:
        InvalidInput: ``field`` is unknown (unless ``lenient``).
    """

    def __init__(
        self,
        evaluator: Evaluator,
        vocabulary: Vocabulary,
        *,
        query: str = "",
        field: str | None = None,
        today: date | None = None,
        lenient: bool = False,
    ) -> None:
        self._evaluator = evaluator
        self._vocabulary = vocabulary
        self._query = query
        self._today = today or date.today()
        self._lenient = lenient
        self._values = ValueFinder(evaluator, vocabulary, query, self._today, self._resolve_strategy)
        default = parse_tag(field) if field else None
        self._default = None if default is None or default.field is ALL_FIELDS else default
        self._default_report = Report()
        if field and default is None:
            self._default_report = self._report_unknown_field(field, field)

    def resolve(self, syntax: Syntax) -> Unit:
        """Resolve a parsed query.

        Raises:
            InvalidInput: no copy of PubMed can answer a part of the query, or (unless ``lenient``) a field is unknown.
        """
        report = Report()
        report.add(self._default_report)
        report.messages += [repair.message for repair in syntax.repairs if repair.code in NCBI_MESSAGES]

        def resolve_operand(operand: Operand) -> Unit:
            unit = self._resolve_operand(operand)
            report.add(unit.report)
            return replace(unit, ignored=operand.text)

        def join(parts: Sequence[tuple[str, Unit]], _: bool) -> Unit:
            unit = join_units(parts)
            report.add(unit.report)
            return unit

        query = fold_tree(syntax.root, resolve_operand, join).query
        return Unit(query, report=report)

    def resolve_operand(self, operand: Operand) -> Query:
        """Resolve one operand, such as a term of another query language.

        Raises:
            InvalidInput: as in ``resolve``.
        """
        return self._resolve_operand(operand).query or NOTHING

    def _resolve_strategy(self, strategy: str) -> Query:
        """Resolve the query that PubMed maintains under the name of a filter; PubMed reports nothing about it."""
        resolver = Resolver(self._evaluator, self._vocabulary, query=strategy, today=self._today)
        return resolver.resolve(parse(strategy)).query or NOTHING

    # operands

    def _resolve_operand(self, operand: Operand) -> Unit:
        if operand.is_history:
            return Unit(Shown(HistorySet(int(operand.phrase[1:])), operand.phrase))
        if operand.upper is not None:
            return self._resolve_range(operand, operand.upper)
        tag = None if operand.tag is None else parse_tag(operand.tag)
        unit = self._resolve_term(operand, tag)
        if operand.tag is None or tag is not None:
            return unit
        return unit.report_first(self._report_unknown_field(operand.tag, self._query))

    def _report_unknown_field(self, name: str, query: str) -> Report:
        """Return the report about a field that PubMed does not have.

        Raises:
            InvalidInput: PubMed is not imitated.
        """
        if self._lenient:
            return Report(fields_not_found=[name])
        raise InvalidInput(
            f"PubMed has no search field {name!r}.",
            invalid_input=f"query={query or name}",
            recovery_hint="Write a field of PubMed, such as [tiab] or [mh], or remove the tag.",
            details={"reason": "unknown_field", "field": name},
        )

    def _resolve_term(self, operand: Operand, tag: Tag | None) -> Unit:
        """Resolve an operand with its tag; None if it has none, or an unknown one."""
        phrase = operand.phrase
        key = normalize(phrase)
        if key in BARE and (tag is None or tag.field.code in ("ALL", "WORD", "FILT")):
            label = tag.field.label if tag else ALL_FIELDS.label
            return Unit(Shown(TermSet("filter", (key,)), f"{phrase.lower()}[{label}]"))
        if tag is None or tag.field is ALL_FIELDS:
            tag = self._default
        if tag is None:
            return self._resolve_quoted(phrase) if operand.quoted else self._resolve_run(phrase.split(), operand)
        if operand.tag is None and not operand.quoted and tag.field.kind == "text":
            return self._search_each(tag.field, phrase.split())
        if tag.field.kind == "text":
            return self._resolve_text(tag, operand)
        return self._resolve_value(tag, operand)

    def _resolve_range(self, low: Operand, high: Operand) -> Unit:
        tag = parse_tag(low.tag) if low.tag else None
        if tag is not None and tag.field.kind == "date" and (span := dates.parse_range(low.phrase, high.phrase)):
            return Unit(search_days(tag.field, *span, is_range=True))
        if tag is not None and tag.field.kind == "uid":
            return self._resolve_value(tag, Operand(low.text, f"{low.phrase}:{high.phrase}", tag=low.tag))
        return join_with_and([self._resolve_operand(end) for end in (replace(low, upper=None), high)])

    def _has_records(self, query: Query) -> bool:
        return bool(self._evaluator.evaluate(query))

    # text

    def _resolve_text(self, tag: Tag, operand: Operand) -> Unit:
        field, phrase = tag.field, operand.phrase
        words = split_pattern(phrase)
        if not words:
            return Unit(None)
        report = Report(ranking=split_words(phrase))
        label = field.label
        truncated = any("*" in word for word in words)
        if tag.distance is not None and not truncated:
            if unsettled.allows_proximity(field.proximity, words, tag.distance, operand.quoted):
                near = quote_term(print_words(phrase), f"{label}:~{tag.distance}")
                return Unit(Shown(Window(field, tuple(words), tag.distance), near), report=report)
            report.messages.append(f"No proximity search: {operand.text}")
        if len(words) == 1 and words[0] in STOP_WORDS:
            report.phrases_ignored.append(operand.text)
            return Unit(None, report=report)
        leaf = to_leaf(field, words)
        unit = Unit(Shown(leaf, quote_term(print_words(phrase), label)), report=report)
        report.fidelity = choose_fidelity(leaf)
        if self._has_records(leaf):
            return unit
        hyphenated = "-" in phrase.strip("-") and " " not in phrase
        if len(words) == 1 or truncated or hyphenated or not self._lenient:
            return unit.report_first(_report_missing(operand, operand.tag))
        if operand.quoted:
            report.add(_report_missing(operand, operand.tag))
        return self._break_phrase(tag, phrase.split(), operand).report_first(report)

    def _break_phrase(self, tag: Tag, words: list[str], operand: Operand) -> Unit:
        """Search a phrase that no record has: the last word in the field, the earlier ones with term mapping.

        The User Guide describes this for a phrase without quotation marks; the marks of an unknown phrase are
        ignored. No recorded reply shows both together.
        """
        earlier = self._resolve_run(words[:-1], operand)
        last = to_leaf(tag.field, split_pattern(words[-1]) or words[-1:])
        return join_with_and([earlier, Unit(Shown(last, quote_term(print_words(words[-1]), tag.field.label)))])

    def _resolve_quoted(self, phrase: str) -> Unit:
        """Resolve a quoted phrase without a tag; if no record has it, PubMed ignores the quotation marks."""
        words = split_pattern(phrase)
        if not words:
            return Unit(None)
        leaf = to_leaf(ALL_FIELDS, words)
        report = Report(choose_fidelity(leaf))
        unit = Unit(Shown(leaf, quote_term(" ".join(words), ALL_FIELDS.label)), report=report)
        if self._has_records(leaf):
            report.ranking += split_words(phrase)
            return unit
        report.quoted_not_found.append(f'"{phrase}"')
        return self._resolve_run(phrase.split(), None).report_first(report) if self._lenient else unit

    # words without a tag

    def _resolve_run(self, run: Sequence[str], operand: Operand | None) -> Unit:
        """Resolve words without quotes and tag: PubMed maps the longest phrases first."""
        if unsettled.combine_number_words(run) and (pmids := self._find_pmids(run)):
            return Unit(pmids)
        units: list[Unit] = []
        start = 0
        is_whole = operand is not None and operand.text == self._query.strip() and len(run) == 1
        while start < len(run):
            length, unit = self._map_next(run, start, is_whole=is_whole)
            units.append(unit)
            start += length
        return replace(join_with_and(units), is_loose=sum(unit.query is not None for unit in units) > 1)

    def _find_pmids(self, run: Sequence[str]) -> Query | None:
        """Return the search for words that are PMIDs; None if no record has one of them."""
        pmids: list[Query] = [Shown(Range("uid", int(word), int(word)), f"{int(word)}[UID]") for word in run]
        return match_any(pmids) if any(map(self._has_records, pmids)) else None

    def _map_next(self, run: Sequence[str], start: int, *, is_whole: bool) -> tuple[int, Unit]:
        """Map the words from this position; return the number of mapped words and their part of the query.

        Args:
            run: the words.
            start: the position of the first word to map.
            is_whole: whether the word is the whole query.
        """
        for length in range(min(MAX_NAME_WORDS, len(run) - start), 0, -1):
            phrase = " ".join(run[start : start + length])
            if "*" in phrase:
                continue
            if "/" in phrase and (pair := self._values.find_pair(BY_CODE["MESH"], phrase, explodes=True)):
                return length, pair
            mapped = map_phrase(phrase, self._evaluator.index, self._vocabulary)
            if mapped is not None:
                translations = [(phrase, print_query(mapped))]
                report = Report(Fidelity.APPROXIMATE, translations, ranking=split_words(phrase))
                return length, Unit(mapped, report=report)
        if run[start].lower() in STOP_WORDS:
            return 1, Unit(None, report=Report(phrases_ignored=[run[start]] if len(run) == 1 else []))
        return 1, self._resolve_word(run[start], is_whole=is_whole)

    def _resolve_word(self, word: str, *, is_whole: bool) -> Unit:
        """Resolve a word that is not a term of the vocabulary."""
        words = split_pattern(word)
        if not words:
            return Unit(None)
        leaf = to_leaf(ALL_FIELDS, words)
        is_mapped = not any("*" in pattern for pattern in words)
        report = Report(Fidelity.APPROXIMATE if is_mapped else choose_fidelity(leaf))
        unit = Unit(Shown(leaf, quote_term(" ".join(words), ALL_FIELDS.label)), report=report)
        if self._has_records(leaf):
            report.ranking += split_words(word)
            return unit
        if is_whole:
            report.quoted_not_found.append(f'"{word}"')
        else:
            report.phrases_not_found.append(word)
        # The User Guide: a hyphenated phrase that is not in the index finds nothing. No recorded reply contradicts it.
        return Unit(None, report=report) if self._lenient and len(words) == 1 else unit

    def _search_each(self, field: Field, run: Sequence[str]) -> Unit:
        """Search words without a tag in the field of the ``field`` parameter, without mapping."""
        units: list[Unit] = []
        for word in run:
            words = split_pattern(word)
            if not words or (word.lower() in STOP_WORDS and len(run) > 1):
                continue
            leaf = to_leaf(field, words)
            report = Report(choose_fidelity(leaf))
            if self._has_records(leaf) or not self._lenient:
                report.ranking += split_words(word)
                units.append(Unit(Shown(leaf, quote_term(" ".join(words), field.label)), report=report))
            else:
                report.phrases_not_found.append(word)
                units.append(Unit(None, report=report))
        return replace(join_with_and(units), is_loose=sum(unit.query is not None for unit in units) > 1)

    # values

    def _resolve_value(self, tag: Tag, operand: Operand) -> Unit:
        """Resolve a value. If unquoted words are not a value, resolve the longest last part that is one."""
        field, words = tag.field, operand.phrase.split()
        value = self._values.find(tag, operand.phrase, operand)
        if value is not None:
            return value
        if not operand.quoted and (self._lenient or field.kind in ("date", "uid")):
            for cut in range(1, len(words)):
                last = self._values.find(tag, " ".join(words[cut:]), operand)
                if last is not None:
                    return join_with_and([self._resolve_run(words[:cut], None), last])
        missing = _report_missing(operand, operand.tag or field.label)
        return Unit(Shown(NOTHING, print_field_value(operand.phrase, field.label)), report=missing)


def _report_missing(operand: Operand, tag: str | None) -> Report:
    """Return the report that no record has an operand."""
    if operand.quoted:
        return Report(quoted_not_found=[f'"{operand.phrase}"[{tag}]'])
    return Report(phrases_not_found=[f"{operand.phrase}[{tag}]"])
