"""Lines of other services: their meaning, and the records that their translation finds."""

import itertools
import random
import re

import pytest
from strategy_records import index_texts

from entrez_kit.query.dialects.detect import detect
from entrez_kit.query.dialects.meaning import evaluate_meaning
from entrez_kit.query.dialects.notes import CannotExpressError, LineError, Note
from entrez_kit.query.dialects.pieces import Piece, choose_label
from entrez_kit.query.dialects.readers import parse_line
from entrez_kit.query.dialects.services import DIALECTS, Dialect
from entrez_kit.query.dialects.spellings import WordList
from entrez_kit.query.dialects.translate import Translator
from entrez_kit.query.mesh import Heading, Vocabulary
from entrez_kit.query.search import search


def translate(text: str, dialect: Dialect, translator: Translator | None = None) -> Piece:
    return (translator or Translator()).translate(parse_line(text, dialect).node)


def get_label(text: str, dialect: Dialect) -> str:
    return choose_label(translate(text, dialect).losses)


# Operators: documents with exactly 0 to 3 words between two words, in both orders


BETWEEN = ("", "zebra", "zebra quartz", "zebra quartz violin")
DOCUMENTS = [
    " ".join(f"{first} {between} {second}".split())
    for first, second in (("heart", "failure"), ("failure", "heart"))
    for between in BETWEEN
]
"""The first four are in order, with 0 to 3 words between; the others are reversed."""


def list_distances(most: int, *, ordered: bool = False) -> set[int]:
    return {place for place in range(8) if place % 4 <= most and not (ordered and place > 3)}


OPERATORS: list[tuple[Dialect, str, set[int]]] = [
    ("ovid", "(heart failure).ti.", list_distances(0, ordered=True)),
    ("ovid", "(heart adj failure).ti.", list_distances(0, ordered=True)),
    ("ovid", "(heart adj1 failure).ti.", list_distances(0)),
    ("ovid", "(heart adj2 failure).ti.", list_distances(1)),
    ("ovid", "(heart ADJ3 failure).ti.", list_distances(2)),
    ("ovid", "(heart adj4 failure).ti.", list_distances(3)),
    ("embase", "(heart NEAR/1 failure):ti", list_distances(0)),
    ("embase", "(heart NEAR/3 failure):ti", list_distances(2)),
    ("embase", "(heart NEXT/1 failure):ti", list_distances(0, ordered=True)),
    ("embase", "(heart NEXT/3 failure):ti", list_distances(2, ordered=True)),
    ("embase", "'heart failure':ti", list_distances(0, ordered=True)),
    ("embase", "heart failure:ti", list_distances(3)),
    ("ebsco", "TI heart N0 failure", list_distances(0)),
    ("ebsco", "TI ( heart N2 failure )", list_distances(2)),
    ("ebsco", "TI heart W0 failure", list_distances(0, ordered=True)),
    ("ebsco", "TI heart W2 failure", list_distances(2, ordered=True)),
    ("ebsco", "TI heart failure", list_distances(3)),
    ("wos", "TI=(heart NEAR/0 failure)", list_distances(0)),
    ("wos", "TI=(heart NEAR/2 failure)", list_distances(2)),
    ("wos", "TI=(heart NEAR failure)", list_distances(3)),
    ("wos", "TI=heart NEAR/1 failure", list_distances(1)),
    ("scopus", "TITLE(heart W/0 failure)", list_distances(0)),
    ("scopus", "TITLE(heart W/2 failure)", list_distances(2)),
    ("scopus", "TITLE(heart PRE/0 failure)", list_distances(0, ordered=True)),
    ("scopus", "TITLE(heart PRE/2 failure)", list_distances(2, ordered=True)),
    ("scopus", "TITLE({heart failure})", list_distances(0, ordered=True)),
    ("cochrane", "(heart near/2 failure):ti", list_distances(2)),
    ("cochrane", "(heart near failure):ti", list_distances(3)),
    ("cochrane", "(heart next failure):ti", list_distances(0, ordered=True)),
    ("pubmed", '"heart failure"[ti:~2]', list_distances(2)),
    ("pubmed", '"heart failure"[ti]', list_distances(0, ordered=True)),
]


@pytest.mark.parametrize(("dialect", "line", "expected"), OPERATORS)
def test_a_distance_means_what_the_service_says(dialect: Dialect, line: str, expected: set[int]) -> None:
    index = index_texts(DOCUMENTS)
    parsed = parse_line(line, dialect)

    found = set(search(translate(line, dialect).text, index).records)

    assert set(evaluate_meaning(parsed.node, index)) == expected
    if "PRE/2" in line or "W2" in line or "NEXT/3" in line:  # PubMed has no order at a distance
        assert "wider" in {loss.direction for loss in translate(line, dialect).losses}
        assert found > expected
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("dialect", "line", "expected", "warned"),
    [
        ("ebsco", "TI N95", {0}, ""),
        ("ebsco", "TI ( N95 OR mask )", {0, 1, 6}, ""),
        ("ebsco", "TI N95 OR TI mask", {0, 1, 6}, ""),
        ("ebsco", "TI (mask N95 OR glove)", {0, 2}, "N95 was read as a word, because no term follows it."),
        ("ebsco", "TI (mask N95)", {0}, "N95 was read as a word"),
        ("ebsco", "TI ( W2 cloth )", {3}, ""),
        ("ebsco", 'TI (mask AND "N95")', {0}, ""),
        ("ebsco", "TI (mask N95 worn)", {0, 6}, "N95 was read as a proximity operator. If it is a word"),
        ("wos", "TI=(near infrared)", {4}, ""),
        ("wos", "TI=(infrared near OR glove)", {2, 4}, "near was read as a word"),
        ("cochrane", "next generation:ti", {5}, ""),
        ("cochrane", "(next generation):ti", {5}, ""),
        ("cochrane", "(generation and next):ti", {5}, ""),
    ],
)
def test_a_proximity_operator_without_a_term_on_each_side_is_a_word(
    dialect: Dialect, line: str, expected: set[int], warned: str
) -> None:
    titles = ["mask N95 worn", "mask", "glove", "W2 cloth", "near infrared", "next generation", "mask quartz worn"]
    index = index_texts(titles)
    parsed = parse_line(line, dialect)

    assert set(evaluate_meaning(parsed.node, index)) == expected
    assert set(search(translate(line, dialect).text, index).records) == expected
    assert any(warned in note.text for note in parsed.notes) if warned else not parsed.notes


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        *(("ovid", "(heart adj3).ti."), ("ovid", "(adj3 heart).ti."), ("embase", "(heart NEAR/3):ti")),
        *(("scopus", "TITLE(W/2 heart)"), ("wos", "TI=(NEAR/2 heart)"), ("cochrane", "(near/2 heart):ti")),
        *(("scopus", "TITLE(heart PRE/2)"), ("wos", "TI=(heart NEAR/2)"), ("cochrane", "(heart next/2):ti")),
    ],
)
def test_a_distance_without_a_term_is_refused(dialect: Dialect, line: str) -> None:
    with pytest.raises(LineError):
        parse_line(line, dialect)


def test_the_distance_of_ovid_and_embase_is_one_more_than_that_of_pubmed() -> None:
    assert translate("(a1 adj3 b1).ti.", "ovid").text == '"a1 b1"[ti:~2]'
    assert translate("(a1 NEAR/3 b1):ti", "embase").text == '"a1 b1"[ti:~2]'
    assert translate("TI ( a1 N3 b1 )", "ebsco").text == '"a1 b1"[ti:~3]'


def test_ovid_counts_no_stopwords_and_pubmed_does() -> None:
    index = index_texts(["heart of the failure", "heart zebra quartz failure"])
    line = "(heart adj2 failure).ti."

    assert set(evaluate_meaning(parse_line(line, "ovid").node, index)) == {0}
    assert not search(translate(line, "ovid").text, index).records
    assert get_label(line, "ovid") == "narrower"


def test_no_distance_extends_over_two_fields() -> None:
    index = index_texts(["heart"])

    assert not evaluate_meaning(parse_line("(heart adj9 heart).ti.", "ovid").node, index)


# Recipes


def test_groups_become_pairs() -> None:
    piece = translate("((heart or cardiac) adj3 (failure or arrest)).ti,ab,kf.", "ovid")

    pairs = [f'"{a} {b}"[tiab:~2]' for a, b in itertools.product(("heart", "cardiac"), ("failure", "arrest"))]
    assert piece.text == " OR ".join(pairs)


def test_adjacent_truncated_words_become_phrases_in_the_orders_of_the_operator() -> None:
    assert translate("(heart adj fail*).ti.", "ovid").text == '"heart fail*"[ti]'
    assert translate("(heart adj1 fail*).ti.", "ovid").text == '"heart fail*"[ti] OR "fail* heart"[ti]'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bed net*.ti.", '"bed net*"[ti]'),
        ('"mental ill*".ti.', '"mental ill*"[ti]'),
        ("anti-vax*.ti.", '"anti vax*"[ti]'),
        ("(mental adj (ill* or dis*)).ti.", '"mental ill*"[ti] OR "mental dis*"[ti]'),
        ("(long adj2 term adj a*).ti.", None),
        ("(hip adj1 replac*).ti.", '"hip replac*"[ti] OR "replac* hip"[ti]'),
    ],
)
def test_the_characters_before_a_wildcard_are_those_of_the_phrase(line: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(CannotExpressError):
            translate(line, "ovid")
        return
    piece = translate(line, "ovid")

    assert (piece.text, choose_label(piece.losses)) == (expected, "exact" if "adj1" not in line else "narrower")


def test_an_order_of_adjacent_words_that_pubmed_cannot_truncate_is_left_out() -> None:
    piece = translate("(hip adj1 rep*).ti.", "ovid")

    assert piece.text == '"hip rep*"[ti]'
    assert any(loss.text.startswith("an alternative was left out: rep* has fewer") for loss in piece.losses)


def test_phrases_with_short_stems_find_the_records_of_their_lines() -> None:
    chance = random.Random(3)
    words = ("a", "an", "ab", "abc", "abcd", "abcde", "bed", "bednet", "net", "nets", "in")
    index = index_texts([" ".join(chance.choices(words, k=6)) for _ in range(400)])
    translated = 0
    for _ in range(400):
        patterns = [word[: chance.randint(1, 5)] + chance.choice(("", "*")) for word in chance.choices(words, k=3)]
        patterns[chance.randrange(3)] += chance.choice(("", "*", "$1", "?"))
        line = f"({' '.join(patterns)}).ti."
        before = "".join(patterns).partition("*")[0]
        if "*" in line and len(re.sub(r"\$1|\W", "", before)) < 4:
            with pytest.raises(CannotExpressError):
                translate(line, "ovid")
            continue
        piece = translate(line, "ovid")
        translated += 1
        meant = evaluate_meaning(parse_line(line, "ovid").node, index)
        found = search(piece.text, index).records
        assert meant <= found, (line, piece.text)
        assert meant == found or choose_label(piece.losses) == "wider", (line, piece.text)
    assert translated > 100


def test_messages_show_words_as_they_were_written() -> None:
    for dialect, line, written in (
        ("embase", "'cognitive behavio?ral therap*':ti", "behavio?ral became"),
        ("wos", "TS=(Tumo$r)", "Tumo$r became"),
        ("ebsco", "TI Colo#r", "Colo#r became"),
        ("ovid", "Burn$1.ti.", "Burn$1 became"),
        ("ovid", "clozapin$3.ti.", "clozapin$3 became"),
    ):
        losses = translate(line, dialect).losses  # type: ignore[arg-type]
        assert any(loss.text.startswith(written) for loss in losses), (line, losses)
    for dialect, line, written in (
        ("ovid", "DMF$.ti.", "DMF$ has fewer"),
        ("ovid", "As$.sh.", "As$ has fewer"),
        ("ovid", "ITS.ti.", "the word 'ITS'"),
        ("ovid", "b#c#d#.ti.", "b#c#d# has more"),
    ):
        with pytest.raises(CannotExpressError, match=re.escape(written)):
            translate(line, dialect)  # type: ignore[arg-type]


def test_a_distance_with_truncation_becomes_and_without_a_word_list() -> None:
    piece = translate("((heart or cardi*) adj3 failure).ti,ab,kf.", "ovid")

    assert piece.text == '"heart failure"[tiab:~2] OR (cardi*[tiab] AND failure[tiab])'
    assert "wider" in {loss.direction for loss in piece.losses}


def test_a_word_list_keeps_the_distance_and_its_words_are_listed() -> None:
    words = WordList("seeds.txt", ("failing", "failed", "failure", "heart"))
    piece = translate("(heart adj3 fail*).ti,ab,kf.", "ovid", Translator(words))

    assert piece.text == " OR ".join(f'"heart {word}"[tiab:~2]' for word in ("failing", "failed", "failure"))
    assert any("seeds.txt: failing, failed, failure" in loss.text for loss in piece.losses)
    assert choose_label(piece.losses) == "narrower"


def test_and_can_replace_every_distance() -> None:
    piece = translate("(heart adj3 failure).ti,ab,kf.", "ovid", Translator(proximity="and"))

    assert piece.text == "heart[tiab] AND failure[tiab]"
    assert choose_label(piece.losses) == "wider"


def test_several_distances_become_one() -> None:
    piece = translate("(growth adj2 hormone adj3 factor).ti.", "ovid")

    assert piece.text == '"growth hormone factor"[ti:~3]'


def test_a_phrase_in_a_distance_is_wider() -> None:
    piece = translate("(heart failure NEAR/3 drug):ti".replace("heart failure", "'heart failure'"), "embase")

    assert piece.text == '"heart failure drug"[ti:~2]'
    assert choose_label(piece.losses) == "wider"


def test_too_many_pairs_give_up_the_distance_and_say_so() -> None:
    many = " or ".join(f"word{number}" for number in range(20))
    piece = translate(f"(({many}) adj3 ({many})).ti.", "ovid")

    assert "~" not in piece.text
    assert any("400" in loss.text for loss in piece.losses)


@pytest.mark.parametrize("line", ["((heart and lung) adj3 failure).ti.", "(heart adj3 (failure not acute)).ti."])
def test_and_and_not_in_a_distance_have_no_meaning(line: str) -> None:
    with pytest.raises(CannotExpressError):
        parse_line(line, "ovid")


# Fields, wildcards, headings and limits


TABLES: list[tuple[Dialect, str, str, str]] = [
    ("ovid", "asthma.ti.", "asthma[ti]", "exact"),
    ("ovid", "asthma.ab.", "asthma[tiab]", "wider"),
    ("ovid", "asthma.ti,ab.", "asthma[tiab]", "wider"),
    ("ovid", "asthma .ab , ti .", "asthma[tiab]", "wider"),
    ("ovid", "(asthma).ti. or .ab.", "asthma[tiab]", "wider"),
    ("ovid", "asthma.tw", "asthma[tiab]", "wider"),
    ("ovid", "asthma.tw,kf.", "asthma[tiab]", "exact"),
    ("ovid", "asthma.ti,ab,kw.", "asthma[tiab]", "wider"),
    ("ovid", "asthma.kf.", "asthma[ot]", "exact"),
    ("ovid", "asthma.mp.", "asthma[tw] OR asthma[tt]", "wider"),
    ("ovid", "asthma", "asthma[tw] OR asthma[tt]", "wider"),
    ("ovid", "asthma.af.", '"asthma"[all]', "narrower"),
    ("ovid", "asthma.ot.", "asthma[tt]", "exact"),
    ("ovid", "boston.in.", "boston[ad]", "exact"),
    ("ovid", "humans.sh.", '"humans"[mh]', "exact"),
    ("ovid", "drug therapy.fs.", '"drug therapy"[sh]', "exact"),
    ("ovid", "dt.fs.", '"drug therapy"[sh]', "exact"),
    ("ovid", "therapy.fs.", '"therapy"[sh:noexp]', "exact"),
    ("ovid", "randomized controlled trial.pt.", '"randomized controlled trial"[pt]', "wider"),
    ("ovid", "exp randomized controlled trial/", '"randomized controlled trial"[pt]', "exact"),
    ("ovid", "Neer C$.au.", "neer c[au]", "exact"),
    ("ovid", "Gerber C.au.", '"gerber c"[au]', "exact"),
    ("ovid", "english.lg.", "english[la]", "exact"),
    ("ovid", "(asthma or wheeze).ti.", "asthma[ti] OR wheeze[ti]", "exact"),
    ("ovid", "vaccin$.ti.", "vaccin*[ti]", "exact"),
    ("ovid", "vaccin:.ti.", "vaccin*[ti]", "exact"),
    ("ovid", "muscle$1.ti.", "muscle*[ti]", "wider"),
    ("ovid", "organi?ation.ti.", "organi*ation[ti]", "wider"),
    ("ovid", "hypertension/", '"hypertension"[mh:noexp]', "exact"),
    ("ovid", "exp Hypertension/", '"Hypertension"[mh]', "exact"),
    ("ovid", "*Hypertension/", '"Hypertension"[majr:noexp]', "exact"),
    ("ovid", "exp *Hypertension/", '"Hypertension"[majr]', "exact"),
    ("ovid", "Wounds and Injuries/", '"Wounds and Injuries"[mh:noexp]', "exact"),
    ("ovid", "Asthma/dt [Drug Therapy]", '"Asthma/drug therapy"[mh:noexp]', "exact"),
    ("ovid", "exp Asthma/dt, pc", '"Asthma/drug therapy"[mh] OR "Asthma/prevention & control"[mh]', "exact"),
    ("ovid", 'limit 3 to yr="2010 -Current"', "#3 AND 2010:3000[dp]", "wider"),
    ("ovid", 'limit 3 to yr="2010-2015"', "#3 AND 2010:2015[dp]", "wider"),
    ("ovid", "limit 3 to english language", "#3 AND english[la]", "exact"),
    ("ovid", "limit 3 to (humans and english language)", "#3 AND humans[mh] AND english[la]", "exact"),
    ("ovid", "3 and exp Child/", '#3 AND "Child"[mh]', "exact"),
    ("ovid", "3 and Child/", '#3 AND "Child"[mh:noexp]', "exact"),
    ("ovid", '"Costs and Cost Analysis"/', '"Costs and Cost Analysis"[mh:noexp]', "exact"),
    ("ovid", "limit 3 to animals", "#3 AND animals[mh:noexp]", "exact"),
    ("ovid", "limit 3 to (full text and english)", "#3 AND english[la]", "wider"),
    ("ovid", 'limit 3 to "middle aged (45 plus years)"', "#3 AND (middle aged[mh] OR aged[mh])", "exact"),
    ("ovid", "limit 3 to (embase or english)", "#3", "wider"),
    ("ovid", 'limit 3 to "diagnosis (maximizes specificity)"', "#3", "wider"),
    ("embase", "#3 AND [humans]/lim AND [english]/lim", "#3 AND humans[mh] AND english[la]", "narrower"),
    ("embase", "#3 AND [embase]/lim NOT [medline]/lim", "#3", "wider"),
    ("embase", "#3 AND [child]/lim AND [2010-2020]/py", "#3 AND child[mh] AND 2010:2020[dp]", "narrower"),
    ("embase", "#3 AND ('article'/it OR review/it)", '#3 AND ("journal article"[pt] OR "review"[pt])', "narrower"),
    ("embase", "#3 NOT ([editorial]/lim OR [conference abstract]/lim)", '#3 NOT "editorial"[pt]', "narrower"),
    ("wos", "#3 AND DT=(Article OR Review)", '#3 AND ("journal article"[pt] OR "review"[pt])', "narrower"),
    ("wos", "#3 AND DT=(Meeting Abstract) AND WC=(Oncology)", "#3", "wider"),
    (
        "wos",
        "#3 and Review Article (Document Types) and 2010 or 2011 (Publication Years)",
        '#3 AND "review"[pt] AND (2010:2010[dp] OR 2011:2011[dp])',
        "narrower",
    ),
    ("scopus", '#3 AND (LIMIT-TO(DOCTYPE,"ar"))', '#3 AND "journal article"[pt]', "narrower"),
    ("scopus", '#3 AND (EXCLUDE(DOCTYPE,"re") OR EXCLUDE(SUBJAREA,"VETE"))', '#3 NOT "review"[pt]', "narrower"),
    ("scopus", "#3 AND PUBYEAR < 2020", "#3 AND 1000:2019[dp]", "wider"),
    ("ebsco", "S3 Limiters - Peer Reviewed; English Language", "#3 AND english[la]", "wider"),
    (
        "ebsco",
        "S3 Limiters - Age Groups: Adult: 19-44 years, Aged: 65+ years",
        "#3 AND (adult[mh:noexp] OR aged[mh])",
        "exact",
    ),
    ("pubmed", "#3 Filters: Aged: 65+ years, Female", "(#3) AND aged[mh] AND female[mh]", "exact"),
    (
        "pubmed",
        "#3 Filters: Humans, 80 and over: 80+ years",
        '(#3) AND humans[mh] AND "aged, 80 and over"[mh]',
        "exact",
    ),
    (
        "pubmed",
        "#3 Filters: Aged, 80 and over, Infant, Newborn, Female",
        '(#3) AND ("aged, 80 and over"[mh] OR infant, newborn[mh]) AND female[mh]',
        "exact",
    ),
    ("pubmed", "#3 Filters: Clinical Trial, Phase III", "(#3) AND clinical trial, phase iii[pt]", "exact"),
    (
        "ebsco",
        "S3 Limiters - Age Groups: Infant, Newborn: birth-1 month, Aged, 80 and over",
        '#3 AND (infant, newborn[mh] OR "aged, 80 and over"[mh])',
        "exact",
    ),
    (
        "ebsco",
        "S3 Limiters - Publication Type: Clinical Trial, Phase III, Review",
        '#3 AND ("clinical trial, phase iii"[pt] OR "review"[pt])',
        "wider",
    ),
    ("ovid", "limit 3 to aged, 80 and over", '#3 AND "aged, 80 and over"[mh]', "exact"),
    ("ovid", 'limit 3 to "aged (80 and over)"', '#3 AND "aged, 80 and over"[mh]', "exact"),
    ("ovid", "limit 3 to (humans and aged, 80 and over)", '#3 AND humans[mh] AND "aged, 80 and over"[mh]', "exact"),
    (
        "ovid",
        "limit 3 to (humans and (newborn or aged <80 and over>))",
        '#3 AND humans[mh] AND (infant, newborn[mh] OR "aged, 80 and over"[mh])',
        "exact",
    ),
    (
        "ovid",
        "limit 3 to (young adult and adult (19-24 and 19-44) and english)",
        "#3 AND (young adult[mh] OR adult[mh:noexp]) AND english[la]",
        "exact",
    ),
    ("ovid", "limit 3 to middle aged + aged (45 + years)", "#3 AND (middle aged[mh] OR aged[mh])", "exact"),
    ("ovid", "limit 3 to abstracts", "#3 AND hasabstract", "exact"),
    ("ovid", 'limit 3 to "all adult (19 plus years)"', "#3 AND adult[mh]", "exact"),
    ("ovid", "limit 3 to randomized controlled trial", '#3 AND "randomized controlled trial"[pt]', "wider"),
    ("ovid", "or/1-3", "#1 OR #2 OR #3", "exact"),
    ("ovid", "and/1,3-4", "#1 AND #3 AND #4", "exact"),
    ("ovid", "1-3/or", "#1 OR #2 OR #3", "exact"),
    ("ovid", "OR 1-3", "#1 OR #2 OR #3", "exact"),
    ("ovid", "1 and 2 or 3", "(#1 AND #2) OR #3", "exact"),
    ("ovid", "(1 or 2) not 3", "(#1 OR #2) NOT #3", "exact"),
    ("ovid", "exp Pain/ and 3", '"Pain"[mh] AND #3', "exact"),
    ("ovid", "(trisomy 21).ti.", '"trisomy 21"[ti]', "exact"),
    ("ovid", "4 use ppez", "#4", "exact"),
    ("ovid", "remove duplicates from 4", "#4", "exact"),
    ("embase", "asthma:ti,ab,kw", "asthma[tiab]", "exact"),
    ("embase", "heart failure:ti", "heart[ti] AND failure[ti]", "exact"),
    ("embase", "#1 AND [english]/lim", "#1 AND english[la]", "exact"),
    ("embase", "#1 AND [2010-2015]/py", "#1 AND 2010:2015[dp]", "wider"),
    ("ebsco", '(MH "Asthma+")', '"Asthma"[mh]', "exact"),
    ("ebsco", '(MH "Asthma")', '"Asthma"[mh:noexp]', "exact"),
    ("ebsco", '(MM "Asthma+")', '"Asthma"[majr]', "exact"),
    ("ebsco", '(MH "Asthma+/DT")', '"Asthma/drug therapy"[mh]', "exact"),
    ("ebsco", 'TI asthma OR AB "lung function"', 'asthma[ti] OR "lung function"[tiab]', "wider"),
    ("ebsco", "S1 OR S2 AND S3", "#1 OR (#2 AND #3)", "exact"),
    ("wos", "TI=(asthma*)", "asthma*[ti]", "exact"),
    ("wos", "TS=(asthma*)", "asthma*[tiab]", "narrower"),
    ("wos", "#1 AND #2", "#1 AND #2", "exact"),
    ("scopus", "TITLE(asthma* OR wheez* AND child*)", "(asthma*[ti] OR wheez*[ti]) AND child*[ti]", "exact"),
    ("scopus", "TITLE(asthma*) AND PUBYEAR > 2010", "asthma*[ti] AND 2011:3000[dp]", "wider"),
    ("scopus", "TITLE(asthma*) AND NOT TITLE(child*)", "asthma*[ti] NOT child*[ti]", "exact"),
    ("cochrane", "MeSH descriptor: [Asthma] explode all trees", '"Asthma"[mh]', "exact"),
    ("cochrane", "MeSH descriptor: [Asthma] this term only", '"Asthma"[mh:noexp]', "exact"),
    ("cochrane", '[mh "Asthma"]', '"Asthma"[mh]', "exact"),
    ("cochrane", '[mh ^"Asthma"]', '"Asthma"[mh:noexp]', "exact"),
    (
        "cochrane",
        '[mh ^"Asthma"/DT,PC]',
        '"Asthma/drug therapy"[mh:noexp] OR "Asthma/prevention & control"[mh:noexp]',
        "exact",
    ),
    ("cochrane", "{or #1-#3}", "#1 OR #2 OR #3", "exact"),
    ("cochrane", "#1 and {or #2-#3}", "#1 AND (#2 OR #3)", "exact"),
    ("pubmed", "asthma[ti] or wheeze[ti]", "asthma[ti] OR wheeze[ti]", "exact"),
    ("pubmed", "#1 AND asthma[ti]", "#1 AND asthma[ti]", "exact"),
]


@pytest.mark.parametrize(("dialect", "line", "expected", "wanted"), TABLES)
def test_a_line_becomes_its_line_of_pubmed(dialect: Dialect, line: str, expected: str, wanted: str) -> None:
    piece = translate(line, dialect)

    assert (piece.text, choose_label(piece.losses)) == (expected, wanted)


def test_a_short_stem_is_spelled_out() -> None:
    piece = translate("wom?n.ti.", "ovid")

    assert {"women[ti]", "woman[ti]", "womn[ti]"} <= set(piece.text.split(" OR "))
    assert choose_label(piece.losses) == "exact"


def test_a_stem_that_cannot_be_spelled_out_needs_a_word_list() -> None:
    words = WordList("words", ("vein", "venous", "vena"))

    with pytest.raises(CannotExpressError):
        translate("ven*.ti.", "ovid")
    assert translate("ven*.ti.", "ovid", Translator(words)).text == "venous[ti] OR vena[ti]"


def test_an_alternative_that_cannot_be_searched_is_left_out_in_words() -> None:
    piece = translate("(vein* or ven*).ti.", "ovid")

    assert piece.text == "vein*[ti]"
    assert choose_label(piece.losses) == "narrower"


def test_a_not_turns_the_losses_of_what_it_excludes() -> None:
    assert get_label("asthma.ti. not child.ab.", "ovid") == "narrower"
    assert get_label("asthma.ab. not child.ti.", "ovid") == "wider"


def test_headings_are_checked_against_mesh() -> None:
    mesh = Vocabulary([Heading("Stroke", ("C10.1",), ("Cerebrovascular Accident", "Brain Attack"))])
    translator = Translator(vocabulary=mesh)

    renamed = translate("exp Brain Attack/ or (asthma.ti. not exp Brain Attack/)", "ovid", translator)
    assert renamed.text == '"Stroke"[mh] OR (asthma[ti] NOT "Stroke"[mh])'
    assert renamed.notes == (Note("'Brain Attack' is now 'Stroke'.", "heading-renamed"),)
    unknown = translate("exp Brain Fever/", "ovid", translator)
    assert (unknown.text, choose_label(unknown.losses)) == ('"Brain Fever"[tiab]', "not_expressible")


def test_a_former_name_of_a_heading_is_known_without_a_file() -> None:
    assert translate("exp Heart Failure, Congestive/", "ovid").text == '"Heart Failure"[mh]'


def test_emtree_is_not_mesh() -> None:
    mesh = Vocabulary([Heading("Heart Failure", ("C14.1",))])
    line = parse_line("'heart failure'/exp", "embase").node

    words = Translator().translate(line)
    proposed = Translator(vocabulary=mesh).translate(line)

    assert (words.text, choose_label(words.losses)) == ('"heart failure"[tiab]', "not_expressible")
    assert (proposed.text, choose_label(proposed.losses)) == ('"Heart Failure"[mh]', "not_expressible")


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        ("ovid", "4 use oemezd"),
        ("embase", "[embase]/lim"),
        ("ovid", "Aspirin/ct"),
        ("ovid", "*therapy.ti."),
        ("ovid", "asthma.jw."),
        ("embase", "#1 OR [embase]/lim"),
        ("embase", "aspirin:tn"),
        ("ovid", "from 4 keep 1-10"),
        ("cochrane", "MeSH descriptor: [Asthma] explode tree 1"),
    ],
)
def test_a_line_without_an_equivalent_is_refused(dialect: Dialect, line: str) -> None:
    with pytest.raises(CannotExpressError):
        translate(line, dialect)


@pytest.mark.parametrize("line", ["(asthma or .ti.", "asthma and", "asthma)", "or asthma.ti."])
def test_a_broken_line_is_refused(line: str) -> None:
    with pytest.raises(LineError):
        parse_line(line, "ovid")


def test_a_field_without_parentheses_applies_to_the_last_term() -> None:
    parsed = parse_line("heart or cardiac.ti.", "ovid")

    assert translate("heart or cardiac.ti.", "ovid").text == "heart[tw] OR heart[tt] OR cardiac[ti]"
    assert [note.code for note in parsed.notes] == ["suffix-binds-last"]


DETECTED: list[tuple[str, Dialect]] = [
    ("(heart adj3 failure).ti,ab.", "ovid"),
    ("exp Neoplasms/dt", "ovid"),
    ("limit 4 to humans", "ovid"),
    ("'heart failure'/exp OR asthma:ti,ab", "embase"),
    ('(MH "Neoplasms+") OR TI asthma', "ebsco"),
    ("S1 OR S2", "ebsco"),
    ("TS=(heart NEAR/3 failure)", "wos"),
    ("TITLE-ABS-KEY(heart W/3 failure)", "scopus"),
    ("MeSH descriptor: [Asthma] explode all trees", "cochrane"),
    ('[mh "Asthma"] or asthma:ti,ab,kw', "cochrane"),
    ('"Asthma"[mh] OR asthma[tiab]', "pubmed"),
]


@pytest.mark.parametrize(("line", "dialect"), DETECTED)
def test_the_service_of_a_line_shows(line: str, dialect: Dialect) -> None:
    assert detect(line) == dialect


def test_every_service_has_a_line_here() -> None:
    assert {dialect for _, dialect in DETECTED} == set(DIALECTS)
