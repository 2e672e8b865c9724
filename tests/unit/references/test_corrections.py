"""Corrections of references: which fields of a reference change."""

import pytest

from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.check_result import CheckedReference
from entrez_kit.references.check.corrections import build_correction
from entrez_kit.references.check.findings import Finding
from entrez_kit.references.files.references import Reference

pytestmark = pytest.mark.fast

WRONG_PMID = Finding(code="mismatch", field="pmid", given="99999999", message="pmid: PubMed has no record of 99999999")


@pytest.mark.parametrize(
    ("finding", "changed"),
    [
        (WRONG_PMID, ["pmid"]),
        (WRONG_PMID.model_copy(update={"accepted": True}), []),
        (Finding(code="mismatch", field="year", given="1999", message="year: 1999 → 2019"), []),
        (Finding(code="unchecked", message="not all sources could be checked for a retraction: Crossref"), []),
    ],
)
def test_a_pmid_without_a_record_is_removed_if_the_cited_work_has_none(finding: Finding, changed: list[str]) -> None:
    reference = Reference(key="one", pmid="99999999", doi="10.5555/one")
    outcome = CheckedReference(
        key="one", status=finding.code, findings=[finding], doi="10.5555/one", detail=finding.message
    )
    article = Article(pmid="", title="One", doi="10.5555/one", url="https://doi.org/10.5555/one")

    correction = build_correction(reference, outcome, article, None)

    assert (list(correction.fields) if correction else []) == changed
