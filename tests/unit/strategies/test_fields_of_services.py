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
