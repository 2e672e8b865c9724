"""Matching references over the sandbox, and errors of NCBI's matcher."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from fixture_types import KitFor
from prepared_reply import prepare_reply

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.pubmed.models import Article
from entrez_kit.references.match import LOOKUP_CITATION, MatchResult
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.transport import Reply

JOURNAL = "Ann Imaginary Genome Ed (Demo)"


def run_match(kit: EntrezKit, *citations: dict[str, str]) -> MatchResult:
    return LOOKUP_CITATION.run(kit.services, {"citations": list(citations)})


def list_outcomes(result: MatchResult) -> list[tuple[str, str, str | None]]:
    return [(one.key, one.status, one.pmid) for one in result.results]


def get_first_article(kit: EntrezKit) -> Article:
    article = (kit.fetch_contents(pmids=["99000001"]).articles or [])[0]
    assert isinstance(article, Article)
    return article


@pytest.fixture(name="reference")
def reference_fixture(sandbox: Sandbox, kit_for: KitFor) -> dict[str, str]:
    """Return the reference of the first article of the demo corpus."""
    journal = get_first_article(kit_for(sandbox)).journal_info
    assert journal is not None
    assert journal.publication_date is not None
    return {
        "journal": journal.iso_abbreviation or "",
        "year": str(journal.publication_date.year),
        "volume": journal.volume or "",
        "first_page": (journal.pages or "").split("-")[0],
        "author_name": "Marrowby TJ",
    }


def test_a_reference_is_matched_and_shown_with_its_record(
    sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]
) -> None:
    result = run_match(kit_for(sandbox), {**reference, "key": "marrowby19"})
    found = result.results[0]

    assert (found.key, found.status, found.pmid) == ("marrowby19", "matched", "99000001")
    assert found.matched_first_author == "Marrowby TJ"
    assert found.title
    assert found.warnings == []
    assert (result.total_matched, result.total_submitted, result.total_warnings) == (1, 1, 0)
    assert result.missing_error() is None


def test_references_have_one_outcome_each_in_order(
    sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]
) -> None:
    result = run_match(
        kit_for(sandbox),
        {**reference, "first_page": "99999", "key": "no such page"},
        reference,
        {"journal": "No Such Journal", "year": "2020", "volume": "1", "first_page": "1"},
        {"journal": reference["journal"], "author_name": "Luo Q", "key": "too many"},
        {"author_name": "Doe J", "key": "too little"},
        {"year": "1950", "author_name": "Nobody X", "key": "no journal"},
        reference,
    )

    assert list_outcomes(result) == [
        ("no such page", "not_found", None),
        ("2", "matched", "99000001"),
        ("3", "not_found", None),
        ("too many", "ambiguous", None),
        ("too little", "invalid", None),
        ("no journal", "not_found", None),
        ("7", "matched", "99000001"),
    ]
    assert "journal" in (result.results[2].detail or "")
    assert 2 <= len(result.results[3].candidate_pmids) <= 5
    missing_error = result.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is True
    assert len(missing_error.details["missing"]) == 5


def test_a_title_finds_a_reference_with_a_wrong_place(
    sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]
) -> None:
    kit = kit_for(sandbox)
    title = get_first_article(kit).title
    result = run_match(
        kit,
        {"title": title, "author_name": "Marrowby TJ"},
        {**reference, "volume": "999", "title": title},
        {"title": "A title that no article of this corpus has", "year": "2019"},
    )

    assert [one.status for one in result.results] == ["matched", "matched", "not_found"]
    assert [one.pmid for one in result.results] == ["99000001", "99000001", None]


def test_an_exact_title_is_preferred_to_a_notice_with_that_title(sandbox: Sandbox, kit_for: KitFor) -> None:
    title = "Moonlight exposure doubles overnight memory in shift workers"
    titles = (title, f"Expression of concern: {title}", f"Retracted: {title}")

    result = run_match(kit_for(sandbox), *({"title": title} for title in titles))

    assert [one.pmid for one in result.results] == ["99000050", "99000052", "99000050"]


@pytest.mark.parametrize(
    ("changed", "status", "codes"),
    [
        ({"author_name": "Fenwick-Achebe I"}, "matched", []),
        ({"author_name": "Husain M"}, "mismatch", ["author_mismatch"]),
        ({"author_name": "Marowby TJ"}, "matched", ["author_mismatch"]),
        ({"year": "1999"}, "matched", ["year_mismatch"]),
        ({"author_name": "Husain M", "year": "1999"}, "mismatch", ["author_mismatch", "year_mismatch"]),
        ({"volume": "999", "title": "Oral semaglutide and cardiovascular outcomes"}, "not_found", []),
        (
            {"author_name": "Husain M", "title": "Oral semaglutide and cardiovascular outcomes"},
            "mismatch",
            ["title_mismatch", "author_mismatch"],
        ),
    ],
)
def test_the_article_found_is_compared_with_the_whole_record(
    sandbox: Sandbox,
    kit_for: KitFor,
    reference: dict[str, str],
    changed: dict[str, str],
    status: str,
    codes: list[str],
) -> None:
    found = run_match(kit_for(sandbox), {**reference, **changed}).results[0]

    assert found.status == status
    assert [warning.code for warning in found.warnings] == codes
    if status == "mismatch":
        assert found.candidate_pmids == ["99000001"]
        assert found.pmid is None
    if status in ("mismatch", "matched"):
        assert "PMID 99000001" in (found.citation or "")


def test_another_title_at_the_place_is_a_mismatch_with_the_article_found(
    sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]
) -> None:
    other = "Ex vivo base-edited progenitor cells for an invented haemoglobin disorder: a randomised, sham-controlled "
    invented, real = run_match(
        kit_for(sandbox),
        {**reference, "title": "Sleep and moonlight in workers that nobody asked"},
        {**reference, "title": f"{other}phase 2 trial (EDIT-HB)", "author_name": "Okpara-Lindgren C"},
    ).results

    assert (invented.status, invented.pmid, invented.candidate_pmids) == ("mismatch", None, ["99000001"])
    assert [warning.code for warning in invented.warnings] == ["title_mismatch"]
    assert "Base editing of a cryptic splice site" in (invented.citation or "")
    assert (real.status, real.candidate_pmids) == ("mismatch", ["99000004", "99000001"])


def test_records_at_the_same_place_are_compared_with_all_given_fields(
    sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]
) -> None:
    """NCBI only reports that several match; the fields that its matcher does not use decide which one is meant."""
    kit = kit_for(sandbox)
    article = get_first_article(kit)
    journal = article.journal_info
    assert journal is not None
    crowd = {"journal": reference["journal"], "author_name": "Luo Q"}
    results = run_match(
        kit,
        crowd,
        {**crowd, "title": article.title},
        {**crowd, "title": "A title that none of them has"},
        {**crowd, "year": reference["year"], "first_page": journal.pages or ""},
    ).results

    assert [result.status for result in results] == ["ambiguous", "matched", "mismatch", "matched"]
    assert [result.pmid for result in results] == [None, "99000001", None, "99000001"]
    assert len(results[0].candidate_pmids) > 1


def test_only_useless_references_are_invalid_input_and_only_unknown_ones_are_not_found(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)

    assert isinstance(run_match(kit, {"author_name": "Doe J"}, {}).missing_error(), InvalidInput)
    unknown = run_match(kit, {"journal": "No Such Journal", "year": "2020"}).missing_error()
    assert isinstance(unknown, EntityNotFound)
    assert unknown.details["partial"] is False


def test_an_invalid_year_is_rejected() -> None:
    with pytest.raises(InvalidInput, match=r"citations\.0\.year"):
        LOOKUP_CITATION.build({"citations": [{"journal": "J", "year": "24"}]})
    with pytest.raises(InvalidInput, match="citations"):
        LOOKUP_CITATION.build({"citations": []})


def test_an_outage_is_an_error_and_not_a_verdict(sandbox: Sandbox, kit_for: KitFor, reference: dict[str, str]) -> None:
    sandbox.take_down("ecitmatch")

    with pytest.raises(UpstreamError):
        run_match(kit_for(sandbox, no_cache=True), reference)


def test_faults_do_not_change_the_result(kit_for: KitFor, reference: dict[str, str]) -> None:
    faults = {"429": 0.1, "500": 0.1, "html": 0.1, "cut": 0.1}
    with Sandbox(enforce_limits=False, faults=faults, seed=2) as faulty:
        result = run_match(kit_for(faulty), *([reference] * 60), {**reference, "first_page": "9999"})

    assert [one.status for one in result.results] == ["matched"] * 60 + ["not_found"]


# A matcher with errors


class PreparedMatcher:
    """ECitMatch with prepared lines, and a PubMed that has every requested record."""

    def __init__(self, *answers: Callable[[str], str | None] | Exception, control: bool = True) -> None:
        self.answers = list(answers)
        self.control = control
        self.sent: list[list[str]] = []
        self.eutils = SimpleNamespace(at_once=1, ecitmatch=self.ecitmatch, efetch=self.efetch, esearch=self.esearch)

    def ecitmatch(self, bdata: str, db: str, read: Any, keep: Any) -> Reply:
        lines = bdata.split("\r")
        assert all(line.count("|") == 6 for line in lines)
        self.sent.append(lines[1:])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        said: Iterable[str] = (f"{line}{verdict}" for line in lines[1:] if (verdict := answer(line)) is not None)
        head = [f"{lines[0]}NOT_FOUND"] if self.control else []
        return prepare_reply("ecitmatch", "".join(f"{line}\n" for line in [*head, *said]).encode(), read)

    def efetch(self, ids: list[str], read: Any, **_: Any) -> Reply:
        records = "".join(
            f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>T</ArticleTitle></Article>"
            "</MedlineCitation></PubmedArticle>"
            for pmid in ids
        )
        return prepare_reply("efetch", f"<PubmedArticleSet>{records}</PubmedArticleSet>".encode(), read)

    def esearch(self, **_: Any) -> Reply:
        return prepare_reply("esearch", b"<eSearchResult><Count>0</Count><IdList/></eSearchResult>")

    def run(self, *citations: dict[str, str]) -> MatchResult:
        return LOOKUP_CITATION.compute(self, LOOKUP_CITATION.build({"citations": list(citations)}))  # type: ignore[arg-type]


FULL = {"journal": "J", "year": "2020", "volume": "1", "first_page": "1"}


def test_rows_that_ncbi_drops_are_requested_again_separately() -> None:
    matcher = PreparedMatcher(lambda line: None if "ek1" in line else "99000001", lambda line: "99000002")
    result = matcher.run(FULL, FULL, FULL)

    assert [one.pmid for one in result.results] == ["99000001", "99000002", "99000001"]
    assert [len(lines) for lines in matcher.sent] == [3, 1]


def test_a_row_that_is_dropped_twice_is_an_error_and_not_unknown() -> None:
    result = PreparedMatcher(lambda line: None if "ek1" in line else "99000001").run(FULL, FULL)

    assert [one.status for one in result.results] == ["matched", "error"]
    assert isinstance(result.missing_error(), UpstreamError)


def test_rows_that_were_not_requested_are_ignored() -> None:
    """A key that NCBI or a proxy garbled, of no reference or of another request, belongs to no reference."""
    matcher = PreparedMatcher(
        lambda line: "99000001\nJ|2020|1|1||ek7|99000003\nJ|2020|1|1||ek1|99000003", lambda line: None
    )
    result = matcher.run(FULL, {"year": "2020", "volume": "1"})

    assert [(one.status, one.pmid) for one in result.results] == [("matched", "99000001"), ("not_found", None)]


def test_a_row_without_a_journal_does_not_affect_later_rows() -> None:
    """NCBI's answer ends at a line without a journal that matches nothing."""
    cut = False

    def answer(line: str) -> str | None:
        nonlocal cut
        cut = cut or line.startswith("|")
        return None if cut else "99000001"

    matcher = PreparedMatcher(answer)
    result = matcher.run(FULL, {"year": "2020", "volume": "1"}, FULL)

    assert [one.status for one in result.results] == ["matched", "not_found", "matched"]
    assert [len(lines) for lines in matcher.sent] == [2, 1]


def test_a_reply_without_our_own_line_is_invalid() -> None:
    with pytest.raises(UpstreamError, match="control"):
        PreparedMatcher(lambda line: None, control=False).run(FULL, {"year": "2020"})


def test_a_number_of_citations_is_not_a_pmid() -> None:
    result = PreparedMatcher(lambda line: "AMBIGUOUS (783 citations)").run(FULL)

    assert result.results[0].model_dump() == {
        "key": "1",
        "status": "ambiguous",
        "detail": "783 records fit; add volume, issue, pages, author or title",
    }


def test_repeated_and_unusual_keys_of_the_caller_are_returned() -> None:
    matcher = PreparedMatcher(lambda line: "99000001")
    result = matcher.run({**FULL, "key": "a|b\n"}, {**FULL, "key": "x"}, {**FULL, "key": "x"})

    assert [one.key for one in result.results] == ["a|b\n", "x", "x"]
    assert [line.split("|")[5] for line in matcher.sent[0]] == ["ek0", "ek1", "ek2"]


def test_several_candidates_are_all_read_and_compared() -> None:
    result = PreparedMatcher(lambda line: "AMBIGUOUS 99000001, 99000002").run(
        {**FULL, "title": "T"}, {**FULL, "title": "U"}, FULL
    )

    assert [one.status for one in result.results] == ["ambiguous", "mismatch", "ambiguous"]
    assert [one.candidate_pmids for one in result.results] == [["99000001", "99000002"]] * 3


def test_a_reference_that_fails_its_batch_is_an_error_and_the_others_are_matched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("entrez_kit.core.batches.time.sleep", lambda seconds: None)

    def answer(line: str) -> str:
        if line.endswith("|ek7|"):
            raise UpstreamError("broke")
        return "99000001"

    result = PreparedMatcher(answer).run(*[FULL] * 80)

    assert [one.status for one in result.results] == ["matched"] * 7 + ["error"] + ["matched"] * 72


@pytest.mark.parametrize("error", [UpstreamError("down"), RateLimited("too fast")])
def test_no_answer_raises_the_error(error: Exception) -> None:
    with pytest.raises(type(error)):
        PreparedMatcher(error).run(FULL, FULL)
