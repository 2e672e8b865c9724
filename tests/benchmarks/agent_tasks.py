"""Fifty questions about the demo, asked of an MCP server by a scripted client: solved, calls, bytes, tokens.

    python tests/benchmarks/agent_tasks.py [--kinds] [--plans FILE] [--command ...]

The answers come from the fixtures themselves, read here with the standard library; a task is solved when the replies to
its calls hold them. A plan is a list of calls; ``"$0.pmids.0"`` stands for what the reply to the first call has there.
For another server (``--command node server.js``) a file of plans says how its tools are called: an object of lists of
``{"tool", "arguments"}`` by the name of the task, which ``--kinds`` prints with the question. Tokens are bytes by four.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TASKS = 50

Step = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """A question, what an answer must hold, and the calls that lead there."""

    name: str
    question: str
    answers: tuple[str, ...]
    plan: tuple[Step, ...]


def text_of(node: ElementTree.Element | None) -> str:
    """Return all text of an element in one line."""
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def articles() -> list[ElementTree.Element]:
    """Return the demo's articles that have what the questions ask for."""
    roots = (ElementTree.parse(path).getroot() for path in sorted((FIXTURES / "pubmed").glob("*.xml")))
    found = [article for root in roots for article in root.iter("PubmedArticle")]
    plain = [one for one in found if (title := one.find(".//ArticleTitle")) is not None and not list(title)]
    return sorted(plain, key=lambda one: int(text_of(one.find("MedlineCitation/PMID"))))


def tasks() -> list[Task]:
    """Return the tasks, the same ones in the same order every time."""
    found = [task for group in (_articles(), _genes(), _mesh(), _fulltext()) for task in group]
    return found[:TASKS]


def _articles() -> Iterator[Task]:
    usable = [one for one in articles() if one.find(".//Author/LastName") is not None and _doi(one) and _title(one)]
    usable = [one for one in usable if text_of(one.find(".//Volume")) and text_of(one.find(".//MedlinePgn"))]
    for one in usable[:8]:
        yield Task(
            f"doi-of-{_pmid(one)}",
            f"Which DOI has the article “{_title(one)}”?",
            (_doi(one),),
            (("pubmed_search_articles", {"query_term": f"{_title(one).rstrip('.')}[ti]", "fetch_brief_summaries": 1}),),
        )
    with_mesh = [one for one in usable if one.find(".//MeshHeading/DescriptorName") is not None]
    for one in with_mesh[3:11]:
        names = tuple(text_of(node) for node in one.iterfind(".//MeshHeading/DescriptorName"))
        step = ("pubmed_fetch_contents", {"pmids": [_pmid(one)], "fields": ["mesh_terms.descriptor_name"]})
        yield Task(f"mesh-of-{_pmid(one)}", f"Which MeSH terms has PMID {_pmid(one)}?", names, (step,))
    for one in usable[5:11]:
        names = tuple(text_of(node) for node in one.iterfind(".//AuthorList/Author/LastName"))
        step = ("pubmed_fetch_contents", {"pmids": [_doi(one)], "fields": ["authors.last_name"]})
        yield Task(f"authors-of-{_pmid(one)}", f"Who wrote {_doi(one)}?", names, (step,))
    for one in usable[2:8]:
        reference = {
            "journal": text_of(one.find(".//ISOAbbreviation")) or text_of(one.find(".//Journal/Title")),
            "year": text_of(one.find(".//JournalIssue/PubDate/Year")),
            "volume": text_of(one.find(".//Volume")),
            "first_page": text_of(one.find(".//MedlinePgn")).partition("-")[0],
        }
        match: Step = ("pubmed_lookup_citation", {"citations": [reference]})
        yield Task(f"match-{_pmid(one)}", f"Which PMID is {' '.join(reference.values())}?", (_pmid(one),), (match,))
    for one in usable[:6]:
        first = text_of(one.find(".//AuthorList/Author/LastName"))
        year = text_of(one.find(".//JournalIssue/PubDate/Year"))
        step = ("pubmed_format_citations", {"pmids": [_pmid(one)], "citation_styles": ["apa"]})
        yield Task(f"cite-{_pmid(one)}", f"Cite PMID {_pmid(one)} in APA.", (first, year, _doi(one)), (step,))
    for one in [one for one in articles() if one.find(".//ArticleId[@IdType='pmc']") is not None][:4]:
        step = ("pubmed_convert_ids", {"ids": [_pmid(one)]})
        pmcid = text_of(one.find("PubmedData/ArticleIdList/ArticleId[@IdType='pmc']"))
        yield Task(f"pmcid-of-{_pmid(one)}", f"Which PMCID has PMID {_pmid(one)}?", (pmcid,), (step,))
    for one in articles():
        if any(text_of(node) == "Retracted Publication" for node in one.iterfind(".//PublicationType")):
            notice = text_of(one.find(".//CommentsCorrections[@RefType='RetractionIn']/PMID"))
            step = ("pubmed_fetch_contents", {"pmids": [_pmid(one)], "fields": ["retraction_status", "corrections"]})
            yield Task(f"standing-{_pmid(one)}", f"Does PMID {_pmid(one)} stand?", ("retracted", notice), (step,))


def _pmid(one: ElementTree.Element) -> str:
    return text_of(one.find("MedlineCitation/PMID"))


def _title(one: ElementTree.Element) -> str:
    return text_of(one.find(".//ArticleTitle"))


def _doi(one: ElementTree.Element) -> str:
    return text_of(one.find("PubmedData/ArticleIdList/ArticleId[@IdType='doi']"))


def _genes() -> Iterator[Task]:
    root = ElementTree.parse(FIXTURES / "gene" / "human.xml").getroot()
    for gene in list(root.iter("Entrezgene"))[:4]:
        symbol, number = gene.findtext(".//Gene-ref_locus", ""), gene.findtext(".//Gene-track_geneid", "")
        yield Task(
            f"locus-of-{symbol}",
            f"Where is human {symbol}, and what is its id?",
            (f"NCBIGene:{number}", gene.findtext(".//Gene-ref_maploc", "")),
            (
                ("search_genes", {"query": symbol, "organism": "human", "page_size": 1}),
                ("get_gene", {"entrez_id": "$0.items.0.id"}),
            ),
        )


def _mesh() -> Iterator[Task]:
    headings = json.loads((FIXTURES / "mesh" / "headings.json").read_text(encoding="utf-8"))
    for heading in headings[:3]:
        name = heading["name"]
        step = ("pubmed_lookup_mesh", {"query": name, "max_results": 1})
        yield Task(f"tree-of-{name}", f"Where in MeSH is {name}?", tuple(heading["tree_numbers"]), (step,))


def _fulltext() -> Iterator[Task]:
    for path in sorted((FIXTURES / "pmc").glob("*.xml")):
        section = ElementTree.parse(path).getroot().find(".//body/sec")
        if section is not None:
            title = text_of(section.find("title"))
            step = ("pubmed_fetch_fulltext", {"pmcids": [path.stem], "sections": [title]})
            words = text_of(section.find("p"))[:40]
            yield Task(f"section-of-{path.stem}", f"What says {path.stem} under {title}?", (words,), (step,))


def filled(value: Any, replies: list[Any]) -> Any:
    """Return arguments with what earlier replies have in the places they name."""
    if isinstance(value, dict):
        return {name: filled(inner, replies) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, replies) for inner in value]
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    place: Any = replies
    for part in value[1:].split("."):
        place = place[int(part)] if isinstance(place, list) else place[part]
    return place


async def run(command: list[str], wanted: list[Task]) -> Counter[str]:
    """Ask every question; return how many were solved, in how many calls and bytes. Names what was not solved."""
    counted: Counter[str] = Counter()
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        await ask(Client(stdio_client(parameters, errlog=nowhere), read_timeout_seconds=120), wanted, counted)
    return counted


async def ask(connecting: Client, wanted: list[Task], counted: Counter[str]) -> None:
    """Ask the questions over one connection."""
    async with connecting as client:
        listed = await client.list_tools()
        counted["list_bytes"] = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
        for task in wanted:
            replies: list[Any] = []
            heard = ""
            try:
                for tool, arguments in task.plan:
                    result = await client.call_tool(tool, filled(arguments, replies))
                    text = "\n".join(block.text for block in result.content if block.type == "text")
                    replies.append(result.structured_content or text)
                    heard += text
                    counted["calls"] += 1
                    counted["bytes"] += len(text.encode())
            except (LookupError, TypeError) as exc:
                heard += f" ({type(exc).__name__}: {exc})"
            missing = [answer for answer in task.answers if answer not in heard]
            counted["solved"] += not missing
            if missing:
                print(f"not solved: {task.name}: {missing[0]!r} is not in {heard[:200]!r}", file=sys.stderr)


def main() -> int:
    """Run the tasks and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kinds", action="store_true", help="print the tasks and ask nothing")
    parser.add_argument("--plans", type=Path, help="a JSON file of plans for another server")
    parser.add_argument("--command", nargs=argparse.REMAINDER, help="the server; this project's over the demo")
    options = parser.parse_args()
    wanted = tasks()
    if options.kinds:
        for task in wanted:
            print(f"{task.name}\t{task.question}")
        return 0
    if options.plans is not None:
        plans = json.loads(options.plans.read_text(encoding="utf-8"))
        steps = {name: tuple((step["tool"], step["arguments"]) for step in plan) for name, plan in plans.items()}
        wanted = [Task(task.name, task.question, task.answers, steps.get(task.name, ())) for task in wanted]
    counted = anyio.run(run, options.command or [sys.executable, "-m", "entrez_kit", "--demo", "serve"], wanted)
    print(f"solved {counted['solved']} of {len(wanted)}")
    print(f"calls  {counted['calls']}")
    print(f"bytes  {counted['bytes']} and {counted['list_bytes']} of tools/list")
    print(f"tokens {(counted['bytes'] + counted['list_bytes']) // 4}")
    return 0 if counted["solved"] == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
