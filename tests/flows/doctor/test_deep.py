"""doctor --deep: no difference in the sandbox, and each planted change is reported separately."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drifting_service import (
    Change,
    drift,
    repeat_first_reply,
    replace_text,
    reverse_records,
    send_error,
    send_page,
    send_status,
)
from loopback_transport import find_free_port

from entrez_kit.base.errors import Exit, InvalidInput
from entrez_kit.base.settings import Settings
from entrez_kit.doctor.comparison import Compared, choose_examples, compare_replies
from entrez_kit.doctor.diagnosis import diagnose
from entrez_kit.doctor.probes import DEMO, PROBES, REAL, Examples, Probe
from entrez_kit.doctor.recordings import check_folder, save_replies
from entrez_kit.doctor.report import NAMES
from entrez_kit.local.eutils.esearch import BEYOND_CEILING
from entrez_kit.local.eutils.replies import answer_failure
from entrez_kit.sandbox.server import Sandbox

pytestmark = pytest.mark.usefixtures("no_waiting")

KEY = "c4narykey0123456789abcdefc4narykey01"
EMAIL = "canary.person+tag@example.org"
OTHERS = {"EInfo of PubMed", "EPost"}
"""Requested in every case, to check that a change at one endpoint is not reported for another."""


def find_probes(*names: str) -> list[Probe]:
    found = [probe for probe in PROBES if probe.name in names]
    assert {probe.name for probe in found} == set(names)
    return found


def run_probes(settings: Settings, names: Iterable[str], examples: Examples | None = None) -> dict[str, Compared]:
    return {one.probe.name: one for one in compare_replies(settings, probes=find_probes(*names), examples=examples)}


def list_kinds(one: Compared) -> set[str]:
    return {f"{difference.kind} {difference.where}" for difference in one.comparison.differences}


def test_the_sandbox_agrees_with_every_probe(sandbox: Sandbox) -> None:
    reported: list[tuple[int, int]] = []
    compared = compare_replies(sandbox.settings(), progress=lambda done, of: reported.append((done, of)))

    verdicts = {one.probe.name: one.comparison.verdict for one in compared}
    assert {name for name, verdict in verdicts.items() if verdict != "agrees"} == {"ESearch past 9,999 records"}
    assert verdicts["ESearch past 9,999 records"] == "skipped"
    assert {one.comparison.service for one in compared} == set(NAMES.values())
    assert [one.probe for one in compared] == list(PROBES)
    assert sorted(reported) == [(number, len(PROBES)) for number in range(1, len(PROBES) + 1)]
    assert sandbox.requests() < 60


def test_a_search_with_more_hits_than_can_be_listed_agrees(no_waiting: None) -> None:
    with Sandbox(records=10_050, enforce_limits=False) as sandbox:
        examples = replace(DEMO, many="all[sb]")
        found = run_probes(sandbox.settings(), ["ESearch past 9,999 records"], examples)

    one = found["ESearch past 9,999 records"]
    assert (one.comparison.verdict, one.comparison.requests) == ("agrees", 1), one.comparison


SINGLE = "EFetch, retracted work"
CASES: dict[str, tuple[str, Change, str, set[str]]] = {
    "a renamed element": (
        "efetch",
        replace_text("(</?)ArticleTitle>", r"\1ArtTitle>"),
        SINGLE,
        {"unknown_element ArtTitle", "missing PubmedArticle/ArticleTitle"},
    ),
    "a new attribute": (
        "efetch",
        replace_text('<PMID Version="1">', '<PMID Version="1" Trust="high">'),
        SINGLE,
        {"unknown_attribute PMID@Trust"},
    ),
    "a new kind of retraction": (
        "efetch",
        replace_text('RefType="RetractionIn"', 'RefType="WithdrawalIn"'),
        SINGLE,
        {"unknown_value CommentsCorrections@RefType=WithdrawalIn"},
    ),
    "another form of dates in XML": (
        "efetch",
        replace_text(r"<Year>(\d{4})</Year>", r"<Year>AD \1</Year>"),
        SINGLE,
        {"other_form Year"},
    ),
    "another form of dates in summaries": (
        "esummary",
        replace_text(r"(\d{4})/(\d\d)/(\d\d) \d\d:\d\d", r"\1-\2-\3"),
        "ESummary, JSON",
        {"other_form result.*.sortpubdate", "other_form result.*.history[].date"},
    ),
    "another order": (
        "efetch",
        reverse_records(r"<PubmedArticle>.*?</PubmedArticle>\s*"),
        "EFetch, XML",
        {"other_order reply"},
    ),
    "a record that was not asked for": (
        "efetch",
        replace_text("99000004</PMID>", "99000005</PMID>"),
        "EFetch, XML",
        {"other_content reply"},
    ),
    "a number where a text was": (
        "europepmc_search",
        replace_text(r'"pubYear":"(\d+)"', r'"pubYear":\1'),
        "Search",
        {"other_type resultList.result[].pubYear"},
    ),
    "a new field": (
        "idconv",
        replace_text('"requested-id"', '"orcid":"x","requested-id"'),
        "A known id and an unknown one",
        {"unknown_field records[].orcid"},
    ),
    "a new field of MEDLINE": (
        "efetch",
        replace_text(r"(?m)^SO  - ", "ZZQ - new\nSO  - "),
        "EFetch, MEDLINE",
        {"unknown_field ZZQ"},
    ),
    "another root": (
        "espell",
        replace_text("eSpellResult", "SpellingReply"),
        "ESpell",
        {"other_root espell"},
    ),
    "a retired endpoint": ("espell", send_status(410), "ESpell", {"retired espell"}),
    "an endpoint that is nowhere": ("espell", send_status(404), "ESpell", {"other_status espell"}),
    "an endpoint that has moved to another host": (
        "espell",
        send_status(301, b"", ("Location", "https://example.org/espell.fcgi")),
        "ESpell",
        {"moved espell"},
    ),
    "a parameter that is wanted now": (
        "elink",
        send_error("elink", "Missing required parameter: client_id", 400),
        "ELink, similar articles",
        {"new_parameter elink"},
    ),
    "other words": (
        "elink",
        send_error("elink", "The link service speaks otherwise today"),
        "ELink, similar articles",
        {"other_words elink"},
    ),
    "something else than was asked for": (
        "ecitmatch",
        replace_text(r"\|ek0\|\d+", "|ek0|NOT_FOUND"),
        "ECitMatch",
        {"other_content reply"},
    ),
    "another answer of the matcher": (
        "ecitmatch",
        replace_text(r"\|ek0\|\d+", "|ek0|PERHAPS 99000001"),
        "ECitMatch",
        {"unknown_field PERHAPS", "other_content reply"},
    ),
    "a warning that is not made any more": (
        "esearch",
        replace_text("(?s)<ErrorList>.*</ErrorList>", ""),
        "ESearch, unknown field",
        {"other_content reply"},
    ),
    "an id that is not refused any more": (
        "idconv",
        replace_text(r"Identifier not found in PMC", "none"),
        "A known id and an unknown one",
        set(),
    ),
    "links of another record": (
        "elink",
        replace_text(r"(<IdList>\s*<Id>)\d+", r"\g<1>99000071"),
        "ELink, references",
        {"other_content reply"},
    ),
    "articles of another gene": (
        "elink",
        replace_text(r"(<IdList>\s*<Id>)\d+", r"\g<1>672"),
        "ELink, gene to PubMed",
        {"other_content reply"},
    ),
    "a description of another database": (
        "einfo",
        replace_text(r"<DbName>pubmed</DbName>(?=\s*<MenuName>)", "<DbName>gene</DbName>"),
        "EInfo of PubMed",
        {"other_content reply"},
    ),
    "a correction of another query": (
        "espell",
        replace_text("<Query>crisper</Query>", "<Query>crisper cas</Query>"),
        "ESpell",
        {"other_content reply"},
    ),
    "a record of another work": (
        "crossref",
        replace_text('"DOI": ?"[^"]*"', '"DOI": "10.5555/another"'),
        "Record of a work",
        {"unreadable crossref_work"},
    ),
    "notices about another work": (
        "crossref",
        replace_text('"DOI": ?"[^"]*"', '"DOI": "10.5555/another"'),
        "Notices about a work",
        {"unreadable crossref_updates"},
    ),
    "a page that comes again whatever the cursor": (
        "europepmc_search",
        repeat_first_reply(),
        "Search, second page",
        {"unreadable search"},
    ),
    "JATS with a new element": (
        "europepmc",
        replace_text("<abstract>", "<ai-summary>s</ai-summary><abstract>"),
        "Full text",
        {"unknown_element ai-summary"},
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(("endpoint", "change", "probe", "expected"), CASES.values(), ids=CASES)
def test_a_planted_change_is_identified(
    sandbox: Sandbox, endpoint: str, change: Change, probe: str, expected: set[str]
) -> None:
    drift(sandbox, endpoint, change)

    found = run_probes(sandbox.settings(), {probe, *OTHERS})

    assert list_kinds(found[probe]) == expected
    assert found[probe].comparison.verdict == ("differs" if expected else "agrees")
    assert {found[name].comparison.verdict for name in OTHERS - {probe}} == {"agrees"}


def test_an_endpoint_that_moved_on_the_same_host_is_read_and_reported(sandbox: Sandbox) -> None:
    drift(
        sandbox,
        "espell",
        lambda reply, request: (
            reply
            if request.get("again")
            else send_status(308, b"", ("Location", f"espell.fcgi?again=1&db=pubmed&term={DEMO.misspelt}"))(
                reply, request
            )
        ),
    )

    one = run_probes(sandbox.settings(), ["ESpell"])["ESpell"]

    assert list_kinds(one) == {"moved espell"}
    assert f"has moved permanently to {sandbox.url}/entrez/eutils/espell.fcgi" in str(one.comparison.differences[0])


def test_a_refusal_with_other_text_differs_and_one_with_known_text_agrees(sandbox: Sandbox) -> None:
    name = "ESearch past 9,999 records"
    examples = replace(DEMO, many="crispr")
    drift(sandbox, "esearch", lambda reply, request: answer_failure("esearch", BEYOND_CEILING))
    assert run_probes(sandbox.settings(), [name], examples)[name].comparison.verdict == "agrees"

    drift(sandbox, "esearch", lambda reply, request: answer_failure("esearch", "This window is closed to you."))
    assert list_kinds(run_probes(sandbox.settings(), [name], examples)[name]) == {"other_words esearch"}

    drift(sandbox, "esearch", lambda reply, request: answer_failure("esearch", "").__class__(FOUND_ALL))
    assert list_kinds(run_probes(sandbox.settings(), [name], examples)[name]) == {"other_content reply"}


FOUND_ALL = (
    b"<eSearchResult><Count>10009</Count><RetMax>10</RetMax><RetStart>9999</RetStart><IdList>"
    + b"".join(b"<Id>%d</Id>" % number for number in range(1, 11))
    + b"</IdList></eSearchResult>"
)


FAILURES: dict[str, tuple[Change, str]] = {
    "a page for people": (send_page, "page"),
    "a server error": (send_status(503), "service"),
    "a refusal because of the rate": (send_status(429, b'{"error":"API rate limit exceeded"}'), "rate_limit"),
    "a blocked address": (send_status(403, b"<html><title>Blocked</title></html>"), "refused"),
    "half a document": (lambda reply, request: replace(reply, body=reply.body[:-40]), "service"),
    "nothing": (lambda reply, request: replace(reply, body=b""), "service"),
}


@pytest.mark.parametrize(("change", "hop"), FAILURES.values(), ids=FAILURES)
def test_a_failed_request_is_not_a_difference_and_names_its_hop(sandbox: Sandbox, change: Change, hop: str) -> None:
    drift(sandbox, "espell", change)

    found = run_probes(sandbox.settings(), {"ESpell", *OTHERS})

    one = found["ESpell"].comparison
    assert (one.verdict, one.hop, one.differences) == ("failed", hop, [])
    assert one.detail
    assert {found[name].comparison.verdict for name in OTHERS} == {"agrees"}


@pytest.mark.long
def test_a_reply_after_the_deadline_is_reported_as_a_timeout(sandbox: Sandbox) -> None:
    sandbox.delay("espell", 3)
    settings = replace(sandbox.settings(), ncbi_timeout_ms=300, ncbi_total_deadline_ms=1000)

    found = run_probes(settings, {"ESpell", *OTHERS})

    assert (found["ESpell"].comparison.verdict, found["ESpell"].comparison.hop) == ("failed", "timeout")
    assert {found[name].comparison.verdict for name in OTHERS} == {"agrees"}


def test_a_service_that_is_not_reachable_is_requested_once(sandbox: Sandbox) -> None:
    settings = replace(sandbox.settings(), europepmc_url=f"http://127.0.0.1:{find_free_port()}")

    found = compare_replies(settings, probes=[probe for probe in PROBES if probe.service in ("europepmc", "idconv")])

    europepmc = [one.comparison for one in found if one.probe.service == "europepmc"]
    assert [(one.verdict, one.hop) for one in europepmc[:1]] == [("failed", "connection")]
    assert {(one.verdict, one.detail) for one in europepmc[1:]} == {("skipped", "not reached")}
    assert {one.comparison.verdict for one in found if one.probe.service == "idconv"} == {"agrees"}


def test_a_utility_that_is_known_to_be_off_agrees_if_it_is_off(sandbox: Sandbox) -> None:
    for change in (send_status(410), send_status(404), send_page):
        drift(sandbox, "egquery", change)

        one = run_probes(sandbox.settings(), ["EGQuery"])["EGQuery"].comparison

        assert (one.verdict, one.detail) == ("agrees", "switched off, which is known")


def test_only_enabled_services_are_requested(sandbox: Sandbox) -> None:
    settings = replace(
        sandbox.settings(), europepmc_enabled=False, unpaywall_email=None, check_sources="pubmed,openalex"
    )
    found = compare_replies(settings, probes=[probe for probe in PROBES if probe.service != "eutils"])

    verdicts = {(one.comparison.service, one.comparison.verdict) for one in found}
    assert verdicts == {
        ("ID Converter", "agrees"),
        ("PMC open data", "agrees"),
        ("Europe PMC", "skipped"),
        ("Unpaywall", "skipped"),
        ("Crossref", "skipped"),
        ("OpenAlex", "agrees"),
    }
    assert not sandbox.requests("crossref")


def test_offline_no_request_is_sent_and_the_result_is_not_a_success(sandbox: Sandbox) -> None:
    report = diagnose(replace(sandbox.settings(), offline=True), deep=True)

    assert report.comparisons
    assert {comparison.verdict for comparison in report.comparisons} == {"skipped"}
    assert report.exit_status == Exit.PARTIAL
    assert sandbox.requests() == 0


def test_real_records_are_requested_if_the_service_is_not_the_sandbox() -> None:
    from entrez_kit.base.settings import load_settings
    from entrez_kit.services import Services

    with Services(load_settings({})) as services:
        # No request is sent to find out: a test reaches no other machine.
        assert choose_examples(services, ()) is REAL
    assert all(getattr(REAL, name) for name in REAL.__slots__)


# saving


def read_files(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() + path.name.encode() for path in sorted(folder.rglob("*")) if path.is_file())


def _save_replies(sandbox: Sandbox, folder: Path, **overrides: Any) -> list[Compared]:
    settings = sandbox.settings(
        ncbi_api_key=KEY, ncbi_admin_email=EMAIL, unpaywall_email=EMAIL, crossref_email=EMAIL, **overrides
    )
    compared = compare_replies(settings)
    check_folder(folder)
    save_replies(folder, compared, settings)
    return compared


def test_saved_replies_are_unchanged_and_listed(sandbox: Sandbox, tmp_path: Path) -> None:
    compared = _save_replies(sandbox, tmp_path / "replies")

    listed = (tmp_path / "replies" / "SOURCES.md").read_text(encoding="utf-8")
    for one in compared:
        if one.comparison.verdict == "agrees":
            assert one.comparison.file
            kept = (tmp_path / "replies" / one.comparison.file).read_bytes()
            if one.probe.service == "eutils" and not one.refused:
                assert kept == one.exchanges[-1].incoming.body
            assert f"| {one.comparison.file} |" in listed
    assert sandbox.url not in listed  # which may be the address of a private mirror
    assert "GET eutils:/esearch.fcgi?db=pubmed&term=crispr" in listed
    files = [path for path in (tmp_path / "replies").rglob("*") if path.is_file()]
    assert len(files) == listed.count("| GET ") + listed.count("| POST ") + 1


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": lambda value: value,
    "in an address": lambda value: value.replace("@", "%40").replace("+", "%2B"),
    "in capitals": str.upper,
}


@pytest.mark.long
@pytest.mark.parametrize("form", ECHOES.values(), ids=ECHOES)
def test_saved_folders_have_no_key_no_email_and_no_network_address(
    sandbox: Sandbox, tmp_path: Path, form: Callable[[str], str]
) -> None:
    """Every service repeats all request data in its reply, and NCBI names clients that are too fast."""

    def echo(body: bytes) -> bytes:
        reported = f"{form(KEY)} {form(EMAIL)}".encode()
        if body.lstrip()[:1] == b"{":
            return json.dumps({**json.loads(body), "echo": reported.decode()}).encode()
        return (
            body.rstrip() + b"\n<!-- " + reported + b" -->\n" if body.lstrip()[:1] == b"<" else body + reported + b"\n"
        )

    for endpoint in ("einfo", "esearch", "esummary", "elink", "epost", "europepmc_search", "unpaywall", "pmc_oa"):
        drift(sandbox, endpoint, lambda reply, request: replace(reply, body=echo(reply.body)))
    refusal = b'{"error":"API rate limit exceeded","api-key":"203.0.113.77","count":"4","email":"%s"}'
    drift(sandbox, "espell", send_status(429, refusal % EMAIL.encode()))

    _save_replies(sandbox, tmp_path / "replies")

    kept = read_files(tmp_path / "replies").lower()
    assert kept.count(b"[hidden]") > 20
    for value in (KEY, EMAIL, ECHOES["in an address"](EMAIL), "canary", "203.0.113.77"):
        assert value.lower().encode() not in kept


def test_a_folder_that_is_not_empty_is_rejected_before_any_request(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(InvalidInput, match="not an empty folder"):
            diagnose(sandbox.settings(), deep=True, save=folder)
    assert sandbox.requests() == 0
