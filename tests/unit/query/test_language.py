"""The rules of PubMed's language, one line per rule: characters, operators, repairs, fields, printing and fidelity."""

import io
import random
import re
from datetime import date

import pytest
from terms_index import index_terms

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query import unsettled
from entrez_kit.query.dates import parse_relative_range
from entrez_kit.query.fields import FIELDS, parse_tag
from entrez_kit.query.filters import STRATEGIES
from entrez_kit.query.mesh import (
    Heading,
    Journal,
    Substance,
    Vocabulary,
    read_mesh_file,
    read_mesh_records,
    read_related_numbers,
)
from entrez_kit.query.parser import parse
from entrez_kit.query.record_terms import RecordTerms
from entrez_kit.query.search import QueryMatches, search
from entrez_kit.query.units import Fidelity
from entrez_kit.query.words import STOP_WORDS, split_words

TITLES = (
    "Cats and dogs in the clinic",
    "Dogs in hospital: a survey of cats",
    "Organisation of colorectal cancers",
    "17beta-HSD of the cat",
    "Life or death",
)
HEADINGS = (
    ("Neoplasms", ("C04",), ("Cancer",)),
    ("Lung Neoplasms", ("C04.588.894",), ("Lung Cancer",)),
    ("Hypertension", ("C14.907.489",), ()),
    ("Review", ("V02.700",), ()),
    ("Systematic Review", ("V02.700.500",), ()),
)
SUBHEADINGS = (("therapy", ("Q1",), "TH"), ("drug therapy", ("Q1.100",), "DT"), ("genetics", ("Q2",), "GE"))


def _record(number: int) -> RecordTerms:
    """Return the terms of record 0 to 4; record 0 has headings, record 1 narrower ones."""
    terms = RecordTerms()
    terms.add_text("title", TITLES[number])
    terms.add_number("uid", number + 101)
    if number == 0:
        terms.add_value("mesh", "Hypertension", "Neoplasms")
        terms.add_exact("mesh_pair", "hypertension/therapy")
        terms.add_value("ptype", "Review")
    if number == 1:
        terms.add_value("mesh", "Hypertension", "Lung Neoplasms")
        terms.add_exact("mesh_pair", "hypertension/drug therapy", "lung neoplasms/genetics")
        terms.add_value("ptype", "Systematic Review")
        terms.add_value("subheading", "drug therapy", "genetics")
        terms.add_names("author", [("Smith JA Jr", "Smith, John A Jr")])
    if number == 2:
        terms.add_names("author", [("O'Brien J", "O'Brien, Jane"), ("Smith J", "")])
        terms.add_value("substance", "Aspirin")
        terms.add_value("journal", "1234567")
        terms.add_value("filter", "hasabstract")
        terms.add_exact("registry", "50-78-2")
    terms.add_number("pdat", 20200101, 20191220)
    terms.add_number("pdat_single", 20200101, *([20191220] if number == 0 else []))
    terms.add_number("edat", 20200101 + number)
    return terms


INDEX = index_terms(map(_record, range(len(TITLES))))
VOCABULARY = Vocabulary(
    [Heading(name, trees, terms) for name, trees, terms in HEADINGS],
    [Heading(name, trees, (), code) for name, trees, code in SUBHEADINGS],
    [Substance("aspirin", ("acetylsalicylic acid",), ("9999-99-9",))],
    {"Anti-Inflammatory Agents": ("Aspirin",)},
    [Journal("1234567", "J Ex Part", "Journal of Examples. Part", ("1111-2222",))],
)


def _search(term: str, *, lenient: bool = False) -> QueryMatches:
    return search(term, INDEX, VOCABULARY, today=date(2020, 1, 3), lenient=lenient)


def _find_records(term: str) -> str:
    return " ".join(map(str, _search(term).records))


@pytest.mark.parametrize(
    ("term", "records"),
    [
        # operators, in any form, from left to right
        ("cats[ti] OR life[ti] AND dogs[ti]", "0 1"),
        ("cats[ti]|life[ti]&dogs[ti]", "0 1"),
        ("life[ti] OR (cats[ti] AND hospital[ti])", "1 4"),
        ("cats[ti] NOT hospital[ti] OR life[ti]", "0 4"),
        ("(cats[ti] OR life[ti])[ti] not (hospital[ti])", "0 4"),
        ("“cats”[ti] and dogs[ti]", "0 1"),
        # words, stopwords, phrases
        ("CATS [TI]", "0 1"),
        ("the[ti] AND cats[ti]", "0 1"),
        ('"cats and dogs"[ti]', "0"),
        ("17beta-hsd[ti]", "3"),
        ("17β-HSD[ti]", "3"),
        ("17betaHSD[ti]", ""),
        ('"in the"[ti]', "0"),
        ("zzqq[ti] OR cats[ti]", "0 1"),
        ("zzqq cats[ti]", ""),
        ("the[ti]", ""),
        ("the[ti] NOT cats[ti]", ""),
        ("'the[ti] NOT cats[ti]'", ""),
        ("the NOT cats[ti]", ""),
        ("(the[ti] AND in[ti]) NOT cats[ti]", ""),
        ("the[ti] NOT cats[ti] OR life[ti]", "4"),
        ("the[ti] NOT cats[ti] AND life[ti]", ""),
        ("cats[ti] NOT the[ti]", "0 1"),
        ("(the[ti] NOT cats[ti]) OR life[ti]", "4"),
        ("NOT cats[ti]", "2 3 4"),
        # wildcards
        ("organi*ation[ti]", "2"),
        ("organi*ation*[ti] AND colo*[ti]", "2"),
        ('"colo* cancer*"[ti]', "2"),
        ("cat*[ti]", "3"),
        ("*cats[ti]", "0 1"),
        ('"organisation o*"[ti]', "2"),
        ("organisation-o*[ti]", "2"),
        ("organisation o*[ti]", "2"),
        ('"o* colorectal"[ti]', ""),
        ('"o* colorect*"[ti]', ""),
        ('"a b c*"[ti]', ""),
        # proximity
        ('"cats dogs"[ti:~1]', "0"),
        ('"cats dogs"[ti:~0]', ""),
        ('"dogs survey cats"[ti:~4]', "1"),
        ('"dogs survey cats"[ti:~3]', ""),
        ('"cats cats"[ti:~9]', ""),
        ('"surv* cats"[ti:~9]', ""),
        # MeSH and publication types
        ("neoplasms[mh]", "0 1"),
        ("neoplasms[mh:noexp]", "0"),
        ("cancer[mh]", "0 1"),
        ("neop*[mh]", "0"),
        ("hypertension/therapy", "0 1"),
        ("hypertension/therapy[mh:noexp]", "0"),
        ("hypertension/dt[mh]", "1"),
        ("neoplasms/genetics[mesh terms]", "1"),
        ("hypertension/genetics[mh]", ""),
        ("therapy[sh]", "1"),
        ("review[pt]", "0 1"),
        ("review[pt:noexp]", "0"),
        ("anti-inflammatory agents[pa]", "2"),
        ("acetylsalicylic acid[nm]", "2"),
        ("50-78-2[rn]", "2"),
        ("9999-99-9[rn]", "2"),
        # people and journals
        ("smith j[au]", "1 2"),
        ('"smith j"[au]', "2"),
        ("smith jb[au]", ""),
        ("smith[au]", "1 2"),
        ("john a smith[au]", "1"),
        ("smith john a[au]", "1"),
        ("smith, john a jr[au]", "1"),
        ("jane o'brien[au]", "2"),
        ("journal of examples part[ta]", "2"),
        ("1111-2222[ta]", "2"),
        # dates
        ("2019[dp]", "0"),
        ("2019:2019[dp]", "0 1 2 3 4"),
        ("2020/01/02:2020/01/03[edat]", "1 2"),
        ("2020/01/02[edat]:3000[edat]", "1 2 3 4"),
        ("2020/01/04:2020[edat]", "3 4"),
        ('"last 1 days"[edat]', "1 2"),
        ('"last year"[edat]', "0 1 2"),
        # identifiers
        ("101 103", "0 2"),
        ("101,103[uid]", "0 2"),
        ("102:104[pmid]", "1 2 3"),
        ("hasabstract", "2"),
        ("hasabstract[text word]", "2"),
    ],
)
def test_a_query_finds_these_records(term: str, records: str) -> None:
    assert _find_records(term) == records


@pytest.mark.parametrize(
    ("term", "codes"),
    [
        ("cats[ti]", []),
        ('cats[ti] "', ["unmatched_quote"]),
        ("((cats[ti])", ["unmatched_parenthesis"]),
        ("cats[ti])", ["unmatched_parenthesis"]),
        ("cats[ti", ["unmatched_bracket"]),
        ("[ti] cats", ["tag_without_term"]),
        ("AND cats OR", ["dangling_operator", "dangling_operator"]),
        ("cats AND OR dogs", ["dangling_operator"]),
        ("cats AND NOT dogs", []),
        ("(cats OR dogs)[ti]", ["tag_after_parentheses"]),
        ("„cats”", ["typographic_quotes"]),
        ("cats[ti] or dogs[ti]", ["lowercase_operator"]),
        ("life or death", ["lowercase_operator"]),
        ("or cats", []),
    ],
)
def test_each_repair_is_reported(term: str, codes: list[str]) -> None:
    repairs = parse(term).repairs

    assert [repair.code for repair in repairs] == codes
    assert [repair.start for repair in repairs] == sorted(repair.start for repair in repairs)


@pytest.mark.parametrize(
    ("term", "translation"),
    [
        ("CATS[ti] AND (dogs[ti])", '"CATS"[Title] AND "dogs"[Title]'),
        ("cats[ti] OR dogs[ti] AND life[ti]", '("cats"[Title] OR "dogs"[Title]) AND "life"[Title]'),
        ("cats[ti] OR (dogs[ti] OR life[ti])", '"cats"[Title] OR ("dogs"[Title] OR "life"[Title])'),
        ("cats[ti] NOT dogs[ti] NOT life[ti]", '"cats"[Title] NOT "dogs"[Title] NOT "life"[Title]'),
        ("17β-HSD[ti]", '"17β HSD"[Title]'),
        ('"cats dogs"[ti:~1]', '"cats dogs"[Title:~1]'),
        ("Cancer[mh]", '"neoplasms"[MeSH Terms]'),
        ("neoplasms[majr:noexp]", '"neoplasms"[MeSH Major Topic:noexp]'),
        ("Neoplasms[mh:noexp]", '"neoplasms"[MeSH Terms:noexp]'),
        ("hypertension/th", '"hypertension/therapy"[MeSH Terms]'),
        ("smith j[au]", "smith j[Author]"),
        ("2020/02[edat]", "2020/02/01:2020/02/29[Date - Entry]"),
        ("102 101", "102[UID] OR 101[UID]"),
        (
            "lung cancer",
            '"lung neoplasms"[MeSH Terms] OR ("lung"[All Fields] AND "neoplasms"[All Fields]) OR "lung neoplasms"'
            '[All Fields] OR ("lung"[All Fields] AND "cancer"[All Fields]) OR "lung cancer"[All Fields]',
        ),
    ],
)
def test_a_query_is_printed_in_this_form(term: str, translation: str) -> None:
    assert _search(term).translation == translation


@pytest.mark.parametrize(
    ("term", "fidelity"),
    [
        ("cats[ti] AND neoplasms[mh] AND 2020[dp]", Fidelity.EXACT),
        ('"cats dogs"[ti:~3] OR colo*[ti]', Fidelity.EXACT),
        ('cats[ti] OR "cats and dogs"[ti]', Fidelity.EXACT_PHRASE),
        ("cats", Fidelity.APPROXIMATE),
        ('cancer OR "cats and dogs"[ti]', Fidelity.APPROXIMATE),
        ('"pubmed pmc"[sb]', Fidelity.APPROXIMATE),
        ("systematic[sb]", Fidelity.APPROXIMATE),
    ],
)
def test_an_answer_has_its_fidelity(term: str, fidelity: Fidelity) -> None:
    assert _search(term).fidelity == fidelity


@pytest.mark.parametrize(
    "term", ["free full text[sb]", '"pubmed books"[filter]', "medical genetics[filter]", "loprovx[sb]"]
)
@pytest.mark.parametrize("lenient", [True, False])
def test_a_query_that_no_copy_can_answer_is_refused(term: str, lenient: bool) -> None:
    with pytest.raises(InvalidInput) as caught:
        _search(f"cats OR {term}", lenient=lenient)

    assert caught.value.reason == "not_in_copy"
    assert caught.value.details["part"].partition("[")[0] in term


def _describe_study(number: int) -> RecordTerms:
    terms = RecordTerms()
    title, types, status = (
        ("Statins: a systematic review", (), "publisher"),
        ("Statins: protocol of a systematic review", (), "publisher"),
        ("A systematic review in retrospect", ("Comment",), "publisher"),
        ("Statins: a systematic review indexed as none", (), "medline"),
        ("Statins", ("Systematic Review",), "medline"),
        ("A randomized and controlled trial", (), "publisher"),
        ("Statins in general", ("Randomized Controlled Trial",), "medline"),
    )[number]
    terms.add_text("title", title)
    terms.add_value("ptype", *types)
    terms.add_value("filter", status)
    return terms


@pytest.mark.parametrize(
    ("term", "records"),
    [
        ("systematic[sb]", "0 4"),
        ("statins[ti] AND systematic[filter]", "0 4"),
        ("statins[ti] NOT Systematic Reviews[filter]", "1 3 6"),
        ("Therapy/Narrow[filter]", "5 6"),
        ("Prognosis/Broad[filter]", ""),
    ],
)
def test_a_search_strategy_is_searched_under_the_name_of_its_filter(term: str, records: str) -> None:
    found = search(term, index_terms(map(_describe_study, range(7))))

    assert " ".join(map(str, found.records)) == records
    assert found.fidelity is Fidelity.APPROXIMATE
    assert not found.resolved.phrases_not_found


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_search_strategy_is_read_without_repairs_and_names_known_fields(name: str) -> None:
    found = search(STRATEGIES[name], INDEX, VOCABULARY)

    assert not found.repairs
    assert not found.resolved.fields_not_found


def test_an_unknown_field_is_an_error_unless_pubmed_is_imitated() -> None:
    with pytest.raises(InvalidInput) as caught:
        _search("cats[nosuch]")

    assert (caught.value.reason, caught.value.details["field"]) == ("unknown_field", "nosuch")
    imitated = _search("cats[ab]", lenient=True)
    assert imitated.resolved.fields_not_found == ["ab"]
    assert imitated.records == _search("cats").records


@pytest.mark.parametrize("term", ["neoplasms[majr]", "haserratumin[sb]", '"1950"[dp]', "medline[sb]", "1111-2222[is]"])
def test_an_existing_value_is_not_reported_if_no_record_has_it(term: str) -> None:
    resolved = _search(term, lenient=True).resolved

    assert (resolved.phrases_not_found, resolved.quoted_not_found) == ([], [])
    assert _search('"no such filter"[sb]').resolved.quoted_not_found == ['"no such filter"[sb]']


def test_a_reference_to_a_search_needs_a_history() -> None:
    with pytest.raises(InvalidInput) as caught:
        _search("#1 AND cats")
    found = search("#1 AND cats[ti]", INDEX, history=lambda number: INDEX.find_range("uid", 102, 102))

    assert caught.value.reason == "no_history"
    assert (list(found.records), found.translation) == ([1], '#1 AND "cats"[Title]')


def test_an_unindexed_phrase_is_broken_up_only_when_pubmed_is_imitated() -> None:
    for term in ("cats life[ti]", '"cats life"[ti]'):
        assert not _search(term).records
        assert _search(term, lenient=True).translation == '"cats"[All Fields] AND "life"[Title]'
    assert _search("cats zz-qq", lenient=True).records == _search("zz-qq[ti]").records
    assert not _search("cats zz-qq", lenient=True).records


def test_an_illegal_proximity_search_is_a_phrase() -> None:
    for tag in ("tw:~9", "ti:~1001"):
        assert not _search(f'"cats dogs"[{tag}]').records
    assert not _search("cats dogs[ti:~9]").records
    assert _search('"cats and dogs"[ti:~1001]').translation == '"cats and dogs"[Title]'


def test_numbers_among_words_are_words() -> None:
    assert _search("101 cats", lenient=True).resolved.phrases_not_found == ["101"]
    assert _search("999", lenient=True).resolved.quoted_not_found == ['"999"']


def test_a_strict_search_never_finds_more_than_the_lenient_one() -> None:
    for term in ("cats zzqq", '"dogs cats"', '"dogs cats"[ti]', "no such heading[mh]", "zzqq", "cats zzqq[ti]"):
        assert _search(term).records <= _search(term, lenient=True).records, term
    assert _search('"dogs cats"[ti]').resolved.quoted_not_found == ['"dogs cats"[ti]']


def test_every_tag_has_one_field_and_variants_of_a_tag_are_read() -> None:
    tags = [tag for field in FIELDS for tag in field.tags]

    assert len(tags) == len(set(tags))
    assert all(parse_tag(tag) is not None for tag in tags)
    tag = parse_tag(" MeSH  Terms : NoExp ")
    assert tag is not None
    assert (tag.field.code, tag.explodes) == ("MESH", False)
    assert parse_tag("ab") is None


def test_stopwords_in_any_place_of_random_queries_never_make_a_result_wider() -> None:
    chance = random.Random(17)
    everything = set(range(len(TITLES)))
    for _ in range(300):
        words = chance.choices(["cats", "dogs", "life", "hospital", "the", "from"], k=chance.randint(2, 5))
        signs = [chance.choice(["", "", "NOT"]), *chance.choices(["AND", "OR", "NOT"], k=len(words) - 1)]
        found: set[int] | None = everything if signs[0] == "NOT" else None
        for sign, word in zip(signs, words, strict=True):
            if word in STOP_WORDS:
                continue
            value = {number for number, title in enumerate(TITLES) if word in re.findall(r"\w+", title.lower())}
            if sign == "NOT":
                found = (found or set()) - value
            elif found is None or (sign == "OR" and found is everything):
                found = value
            else:
                found = found & value if sign == "AND" else found | value
        term = " ".join(f"{sign} {word}[ti]" for sign, word in zip(signs, words, strict=True))
        whole = found is everything  # only ignored words after NOT
        assert set(_search(term).records) == (set() if whole else found or set()), term


def test_not_after_ignored_words_is_printed_with_them_and_marked_as_approximate() -> None:
    found = _search("(the[ti] OR in[ti]) NOT cats[ti]", lenient=True)

    assert found.translation == '(the[ti] OR in[ti]) NOT "cats"[Title]'
    assert found.fidelity == "approximate"
    assert _search("dogs[ti] NOT cats[ti]").fidelity == "exact"


def test_words_are_folded_and_there_are_130_stopwords() -> None:
    assert split_words("Cáncer's 17β_x Ångström–Łódź 日本") == [
        "cancer",
        "s",
        "17beta",
        "x",
        "angstrom",
        "lodz",
        "日本",
    ]
    assert len(STOP_WORDS) == 130
    assert not STOP_WORDS & {"or", "not", "used", "using"}


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("last 10 days", (20240319, 20240329)),
        ("last 1 months", (20240229, 20240329)),
        ("last 2 years", (20220329, 20240329)),
        ("last year", (20230329, 20240329)),
        ("last week", None),
    ],
)
def test_a_relative_date_is_a_span_of_days(text: str, span: tuple[int, int] | None) -> None:
    assert parse_relative_range(text, date(2024, 3, 29), includes_future=False) == span


def test_publication_dates_of_the_last_days_include_future_ones() -> None:
    assert parse_relative_range("last 5 days", date(2024, 3, 29), includes_future=True) == (20240324, 30001231)


def test_a_month_without_that_day_ends_earlier() -> None:
    assert unsettled.subtract_months(1, "month", date(2023, 3, 31)) == 20230228
    assert unsettled.subtract_months(9_999, "year", date(2023, 3, 31)) == 101


def test_long_and_nested_queries_need_no_recursion() -> None:
    deep = "(" * 3_000 + "cats[ti] OR life[ti]" + " AND dogs[ti])" * 3_000
    alternating = "cats[ti]" + " AND (dogs[ti] OR (life[ti]" * 1_500

    assert _find_records(deep) == "0 1"
    assert _find_records(alternating) == "0 1"
    assert _find_records("OR ".join(["cats[ti] "] * 5_000)) == "0 1"


def test_vocabularies_are_read_from_xml() -> None:
    descriptors = (
        "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI><DescriptorName><String>Lung, A</String>"
        "</DescriptorName><TreeNumberList><TreeNumber>A04</TreeNumber><TreeNumber>B1</TreeNumber></TreeNumberList>"
        "<ConceptList><Concept><TermList><Term><String>Lung, A</String></Term><Term><String>Lungs</String></Term>"
        "</TermList></Concept></ConceptList></DescriptorRecord></DescriptorRecordSet>"
    )
    qualifiers = (
        "<QualifierRecordSet><QualifierRecord><QualifierName><String>therapy</String></QualifierName><TreeNumberList>"
        "<TreeNumber>Y1</TreeNumber></TreeNumberList><ConceptList><Concept><TermList><Term><String>therapy</String>"
        "<Abbreviation>TH</Abbreviation></Term></TermList></Concept></ConceptList></QualifierRecord>"
        "</QualifierRecordSet>"
    )
    substances = (
        "<SupplementalRecordSet><SupplementalRecord><SupplementalRecordName><String>aspirin x</String>"
        "</SupplementalRecordName><ConceptList><Concept><RelatedRegistryNumberList><RelatedRegistryNumber>"
        "50-78-2 (A (x))</RelatedRegistryNumber></RelatedRegistryNumberList><TermList><Term><String>asp</String></Term>"
        "</TermList>"
        "</Concept></ConceptList></SupplementalRecord></SupplementalRecordSet>"
    )

    assert list(read_mesh_file(io.BytesIO(descriptors.encode()))) == [Heading("Lung, A", ("A04", "B1"), ("Lungs",))]
    assert list(read_mesh_file(io.BytesIO(qualifiers.encode()))) == [Heading("therapy", ("Y1",), (), "TH")]
    numbers = [
        read_related_numbers(one)
        for _, one in read_mesh_records(io.BytesIO(substances.encode()), ("SupplementalRecord",))
    ]
    assert numbers == [("50-78-2",)]
