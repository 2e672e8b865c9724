"""Claims and citations of drafts and tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.base.sentences import yield_sentence_breaks
from entrez_kit.references.claims.claim_files import read_claims
from entrez_kit.references.claims.claim_results import Claim
from entrez_kit.references.files.references import Reference

BIBLIOGRAPHY = [Reference(key="doe2019", pmid="99000001"), Reference(key="roe", doi="10.5555/ekit.2019.0002")]


def list_claims(text: str, kind: str = "md") -> list[tuple[str, list[str]]]:
    return [(claim.text, claim.ids) for claim in read_claims(text, "it", kind, BIBLIOGRAPHY).claims]


@pytest.mark.parametrize(
    ("draft", "claim", "ids"),
    [
        ("Mucus moves [@doe2019].", "Mucus moves.", ["99000001"]),
        ("Mucus moves [see @doe2019, p. 5; @roe].", "Mucus moves.", ["99000001", "10.5555/ekit.2019.0002"]),
        ("Mucus moves. [@doe2019]", "Mucus moves.", ["99000001"]),
        ("@doe2019 says that mucus moves.", "says that mucus moves.", ["99000001"]),
        ("Mucus moves [@pmid:99000004].", "Mucus moves.", ["99000004"]),
        ("Mucus moves (PMID: 99000004, 99000005).", "Mucus moves.", ["99000004", "99000005"]),
        ("Mucus moves (PMC99000001).", "Mucus moves.", ["PMC99000001"]),
        ("Mucus moves (doi:10.5555/ekit.2019.0001).", "Mucus moves.", ["10.5555/ekit.2019.0001"]),
        ("Mucus moves <https://pubmed.ncbi.nlm.nih.gov/99000004/>.", "Mucus moves.", ["99000004"]),
        ("Mucus moves ([Doe 2019](https://doi.org/10.5555/a)).", "Mucus moves.", ["10.5555/a"]),
        ("Mucus [moves fast](https://doi.org/10.5555/a) here.", "Mucus moves fast here.", ["10.5555/a"]),
        (
            "Doe et al. saw in Fig. 2 *that* it `moves` [@doe2019].",
            "Doe et al. saw in Fig. 2 that it moves.",
            ["99000001"],
        ),
        ('They say "mucus moves by cilia alone" [@roe].', "mucus moves by cilia alone", ["10.5555/ekit.2019.0002"]),
        ("The „so-called“ mucus moves [@roe].", "The „so-called“ mucus moves.", ["10.5555/ekit.2019.0002"]),
        ("> Mucus moves. It does so fast.\n> [@roe]", "Mucus moves. It does so fast.", ["10.5555/ekit.2019.0002"]),
    ],
)
def test_a_sentence_is_a_claim_about_what_it_cites(draft: str, claim: str, ids: list[str]) -> None:
    assert list_claims(f"Nothing is cited here. {draft}" if not draft.startswith(">") else draft) == [(claim, ids)]


def test_every_claim_has_its_line_and_code_headings_and_front_matter_are_not_claims() -> None:
    head = "---\ntitle: '[@doe2019] no.'\n---\n# Head [@doe2019]\n\n"
    draft = f"{head}One a.\nTwo moves [@roe].\n\n```\nx [@roe]\n```\n- Three moves [@roe]\n"

    found = read_claims(draft, "it", "md", BIBLIOGRAPHY).claims

    assert [(one.text, one.line) for one in found] == [("Two moves.", 7), ("Three moves", 12)]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        (
            "Mucus moves at five mm [@doe2019], while it stops at six mm [@roe].",
            [("Mucus moves at five mm", ["99000001"]), ("it stops at six mm.", ["10.5555/ekit.2019.0002"])],
        ),
        (
            "Mucus moves at five mm [@doe2019] and [@roe] in the lung of mice.",
            [("Mucus moves at five mm and in the lung of mice.", ["99000001", "10.5555/ekit.2019.0002"])],
        ),
        (
            "Mucus [@doe2019] moves at five mm [@roe].",
            [("Mucus moves at five mm.", ["99000001", "10.5555/ekit.2019.0002"])],
        ),
        (
            "Mucus moves at five mm (PMID 5) and it stops at six mm (PMID 6).",
            [("Mucus moves at five mm", ["5"]), ("it stops at six mm.", ["6"])],
        ),
    ],
)
def test_the_text_before_each_of_several_citations_is_its_claim(
    sentence: str, found: list[tuple[str, list[str]]]
) -> None:
    assert list_claims(sentence) == found


def test_numbers_and_footnotes_cite_entries_of_the_draft() -> None:
    draft = (
        "Mucus moves fast.[^a] It stops then.[1–3] It moves [2] again, in 2019 [7].\n\n[^a]: PMID 99000004.\n\n"
        "# References\n\n1. Doe J. A. PMID 99000001.\n2. Roe R. B. doi:10.5555/b\n3. Poe E. C. 2019.\n"
    )

    found = read_claims(draft, "it", "md")

    assert [(claim.text, claim.ids) for claim in found.claims] == [
        ("Mucus moves fast.", ["99000004"]),
        ("It stops then.", ["99000001", "10.5555/b"]),
        ("It moves again, in 2019.", ["10.5555/b"]),
    ]
    assert [warning.message for warning in found.warnings] == [
        "No PMID, PMCID or DOI is known for these citations: 3, 7."
    ]


def test_keys_that_are_in_no_bibliography_are_named() -> None:
    found = read_claims("It moves [@doe2019; @nobody].", "it", "md", BIBLIOGRAPHY)

    assert [warning.code for warning in found.warnings] == ["unknown_keys"]
    assert "@nobody" in found.warnings[0].message


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One a. Two b? “Three” c!", 3),
        ("Seen by Doe et al. In mice, e.g. C57BL, cf. Fig. 2 of Ref. 3, vol. 2, pp. 5.", 1),
        ("At 12 p.p.m. DEHP for 6 h. Eating was free.", 2),
        ("Dr. Roe and J. Doe vs. Mr. Poe. β-Catenin rose… Then it fell.", 3),
        ("(It was so.) It is. (Or not.) 5 mice died.", 4),
    ],
)
def test_a_sentence_does_not_end_at_an_abbreviation(text: str, sentences: int) -> None:
    assert len(list(yield_sentence_breaks(text, lines=True))) + 1 == sentences
    assert len(list(yield_sentence_breaks(text.replace(" ", "\n"), lines=False))) + 1 == sentences


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ('claim,id\n"It moves, fast",99000001\nIt stops,\n', "csv"),
        ('Quote;PMID\n"It moves, fast";99000001\nIt stops;\n', "csv"),
        ("sentence\tpmid\tdoi\nIt moves, fast\t99000001\t\nIt stops\t\t\n", "tsv"),
        ('{"claim": "It moves, fast", "ids": ["99000001"]}\n\n{"text": "It stops", "id": null}\n', "jsonl"),
        ('{"claims": [{"text": "It moves, fast", "ids": 99000001}, {"text": "It stops", "ids": []}]}', "json"),
        ('\ufeffclaim,id\n"It moves, fast",@doe2019\nIt stops,\n', "csv"),
    ],
)
def test_tables_are_read_with_any_names_of_their_columns(table: str, kind: str) -> None:
    assert list_claims(table, kind) == [("It moves, fast", ["99000001"]), ("It stops", [])]


@pytest.mark.parametrize(
    "table",
    [
        "Nr;Sentence ;PMID or DOI\n1;It moves;PMID: 99000001\n",
        "Claim ID,Claim text,Cited PMID\n7,It moves,99000001.0\n",
        "Row id\tQuoted text\tdoi / pmid\n7\tIt moves\thttps://pubmed.ncbi.nlm.nih.gov/99000001/\n",
    ],
)
def test_columns_with_several_words_are_recognised_by_one_of_them(table: str) -> None:
    kind = "tsv" if "\t" in table else "csv"
    ((text, ids),) = list_claims(table, kind)

    assert text == "It moves"
    assert [read_identifier(one).value for one in ids] == ["99000001"]  # type: ignore[union-attr]


def test_a_pmcid_column_needs_no_letters() -> None:
    assert list_claims("claim,pmcid\nIt moves,99000001\n", "csv") == [("It moves", ["PMC99000001"])]


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("a,b\n1,2\n", "csv", "claim and id .* has a, b"),
        ("claim,id\n", "csv", "not contain a claim"),
        ("{not json", "json", "line 1: this is not valid JSON"),
        ("[1]", "json", "not an object"),
        ("Nothing is cited.", "md", "no sentence of this"),
        ("It moves [@nobody].", "md", "No PMID, PMCID or DOI is known for these citations: @nobody"),
        ('claim,id\n"' + "x" * 1_100_000 + '",1\n', "csv", "field larger"),
    ],
)
def test_a_file_without_claims_is_rejected_with_the_reason(text: str, kind: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_claims(text, "it", kind)


@given(st.text(alphabet='ab. [](){}<>@:;,"“”*_`#>-\n1 0/PMIDdoihtps', max_size=400))
def test_no_draft_causes_an_internal_error(draft: str) -> None:
    try:
        found = read_claims(draft, "it", "md").claims
    except InvalidInput:
        return
    assert all(isinstance(claim, Claim) and claim.ids for claim in found)


@pytest.mark.parametrize("ellipsis", ["[...]", "[…]", "[. . .]", "..."])
def test_an_ellipsis_in_a_quotation_is_not_a_citation(ellipsis: str) -> None:
    found = read_claims(f'He wrote: "Growth was the same {ellipsis} in groups" [@pmid99000001].\n', "a.md", "md")

    (claim,) = found.claims
    assert claim.ids == ["99000001"]
    assert claim.text.replace(" ", "") == f"Growth was the same {ellipsis} in groups".replace(" ", "")


def test_british_quotation_marks_enclose_a_quotation() -> None:
    found = read_claims("Roe says that ‘growth didn’t differ between the groups’ [@pmid99000001].\n", "a.md", "md")

    assert [claim.text for claim in found.claims] == ["growth didn’t differ between the groups"]


def test_the_rows_of_a_table_are_claims_with_the_citations_of_the_row() -> None:
    table = (
        "| Claim | Trial | Source |\n|---|---|---|\n| Growth was the same in both groups | A | [@pmid99000001] |\n"
        "| Others grew twice as fast [@pmid99000002] | B | |\n| No source for this long text | C | |\n"
    )

    found = read_claims(f"Some text.\n\n{table}", "a.md", "md")

    assert [(claim.line, claim.text, claim.ids) for claim in found.claims] == [
        (5, "Growth was the same in both groups", ["99000001"]),
        (6, "Others grew twice as fast", ["99000002"]),
    ]
