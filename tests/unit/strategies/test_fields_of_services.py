"""Fields, limits and terms of services: a part that PubMed lacks is named and never becomes words or an exact label."""

import pytest

from entrez_kit.query.dialects.pieces import choose_label
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.strategies.strategy import read_strategy
from entrez_kit.strategies.translated_lines import WorkingLine


def translate_line(text: str, dialect: Dialect, header: str = "") -> WorkingLine:
    return next(line for line in read_strategy(f"{header}{text}\n", dialect=dialect).lines if line.kind != "header")


@pytest.mark.parametrize("truncated", ["arthroplast*", "prosthe* or arthroplast*"])
@pytest.mark.parametrize("short", ["rep*", "low*", "net*"])
@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        ("ovid", "(hip adj3 ({})).tw."),
        ("ovid", "(({}) adj2 dose).tw."),
        ("embase", "(hip NEAR/3 ({})):ti,ab"),
        ("ebsco", "TI (hip N3 ({}))"),
        ("cochrane", "(hip near/3 ({})):ti,ab"),
        ("wos", "TS=(hip NEAR/3 ({}))"),
        ("scopus", "TITLE(hip W/3 ({}))"),
    ],
)
def test_an_alternative_that_is_left_out_is_named_and_makes_the_label_narrower(
    dialect: Dialect, line: str, short: str, truncated: str
) -> None:
    translated = translate_line(
        line.format(f"{short} or {truncated}".upper() if dialect == "scopus" else f"{short} or {truncated}"), dialect
    )

    assert choose_label(translated.losses) == "narrower"
    assert any(short.rstrip("*") in loss.text.lower() for loss in translated.losses)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("asthma.tiab.", "ovid"),
        ("(heart attack).ti.ab.", "ovid"),
        ("(heart attack)ti,ab.", "ovid"),
        ("infarction$.m_titl.", "ovid"),
        ("pain.ab. /freq=2", "ovid"),
        ("..zz 12", "ovid"),
        ("'reaction'/lnk", "embase"),
        ("MH (Asthma OR Bronchitis)", "ebsco"),
        ("MJ stroke", "ebsco"),
        ("TITLE(a) AND NOT INDEX(medline)", "scopus"),
        ("AUTHOR-NAME(smith)", "scopus"),
        ('[mh "heart failure" [mj]]', "cochrane"),
        ("noft(asthma)", "pubmed"),
        ("TI,AB(asthma)", "pubmed"),
        ('mh:"Asthma" OR tw:(wheeze)', "pubmed"),
        ("title:(asthma) OR abstract:(asthma)", "pubmed"),
    ],
)
def test_an_unknown_field_is_refused_and_not_searched_as_words(text: str, dialect: Dialect) -> None:
    line = translate_line(text, dialect)

    assert line.kind == "refused"
    assert line.pubmed == ""


@pytest.mark.parametrize(
    ("text", "dialect", "pubmed", "label"),
    [
        ("diabet$.sh.", "ovid", "diabet*[mh:noexp]", "exact"),
        ('limit 1 to yr="1990 -"', "ovid", "#1 AND 1990:3000[dp]", "wider"),
        ("..l/ 1 yr=2010-2015", "ovid", "#1 AND 2010:2015[dp]", "wider"),
        ("asthma.ti,ab,jw.", "ovid", "asthma[tiab]", "narrower"),
        ("asthma:ti,ab,de", "embase", "asthma[tiab]", "narrower"),
        ("exp stroke/ use ppez", "ovid", '"stroke"[mh]', "exact"),
        ('limit 1 to (humans and "all adult (19 plus years)")', "ovid", "#1 AND humans[mh] AND adult[mh]", "exact"),
        (
            "limit 1 to ((english or german) and humans)",
            "ovid",
            "#1 AND (english[la] OR german[la]) AND humans[mh]",
            "exact",
        ),
        ('limit 1 to "review articles"', "ovid", '#1 AND "review"[pt]', "wider"),
        ("PT randomized controlled trial", "ebsco", '"randomized controlled trial"[pt]', "wider"),
        ("PT (clinical trial OR review)", "ebsco", '"clinical trial"[pt] OR "review"[pt]', "wider"),
        ("MH Asthma+", "ebsco", '"Asthma"[mh]', "exact"),
        ("ti asthma or ab asthma", "ebsco", "asthma[ti] OR asthma[tiab]", "wider"),
        ("asthma:ti NOT [conference abstract]/lim", "embase", "asthma[ti]", "wider"),
        (
            "asthma:ti NOT ('animal'/exp NOT 'human'/exp)",
            "embase",
            'asthma[ti] NOT ("Animals"[mh] NOT "Humans"[mh])',
            "not_expressible",
        ),
        ("'review'/it", "embase", '"review"[pt]', "narrower"),
        ("MeSH descriptor Asthma explode all trees", "cochrane", '"Asthma"[mh]', "exact"),
        ("MeSH descriptor Asthma, this term only", "cochrane", '"Asthma"[mh:noexp]', "exact"),
        ("[mh /DT]", "cochrane", '"drug therapy"[sh]', "exact"),
        ("asthma:ti, from 2000 to 2010", "cochrane", "asthma[ti] AND 2000:2010[dp]", "wider"),
        (
            "asthma:ti with Cochrane Library publication date from Jan 2010 to present, in Trials",
            "cochrane",
            "asthma[ti] AND 2010:3000[dp]",
            "wider",
        ),
    ],
)
def test_forms_that_published_strategies_have_are_translated(
    text: str, dialect: Dialect, pubmed: str, label: str
) -> None:
    first = "1. asthma.ti.\n2. " if ("1 " in text and dialect == "ovid" and "limit" in text) or ".." in text else ""
    lines = [line for line in read_strategy(f"{first}{text}\n", dialect=dialect).lines if line.kind != "header"]

    assert lines[-1].pubmed == pubmed
    assert choose_label(lines[-1].losses) == label


@pytest.mark.parametrize(
    "header", ["APA PsycInfo <1806 to 2020>\n", "Ovid Emcare\n", "AMED (Ovid)\n", "Global Health\n"]
)
def test_headings_of_another_database_are_not_mesh(header: str) -> None:
    strategy = read_strategy(f"{header}1. exp Major Depression/\n2. mood.ti.\n3. 1 or 2\n")
    line = strategy.numbered[1]

    assert "[mh]" not in line.pubmed
    assert choose_label(line.losses) == "not_expressible"


def test_fields_of_embase_and_cochrane_are_read_as_most_lines_are() -> None:
    cochrane = read_strategy('#1 [mh Asthma]\n#2 randomi?ed:ti,ab\n#3 "heart fail*":ti,ab\n#4 {or #1-#3}\n')
    embase = read_strategy("#1 'asthma'/exp\n#2 randomi?ed:ti,ab\n#3 #1 OR #2\n")

    assert {line.dialect for line in cochrane.lines} == {"cochrane"}
    assert {line.dialect for line in embase.lines} == {"embase"}
    assert translate_line("asthma:ti,ab", "ovid").dialect == "embase"


FIELDS: list[tuple[str, Dialect, str, str]] = [
    ("'asthma':de OR asthma:ti", "embase", "asthma[tiab] OR asthma[ti]", "not_expressible"),
    ("remicade:tn OR infliximab:ti", "embase", "infliximab[ti]", "narrower"),
    ('DE "Parent Training" OR TI parenting', "ebsco", '"Parent Training"[tiab] OR parenting[ti]', "not_expressible"),
    ("africa.gl. or africa.ti.", "ovid", "africa[ti]", "narrower"),
    ("malaria.ti,od,de.", "ovid", "malaria[ti]", "narrower"),
]


@pytest.mark.parametrize(("text", "dialect", "pubmed", "label"), FIELDS)
def test_a_field_that_pubmed_lacks_is_left_out_if_it_is_an_alternative(
    text: str, dialect: Dialect, pubmed: str, label: str
) -> None:
    line = translate_line(text, dialect)

    assert (line.pubmed, choose_label(line.losses)) == (pubmed, label)


@pytest.mark.parametrize(
    "text",
    [
        "(3 or 4) use oemezd",
        "(knee adj pain).ti,ab. use oemezd",
        "exp Pain/ use emczd",
        "asthma[tiab] near/3 child[tiab]",
        "AREA[ConditionSearch] asthma AND AREA[Phase] PHASE3",
        "Condition: asthma | Intervention: exercise",
        "ti(nurs* NEAR/2 burnout) OR ab(burnout)",
        'su(burnout) AND la.exact("English")',
        'TI asthma AND ZY "norway"',
    ],
)
def test_lines_of_other_files_and_services_do_not_become_words(text: str) -> None:
    strategy = read_strategy(
        f"1. exp Asthma/\n2. x.ti.\n3. y.ti.\n4. z.ti.\n5. {text}\n" if "use" in text else f"{text}\n"
    )

    assert strategy.final is not None
    assert strategy.final.kind == "refused"


def test_lines_without_signs_below_the_name_of_a_register_are_refused() -> None:
    text = "WHO ICTRP\n1. melatonin AND delirium\n2. ramelteon AND delirium\n3. 1 OR 2\n"
    named = read_strategy(text)
    given = read_strategy(text, dialect="pubmed")

    assert [line.kind for line in named.lines] == ["header", "refused", "refused", "reference"]
    assert "ICTRP" in str(named.numbered[1].refusal)
    assert given.to_result().query is not None


def test_cinahl_after_a_search_means_headings_of_cinahl() -> None:
    text = 'S1 (MH "Self Care+") Interface - EBSCOhost Search Screen - Advanced Search Database - CINAHL Complete 90\n'
    line = read_strategy(text).lines[0]

    assert line.pubmed == '"Self Care"[tiab]'
    assert choose_label(line.losses) == "not_expressible"


def test_publication_types_and_subheadings_of_embase_are_not_those_of_medline() -> None:
    text = (
        "Embase <1980 to 2019>\n1. exp *heparin/ct, ae, cb\n2. heparin.ti.\n3. conference abstract.pt.\n"
        "4. (conference abstract or editorial).pt.\n5. 2 not 3\n6. 2 not (conference abstract or editorial).pt.\n"
        "7. editorial.pt. and 2\n"
    )
    lines = read_strategy(text).numbered

    assert {number: line.pubmed for number, line in lines.items()} == {
        1: "heparin[tiab]",
        2: "heparin[ti]",
        3: "",
        4: "",
        5: "#2",
        6: '#2 NOT "editorial"[pt]',
        7: '"editorial"[pt] AND #2',
    }
    assert choose_label(lines[1].losses) == "not_expressible"
    assert [choose_label(lines[number].losses) for number in (5, 6, 7)] == ["wider", "narrower", "narrower"]


def test_exclude_medline_records_is_a_limiter_of_cinahl() -> None:
    text = 'S1 (MH "Self Care+")\nS2 S1 Limiters - Exclude MEDLINE Records; English Language\n'
    lines = read_strategy(text).numbered

    assert lines[1].pubmed == '"Self Care"[tiab]'
    assert lines[2].pubmed == "#1 AND english[la]"
