"""Combinations of answers of the sources, compared with expected results that are computed only from the contract.

A run takes a sample in which every two answers of different sources occur together, or all (see `sampled_cases`).

The real clients run over a transport that sends nothing; the expected results share no code with the chain.
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pytest
from prepared_services import (
    PreparedServices,
    fail_down,
    fail_missing,
    list_nothing,
    write_converted_ids,
    write_found_ids,
    write_hits,
    write_jats,
    write_not_in_pmc,
    write_open_access,
    write_pmc_set,
    write_pubmed_set,
)
from sampled_cases import take_sample

from entrez_kit.base.errors import UpstreamError
from entrez_kit.fulltext.html import unreadable_error
from entrez_kit.fulltext.pdf import Pdf
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.download.guard import Downloaded

PMID, PMCID, DOI = "123", "PMC77", "10.1000/ab.C"
IDS = {"pmid": PMID, "pmcid": PMCID, "doi": DOI}

KINDS = ("pmid", "pmcid", "doi")
LOOKUPS = (
    ("knows", "full"),
    ("unknown", "without pmcid"),
    ("unknown", "no record"),
    ("unknown", "fails"),
    ("fails", "full"),
    ("fails", "without pmcid"),
    ("fails", "no record"),
    ("fails", "fails"),
)
"""The answers of the ID Converter and PubMed about the ids."""
PMC = ("found", "miss", "no-body", "parse-failed", "service-error")
BUCKET = PMC
EUROPEPMC = ("found", "off", "miss", "no-fulltext", "no-body", "parse-failed", "service-error")
UNPAYWALL = ("found", "off", "no-oa", "fetch-failed", "parse-failed", "service-error")


@dataclass(frozen=True)
class Case:
    kind: str
    converter: str
    pubmed: str
    pmc: str
    bucket: str
    europepmc: str
    unpaywall: str


def list_cases() -> Iterator[Case]:
    """Yield every combination; answers after a found text, and answers that are never requested, do not vary."""
    for kind, (converter, pubmed) in itertools.product(KINDS, LOOKUPS):
        for pmc, bucket, europepmc, unpaywall in itertools.product(PMC, BUCKET, EUROPEPMC, UNPAYWALL):
            if pmc == "found" and (bucket, europepmc, unpaywall) != ("found", "found", "found"):
                continue
            if bucket == "found" and pmc != "found" and (europepmc, unpaywall) != ("found", "found"):
                continue
            if europepmc == "found" and unpaywall != "found":
                continue
            case = Case(kind, converter, pubmed, pmc, bucket, europepmc, unpaywall)
            if pmc == bucket or find_lookup_failure(case) is None:  # else neither copy of PMC is requested
                yield case


def list_pairs(some: list[Case]) -> set[frozenset[tuple[str, str]]]:
    """Return every two answers that occur together in a case."""
    return {frozenset(two) for case in some for two in itertools.combinations(asdict(case).items(), 2)}


# The expected results


def compute_expected(case: Case) -> tuple[str | None, list[tuple[str, str]]]:
    """Return the tier of the text, and the answers of the tiers before it."""
    tried: list[tuple[str, str]] = []
    lookup = find_lookup_failure(case)
    if lookup is None:
        if "found" in (case.pmc, case.bucket):
            return "pmc", []
        weight = ["miss", "no-body", "parse-failed", "service-error"]
        tried.append(("pmc", max(case.pmc, case.bucket, key=weight.index)))
    else:
        tried.append(("pmc", lookup))
    if case.europepmc == "found":
        return "europepmc", tried
    tried.append(("europepmc", "not-attempted" if case.europepmc == "off" else case.europepmc))
    doi = find_doi(case)
    if case.unpaywall == "off":
        tried.append(("unpaywall", "not-attempted"))
    elif doi != "known":
        tried.append(("unpaywall", "miss" if doi == "no-doi" and is_unknown_everywhere(case, tried) else doi))
    elif case.unpaywall == "found":
        return "unpaywall", tried
    elif case.unpaywall == "no-oa":  # the answer for a DOI that Unpaywall does not know
        tried.append(("unpaywall", "miss" if is_unknown_everywhere(case, tried) else "no-oa"))
    else:
        tried.append(("unpaywall", case.unpaywall))
    return None, tried


def is_unknown_everywhere(case: Case, tried: list[tuple[str, str]]) -> bool:
    """Return whether no service has a record: PubMed's answer about a PMID is final, else all must agree."""
    outcomes = {outcome for _, outcome in tried}
    if case.converter == "knows" or outcomes & {"no-fulltext", "no-body", "parse-failed"}:
        return False
    if case.converter == "fails" or case.kind == "pmid":  # then PubMed was requested
        if case.pubmed in ("full", "without pmcid"):
            return False
        if case.kind == "pmid" and case.pubmed == "no record":
            return True
    return "service-error" not in outcomes


def find_lookup_failure(case: Case) -> str | None:
    """Return why PMC cannot be requested, None if it can."""
    if case.kind == "pmcid" or case.converter == "knows":
        return None
    if case.converter == "unknown":
        return "not-attempted"
    if case.pubmed == "full":
        return None
    if case.pubmed == "without pmcid":
        return "not-attempted"
    if case.pubmed == "no record":  # final for a PMID; a DOI may still be in PMC
        return "miss" if case.kind == "pmid" else "service-error"
    return "service-error"


def find_doi(case: Case) -> str:
    """Return "known", or the outcome of Unpaywall's tier without a DOI."""
    if case.kind == "doi" or case.converter == "knows":
        return "known"
    if case.europepmc in ("no-fulltext", "no-body", "parse-failed"):  # its record has the DOI
        return "known"
    if case.kind == "pmid":
        return {"full": "known", "without pmcid": "known", "no record": "no-doi", "fails": "service-error"}[case.pubmed]
    if case.converter == "unknown":
        return "no-doi"
    return "known" if case.pubmed == "full" else "service-error"


def find_reason(tried: list[tuple[str, str]]) -> str:
    """Return the contract's word for the outcomes of the tiers."""
    requested = [outcome for _, outcome in tried if outcome != "not-attempted"]
    if not requested:
        return "no-pmc-fallback-disabled"
    return {"miss": "not-found", "no-fulltext": "no-epmc-fulltext"}.get(requested[-1], requested[-1])


# The services


def make_transport(case: Case) -> PreparedServices:
    records: dict[str, list[tuple[str, str | None, str | None]]] = {
        "full": [(PMID, DOI.upper(), PMCID)],
        "without pmcid": [(PMID, DOI.lower(), None)],
        "no record": [],
        "fails": [],
    }
    record = records[case.pubmed]

    def converter(call: Call) -> bytes:
        requested = (call.get_param("ids") or "").split(",")
        if case.converter == "fails":
            return fail_down(call)
        if case.converter == "unknown":
            return write_converted_ids(
                call, *({"requested-id": one, "status": "error", "errmsg": "not found"} for one in requested)
            )
        return write_converted_ids(
            call, *({"requested-id": one, "pmid": int(PMID), "pmcid": PMCID, "doi": DOI.lower()} for one in requested)
        )

    def search(call: Call) -> bytes:
        return fail_down(call) if case.pubmed == "fails" else write_found_ids(*(pmid for pmid, _, _ in record))

    def fetch(call: Call) -> bytes:
        return fail_down(call) if case.pubmed == "fails" else write_pubmed_set(*record)

    hit = {"id": PMID, "source": "MED", "pmid": PMID, "doi": DOI.lower()}
    with_text = {**hit, "pmcid": PMCID}
    # A record that PMC has too, without its text; or one that only MEDLINE has.
    found = {"miss": write_hits(), "no-fulltext": write_hits(with_text if case.kind == "pmcid" else hit)}
    return PreparedServices(
        {
            "idconv/idconv": converter,
            "eutils/esearch/pubmed": search,
            "eutils/efetch/pubmed": fetch,
            "eutils/efetch/pmc": make_document_reply(case.pmc, wrapped=True),
            "pmc_oa/list": lambda call: list_nothing(call) if case.bucket == "miss" else write_listing(),
            "pmc_oa/record": lambda call: b'{"xml_url": "s3://pmc-oa-opendata/PMC77.1/PMC77.1.xml"}',
            "pmc_oa/xml": make_document_reply(case.bucket, wrapped=False),
            "europepmc/search": lambda call: (
                fail_down(call)
                if case.europepmc == "service-error"
                else found.get(case.europepmc, write_hits(with_text))
            ),
            "europepmc/fullTextXML": make_document_reply(case.europepmc, wrapped=False),
            "unpaywall/unpaywall": answer_unpaywall(case.unpaywall),
        }
    )


def write_listing() -> bytes:
    return (
        b'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CommonPrefixes><Prefix>PMC77.1/</Prefix>'
        b"</CommonPrefixes></ListBucketResult>"
    )


def make_document_reply(state: str, *, wrapped: bool) -> Any:
    """Return a function that answers with an article in this state."""
    if state == "service-error":
        return fail_down
    if state in ("miss", "no-fulltext"):
        return (lambda call: write_pmc_set(write_not_in_pmc("77"))) if wrapped else fail_missing
    if state == "parse-failed":
        return lambda call: b"<article><body><p>broken</body></article>"
    text = write_jats(PMCID, body=state == "found")
    content = write_pmc_set(text) if wrapped else text.encode()
    return lambda call: content


def answer_unpaywall(state: str) -> Any:
    if state == "service-error":
        return fail_down
    if state == "no-oa":
        return fail_missing
    return lambda call: write_open_access(DOI, {"url_for_pdf": f"https://publisher.invalid/{state}.pdf"})


def pretend_download(url: str, **_: Any) -> Downloaded:
    if "fetch-failed" in url:
        raise UpstreamError("The page is gone.", details={"reason": "no_such_address"})
    return Downloaded(url, b"parse-failed" if "parse-failed" in url else b"%PDF-", "application/pdf", "pdf")


def pretend_pdf(content: bytes, **_: Any) -> Pdf:
    if content == b"parse-failed":
        raise unreadable_error("holds no text")
    return Pdf(title=None, text="Text.", total_pages=1, word_count=1)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lookup", LOOKUPS, ids=lambda lookup: "-".join(lookup).replace(" ", "-"))
def test_any_combination_of_answers_gives_the_result_of_the_contract(
    kind: str, lookup: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.fulltext.unpaywall_tier.download", pretend_download)
    monkeypatch.setattr("entrez_kit.fulltext.unpaywall_tier.read_pdf", pretend_pdf)
    settings = {
        (europepmc, unpaywall): PreparedServices()
        .services(europepmc_enabled=europepmc, **({} if unpaywall else {"unpaywall_email": None}))
        .settings
        for europepmc in (True, False)
        for unpaywall in (True, False)
    }
    possible = [case for case in list_cases() if (case.kind, (case.converter, case.pubmed)) == (kind, lookup)]
    chosen = take_sample(possible, 0.15)
    covered = list_pairs(chosen)
    for case in possible:
        if not list_pairs([case]) <= covered:
            chosen.append(case)
            covered |= list_pairs([case])
    for case in chosen:
        bench = make_transport(case)
        services = bench.services()
        services.settings = settings[case.europepmc != "off", case.unpaywall != "off"]
        result = bench.fetch(services, **{f"{kind}s": [IDS[kind]]})
        tier, tried = compute_expected(case)

        if tier is None:
            assert result.articles == []
            (missed,) = result.unavailable
            assert [(entry.tier, entry.outcome) for entry in missed.tried_tiers] == tried, case
            assert missed.reason == find_reason(tried), case
            assert bool(missed.retryable) is any(outcome == "service-error" for _, outcome in tried), case
            assert (missed.id, missed.id_type) == (IDS[kind], kind)
            assert all(entry.detail for entry in missed.tried_tiers), case
        else:
            (article,) = result.articles
            assert article.via_source == tier, case
            assert result.unavailable == []
            assert (article.doi or DOI).lower() == DOI.lower()
        assert result.total_returned == len(result.articles)
