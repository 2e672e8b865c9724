"""`entrez-kit local serve` answers programs written for NCBI: Bio.Entrez, EDirect, and our own Entrez."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from Bio import Entrez, Medline
from http_server_program import HttpHostFor, make_modern_request
from lxml import etree
from mcp_helpers import HostFor, make_command, make_environment

NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"


@pytest.fixture(name="base", scope="module")
def base_fixture(copied_home: Path) -> Iterator[str]:
    """Serve the copy and return the address of its E-utilities; the server ends with status 0 if it is interrupted."""
    process = subprocess.Popen(
        [sys.executable, "-m", "entrez_kit", "local", "serve", "demo", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ENTREZ_KIT_HOME": str(copied_home)},
    )
    assert process.stdout is not None
    announced = ""
    while not announced.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, process.communicate()
        announced += line
    document = json.loads(announced)
    assert (document["copy"], document["date"]) == ("demo", "2026-03-06")
    yield document["environment"]["ENTREZ_KIT_EUTILS_URL"]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.fixture(name="bio")
def bio_fixture(base: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Bio.Entrez with its requests sent to the copy."""

    def send(request: Request) -> Any:
        request.full_url = request.full_url.replace(NCBI, base)
        return urlopen(request, timeout=30)

    monkeypatch.setattr(Entrez, "urlopen", send)
    monkeypatch.setattr(Entrez, "email", "reader@entrez-kit.invalid")
    monkeypatch.setattr(Entrez, "sleep_between_tries", 0)
    return Entrez


def test_biopython_searches_with_history_and_fetches_in_every_format(bio: Any) -> None:
    found = bio.read(
        bio.esearch(db="pubmed", term="crispr[ti] NOT 99000071[uid]", usehistory="y", retmax=2, sort="pub_date")
    )
    assert (found["Count"], len(found["IdList"])) == ("3", 2)
    history = {"db": "pubmed", "webenv": found["WebEnv"], "query_key": found["QueryKey"]}

    articles = bio.read(bio.efetch(**history, retmode="xml"))["PubmedArticle"]
    parse: Any = Medline.parse
    records = list(parse(StringIO(bio.efetch(**history, rettype="medline", retmode="text").read())))
    listed = bio.efetch(**history, rettype="uilist", retmode="text").read().split()
    assert (
        [str(article["MedlineCitation"]["PMID"]) for article in articles]
        == [record["PMID"] for record in records]
        == listed
    )
    assert listed[:2] == list(found["IdList"])
    assert records[0]["TI"] in bio.efetch(**history, rettype="abstract", retmode="text").read().replace("\n", " ")


def test_biopython_reads_every_other_utility(bio: Any, base: str) -> None:
    (first, *_) = bio.read(bio.esummary(db="pubmed", id="99000005"))
    assert first["DOI"] == "10.5555/ekit.2023.0005"
    second = etree.fromstring(bio.esummary(db="pubmed", id="99000005", version="2.0").read())
    assert second.xpath("string(//DocumentSummary[@uid='99000005']/Source)") == first["Source"]
    third = json.load(bio.esummary(db="pubmed", id="99000005", retmode="json"))
    assert third["result"]["99000005"]["source"] == first["Source"]
    linked = bio.read(bio.elink(dbfrom="pubmed", db="pubmed", id="99000005", linkname="pubmed_pubmed_citedin"))
    citing = {link["Id"] for link in linked[0]["LinkSetDb"][0]["Link"]}
    back = bio.read(bio.elink(dbfrom="pubmed", db="pubmed", id=sorted(citing)[0], linkname="pubmed_pubmed_refs"))
    assert "99000005" in {link["Id"] for link in back[0]["LinkSetDb"][0]["Link"]}
    posted = bio.read(bio.epost(db="pubmed", id="99000005,99000047"))
    assert posted["QueryKey"] == "1"
    assert bio.read(bio.einfo())["DbList"] == ["pubmed", "mesh"]
    described = bio.read(bio.einfo(db="pubmed"))["DbInfo"][0]
    assert (described["Count"], described["LastUpdate"][:10]) == ("73", "2026/03/06")
    assert bio.read(bio.espell(db="pubmed", term="crisprr"))["CorrectedQuery"] == "crispr"
    with urlopen(f"{base}/egquery.fcgi?term=crispr", timeout=30) as reply:  # recent versions of Biopython lack it
        assert etree.fromstring(reply.read()).xpath("//DbName/text()") == ["pubmed", "mesh"]
    citation = {
        "journal_title": "Ann Imaginary Genome Ed (Demo)",
        **{"year": "2023", "volume": "7", "first_page": "R12", "author_name": "luo q", "key": "one"},
    }
    assert bio.ecitmatch(db="pubmed", bdata=[citation]).read().strip().endswith("|99000005")


def test_biopython_gets_an_error_for_requests_that_no_copy_can_answer(bio: Any) -> None:
    with pytest.raises(RuntimeError, match="gene"):
        bio.read(bio.esearch(db="gene", term="TP53"))
    with pytest.raises(RuntimeError, match="foo"):
        bio.read(bio.esearch(db="pubmed", term="crispr[foo]"))


def test_our_entrez_answers_from_a_copy_in_its_own_process_and_from_the_server(copied_home: Path, base: str) -> None:
    script = (
        "from entrez_kit import Entrez\n"
        "found = Entrez.read(Entrez.esearch(db='pubmed', term='crispr[ti] NOT 99000071[uid]', sort='pub_date'))\n"
        "print(*found['IdList'], len(Entrez.read(Entrez.efetch(db='pubmed', id=found['IdList']))['PubmedArticle']))\n"
    )
    printed = set()
    for settings in ({"ENTREZ_KIT_LOCAL": "demo"}, {"ENTREZ_KIT_EUTILS_URL": base}):
        environment = {**os.environ, "ENTREZ_KIT_HOME": str(copied_home), **settings}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    (line,) = printed
    assert line.split()[-1] == "3"


@pytest.mark.skipif(shutil.which("esearch") is None, reason="EDirect is not installed")
def test_edirect_works_on_a_copy_with_its_argument_base(base: str) -> None:
    """EDirect has no variable for the address: each of its commands takes ``-base``, with a final slash."""

    def run(*commands: str) -> str:
        line = " | ".join(command.replace(" ", f" -base {base}/ ", 1) for command in commands)
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    search = "esearch -db pubmed -query 'crispr[ti] NOT 99000071[uid]'"
    assert "<Count>3</Count>" in run(search)
    assert sorted(run(search, "efetch -format uid").split()) == ["99000005", "99000007", "99000047"]
    assert run(search, "efetch -format medline").count("\nPMID- ") == 3
    assert run(search, "efetch -format xml").count("<PubmedArticle>") == 3
    assert run(search, "esummary -db pubmed").count("<DocumentSummary>") == 3
    cited = run("elink -db pubmed -id 99000005 -target pubmed -name pubmed_pubmed_refs", "efetch -format uid")
    assert cited.split() == ["99000001", "99000002", "99000007", "99000011"]
    assert run("einfo -dbs").split() == ["mesh", "pubmed"]


# Agents


def test_agents_use_a_copy_over_stdio(host_for: HostFor, copied_home: Path) -> None:
    host = host_for("--local", "demo", at=None, ENTREZ_KIT_HOME=str(copied_home))
    host.greet()
    found = host.call("pubmed_search_articles", {"query_term": "crispr[ti]"})
    refused = host.call("europepmc_search", {"query": "crispr"})

    assert found["structuredContent"]["total_found"] > 0
    assert "demo (PubMed of 2026-03-06" in found["_meta"]["local"]
    assert (refused["isError"], "Fidelity" in refused["_meta"]["local"]) == (True, False)
    assert host.leave()[0] == 0


def test_agents_use_a_copy_over_http(http_host_for: HttpHostFor, copied_home: Path) -> None:
    host = http_host_for("--local", "demo", at=None, ENTREZ_KIT_HOME=str(copied_home))
    call = {"name": "pubmed_search_articles", "arguments": {"query_term": "crispr[ti]"}}
    body, headers = make_modern_request("tools/call", call)
    result = host.request(body=body, **headers).message["result"]

    assert result["structuredContent"]["total_found"] > 0
    assert "demo (PubMed of 2026-03-06" in result["_meta"]["local"]
    host.kill()


def test_a_server_of_a_copy_that_does_not_exist_does_not_start(tmp_path: Path) -> None:
    done = subprocess.run(
        make_command("serve", "--local", "none"),
        env=make_environment(None, ENTREZ_KIT_HOME=str(tmp_path)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no_such_copy" in done.stderr
