"""Fifty questions about the demo for an MCP server, from a scripted client: solved tasks, calls, bytes, tokens.

    python tests/benchmarks/agent_tasks.py [--kinds] [--plans FILE] [--command ...]

The answers are read from the fixtures with the standard library. A task is solved if the replies to its calls contain
them. A plan is a list of calls; ``"$0.pmids.0"`` represents the value at this path in the reply to the first call.
For another server (``--command node server.js``) a file of plans gives the calls of its tools: an object of lists of
``{"tool", "arguments"}`` by the name of the task, which ``--kinds`` prints with the question. Tokens are bytes by four;
the table has them by kind of task.
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
SEARCH, FETCH, FACETS = "pubmed_search_articles", "pubmed_fetch_contents", "pubmed_count_facets"
RELATED, GENES, MESH = "pubmed_article_relationships", "search_genes", "pubmed_lookup_mesh"

Step = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """A question, the text that an answer must contain, and the calls for it. Its name is the kind and a label."""

    name: str
    question: str
    answers: tuple[str, ...]
    plan: tuple[Step, ...]

    @property
    def kind(self) -> str:
        """The kind of question."""
        return self.name.partition(":")[0]


def read_text(node: ElementTree.Element | None) -> str:
    """Return all text of an element in one line."""
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def read_articles() -> list[ElementTree.Element]:
    """Return the demo's articles with the fields that the questions need."""
    roots = (ElementTree.parse(path).getroot() for path in sorted((FIXTURES / "pubmed").glob("*.xml")))
    found = [article for root in roots for article in root.iter("PubmedArticle")]
    plain = [one for one in found if (title := one.find(".//ArticleTitle")) is not None and not list(title)]
    return sorted(plain, key=lambda one: int(read_text(one.find("MedlineCitation/PMID"))))


def make_tasks() -> list[Task]:
    """Return the tasks, the same ones in the same order every time."""
    return [
        task
        for group in (
            _make_article_tasks(),
            _make_topic_tasks(),
            _make_gene_tasks(),
            _make_mesh_tasks(),
            _make_other_tasks(),
            _make_fulltext_tasks(),
        )
        for task in group
    ]


def _make_article_tasks() -> Iterator[Task]:
    """Yield the questions about single articles."""
    usable = [
        article
        for article in read_articles()
        if article.find(".//Author/LastName") is not None and _read_doi(article) and _read_title(article)
    ]
    usable = [one for one in usable if read_text(one.find(".//Volume")) and read_text(one.find(".//MedlinePgn"))]
    for one in usable[:2]:
        search: Step = (SEARCH, {"query_term": f"{_read_title(one).rstrip('.')}[ti]", "fetch_brief_summaries": 1})
        yield Task(
            f"doi:{_read_pmid(one)}", f"Which DOI has the article “{_read_title(one)}”?", (_read_doi(one),), (search,)
        )
    for one in [one for one in usable if one.find(".//AbstractText") is not None][3:5]:
        search = (SEARCH, {"query_term": f"{_read_title(one).rstrip('.')}[ti]", "snippet_characters": 200})
        begins = (read_text(one.find(".//AbstractText"))[:60],)
        yield Task(
            f"abstract:{_read_pmid(one)}", f"How does the abstract of “{_read_title(one)}” begin?", begins, (search,)
        )
    for one in [one for one in usable if one.find(".//MeshHeading") is not None][3:5]:
        names = tuple(read_text(node) for node in one.iterfind(".//MeshHeading/DescriptorName"))
        yield _make_fetch_task("mesh", "Which MeSH terms has", one, names, "mesh_terms.descriptor_name")
    for one in usable[5:7]:
        names = tuple(read_text(node) for node in one.iterfind(".//AuthorList/Author/LastName"))
        step: Step = (FETCH, {"pmids": [_read_doi(one)], "fields": ["authors.last_name"]})
        yield Task(f"authors:{_read_pmid(one)}", f"Who wrote {_read_doi(one)}?", names, (step,))
    for one in [one for one in usable if one.find(".//Identifier[@Source='ORCID']") is not None][:2]:
        orcid = read_text(one.find(".//Identifier[@Source='ORCID']")).rpartition("/")[2]
        yield _make_fetch_task("orcid", "What are the ORCIDs of the authors of", one, (orcid,), "authors.orcid")
    for one in [one for one in usable if one.find(".//Keyword") is not None][:2]:
        words = tuple(read_text(node) for node in one.iterfind(".//Keyword"))
        yield _make_fetch_task("keywords", "Which keywords has", one, words, "keywords")
    for one in [article for article in read_articles() if article.find(".//GrantID") is not None][:2]:
        step = (FETCH, {"pmids": [_read_pmid(one)], "include_grant_info": True, "fields": ["grant_list"]})
        yield Task(
            f"grants:{_read_pmid(one)}",
            f"Who paid for PMID {_read_pmid(one)}?",
            (read_text(one.find(".//GrantID")),),
            (step,),
        )
    for one in [article for article in read_articles() if article.find(".//DataBank/AccessionNumberList") is not None][
        :2
    ]:
        number = (read_text(one.find(".//AccessionNumber")),)
        yield _make_fetch_task(
            "registration", "Under which numbers is the study registered of", one, number, "data_banks"
        )
    for one in usable[2:4]:
        reference = {
            "journal": read_text(one.find(".//ISOAbbreviation")) or read_text(one.find(".//Journal/Title")),
            "year": read_text(one.find(".//JournalIssue/PubDate/Year")),
            "volume": read_text(one.find(".//Volume")),
            "first_page": read_text(one.find(".//MedlinePgn")).partition("-")[0],
        }
        step = ("pubmed_lookup_citation", {"citations": [reference]})
        yield Task(
            f"match:{_read_pmid(one)}", f"Which PMID is {' '.join(reference.values())}?", (_read_pmid(one),), (step,)
        )
    for one in usable[:2]:
        first = read_text(one.find(".//AuthorList/Author/LastName"))
        year = read_text(one.find(".//JournalIssue/PubDate/Year"))
        step = ("pubmed_format_citations", {"pmids": [_read_pmid(one)], "citation_styles": ["apa"]})
        yield Task(
            f"cite:{_read_pmid(one)}", f"Cite PMID {_read_pmid(one)} in APA.", (first, year, _read_doi(one)), (step,)
        )
    for one in [article for article in read_articles() if article.find(".//ArticleId[@IdType='pmc']") is not None][:2]:
        pmcid = read_text(one.find("PubmedData/ArticleIdList/ArticleId[@IdType='pmc']"))
        step = ("pubmed_convert_ids", {"ids": [_read_pmid(one)]})
        yield Task(f"pmcid:{_read_pmid(one)}", f"Which PMCID has PMID {_read_pmid(one)}?", (pmcid,), (step,))
    for one in [article for article in read_articles() if _is_retracted(article)][:2]:
        notice = read_text(one.find(".//CommentsCorrections[@RefType='RetractionIn']/PMID"))
        step = (FETCH, {"pmids": [_read_pmid(one)], "fields": ["retraction_status", "corrections"]})
        yield Task(f"standing:{_read_pmid(one)}", f"Does PMID {_read_pmid(one)} stand?", ("retracted", notice), (step,))
    cited = ".//ReferenceList/Reference/ArticleIdList/ArticleId[@IdType='pubmed']"
    known = {_read_pmid(article) for article in read_articles()}
    for one in [
        article for article in read_articles() if any(read_text(node) in known for node in article.iterfind(cited))
    ][:2]:
        found = tuple(pmid for pmid in dict.fromkeys(read_text(node) for node in one.iterfind(cited)) if pmid in known)
        step = (RELATED, {"source_pmid": _read_pmid(one), "relationship_type": "references", "max_related_results": 50})
        yield Task(f"references:{_read_pmid(one)}", f"Which works cites PMID {_read_pmid(one)}?", found, (step,))
        step = (RELATED, {"source_pmid": found[0], "relationship_type": "citedin", "max_related_results": 50})
        yield Task(f"cited-by:{found[0]}", f"Which works cite PMID {found[0]}?", (_read_pmid(one),), (step,))


def _make_fetch_task(kind: str, question: str, one: ElementTree.Element, answers: tuple[str, ...], field: str) -> Task:
    step: Step = (FETCH, {"pmids": [_read_pmid(one)], "fields": [field]})
    return Task(f"{kind}:{_read_pmid(one)}", f"{question} PMID {_read_pmid(one)}?", answers, (step,))


def _make_topic_tasks() -> Iterator[Task]:
    """Yield the questions about all articles on a subject."""
    by_heading: dict[str, list[ElementTree.Element]] = {}
    for one in read_articles():
        for node in one.iterfind(".//MeshHeading/DescriptorName"):
            by_heading.setdefault(read_text(node), []).append(one)
    for heading in ("Gene Editing", "Sleep"):
        journals = Counter(read_text(one.find(".//ISOAbbreviation")) for one in by_heading.get(heading, ()))
        asked: dict[str, Any] = {"query_term": f'"{heading}"[mh:noexp]', "facets": ["journal"]}
        most = tuple(name for name, number in journals.items() if name and number == max(journals.values()))
        yield Task(f"journals:{heading}", f"Which journal has most on {heading}?", most, ((FACETS, asked),))
        years = {read_text(one.find(".//JournalIssue/PubDate/Year")) for one in by_heading.get(heading, ())} - {""}
        asked = {"query_term": f'"{heading}"[mh:noexp]', "facets": ["year"], "top": 30}
        answers = tuple(sorted(years))
        yield Task(f"years:{heading}", f"In which years was {heading} written about?", answers, ((FACETS, asked),))
    bad = tuple(_read_pmid(article) for article in read_articles() if _is_retracted(article))[:5]
    step: Step = (SEARCH, {"query_term": "retracted publication[pt]", "max_results": 50})
    yield Task("retracted:all", "Which articles were retracted?", bad, (step,))
    one = next(one for one in by_heading["Gene Editing"] if one.find(".//AbstractText") is not None)
    words = _read_title(one).rstrip(".")
    sync: Step = ("pubmed_sync_delta", {"query_key": "editing", "term": '"Gene Editing"[mh]'})
    look: Step = ("rag_search", {"query": words, "top_k": 3, "details": True})
    year = read_text(one.find(".//JournalIssue/PubDate/Year"))
    question = f"Collect what there is on gene editing; which of it says “{words}”, and of which year is it?"
    yield Task("corpus:editing", question, (_read_pmid(one), year), (sync, look))


def _is_retracted(one: ElementTree.Element) -> bool:
    return any(read_text(node) == "Retracted Publication" for node in one.iterfind(".//PublicationType"))


def _read_pmid(one: ElementTree.Element) -> str:
    return read_text(one.find("MedlineCitation/PMID"))


def _read_title(one: ElementTree.Element) -> str:
    return read_text(one.find(".//ArticleTitle"))


def _read_doi(one: ElementTree.Element) -> str:
    return read_text(one.find("PubmedData/ArticleIdList/ArticleId[@IdType='doi']"))


def _make_gene_tasks() -> Iterator[Task]:
    root = ElementTree.parse(FIXTURES / "gene" / "human.xml").getroot()
    records = json.loads((FIXTURES / "entrez" / "gene.json").read_text(encoding="utf-8"))["records"]
    links = {record["uid"]: record["links"]["gene_pubmed"] for record in records if "gene_pubmed" in record["links"]}
    for place, gene in enumerate(list(root.iter("Entrezgene"))[:3]):
        symbol, number = gene.findtext(".//Gene-ref_locus", ""), gene.findtext(".//Gene-track_geneid", "")
        find: Step = (GENES, {"query": symbol, "organism": "human", "page_size": 1})
        located = (f"NCBIGene:{number}", gene.findtext(".//Gene-ref_maploc", ""))
        question = f"Where is human {symbol}, and what is its id?"
        yield Task(f"locus:{symbol}", question, located, (find, ("get_gene", {"entrez_id": "$0.items.0.id"})))
        if number in links:
            step: Step = ("get_pubmed_links", {"entrez_id": f"NCBIGene:{number}"})
            yield Task(
                f"gene-articles:{symbol}", f"Which articles are about gene {number}?", (*links[number],), (step,)
            )
        if not place:
            wrong: Step = (GENES, {"query": symbol, "organism": "mus musclus", "page_size": 1})
            yield Task(f"organism:{symbol}", "Which taxid has mus musclus (sic)?", ("Mus musculus", "10090"), (wrong,))


def _make_mesh_tasks() -> Iterator[Task]:
    headings = json.loads((FIXTURES / "mesh" / "headings.json").read_text(encoding="utf-8"))
    for heading in headings[:2]:
        name = heading["name"]
        step: Step = (MESH, {"query": name, "max_results": 1})
        yield Task(f"tree:{name}", f"Where in MeSH is {name}?", tuple(heading["tree_numbers"]), (step,))
    at = {tree: heading for heading in headings for tree in heading.get("tree_numbers", ())}
    below = {tree: [one for other, one in at.items() if other.rpartition(".")[0] == tree] for tree in at}
    for tree in [tree for tree in sorted(at) if below[tree]][:2]:
        narrower = tuple(one["name"] for one in below[tree])
        step = (MESH, {"query": tree, "include_tree": True})
        yield Task(f"narrower:{tree}", f"Which headings stand right below {tree}?", narrower, (step,))
        name, above = below[tree][0]["name"], at[tree]
        step = (MESH, {"query": name, "include_tree": True, "max_results": 1})
        yield Task(f"broader:{name}", f"Under which headings stands {name}?", (above["ui"], above["name"]), (step,))


def _make_other_tasks() -> Iterator[Task]:
    """Yield the questions for other services than PubMed."""
    preprints = json.loads((FIXTURES / "europepmc" / "preprints.json").read_text(encoding="utf-8"))["records"]
    for one in [preprint for preprint in preprints if "<" not in preprint["title"]][:2]:
        title = one["title"].rstrip(".")
        step: Step = ("europepmc_search", {"query": f'TITLE:"{title}"', "sources": ["PPR"]})
        yield Task(f"preprint:{one['doi']}", f"Which DOI has the preprint “{title}”?", (one["doi"],), (step,))
    step = ("pubmed_spell_check", {"query": "crisper"})
    yield Task("spelling:crisper", "How would NCBI spell crisper?", ("crispr",), (step,))


def _make_fulltext_tasks() -> Iterator[Task]:
    for path in sorted((FIXTURES / "pmc").glob("*.xml"))[:2]:
        section = ElementTree.parse(path).getroot().find(".//body/sec")
        if section is not None:
            title = read_text(section.find("title"))
            step = ("pubmed_fetch_fulltext", {"pmcids": [path.stem], "sections": [title]})
            words = read_text(section.find("p"))[:40]
            yield Task(f"section:{path.stem}", f"What says {path.stem} under {title}?", (words,), (step,))


def fill_in(value: Any, replies: list[Any]) -> Any:
    """Return arguments with the values of earlier replies in place of their paths."""
    if isinstance(value, dict):
        return {name: fill_in(inner, replies) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill_in(inner, replies) for inner in value]
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    place: Any = replies
    for part in value[1:].split("."):
        place = place[int(part)] if isinstance(place, list) else place[part]
    return place


async def run_tasks(command: list[str], wanted: list[Task]) -> Counter[str]:
    """Run every task; return the number of solved ones, of calls and of bytes. Prints the unsolved tasks."""
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
                    result = await client.call_tool(tool, fill_in(arguments, replies))
                    text = "\n".join(block.text for block in result.content if block.type == "text")
                    replies.append(result.structured_content or text)
                    heard += text
                    counted["calls"] += 1
                    counted["bytes"] += len(text.encode())
                    counted[f"calls {task.kind}"] += 1
                    counted[f"bytes {task.kind}"] += len(text.encode())
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
    wanted = make_tasks()
    if options.kinds:
        for task in wanted:
            print(f"{task.name}\t{task.question}")
        return 0
    if options.plans is not None:
        plans = json.loads(options.plans.read_text(encoding="utf-8"))
        steps = {name: tuple((step["tool"], step["arguments"]) for step in plan) for name, plan in plans.items()}
        wanted = [Task(task.name, task.question, task.answers, steps.get(task.name, ())) for task in wanted]
    kinds = Counter(task.kind for task in wanted)
    counted = anyio.run(run_tasks, options.command or [sys.executable, "-m", "entrez_kit", "--demo", "serve"], wanted)
    for kind, number in sorted(kinds.items()):
        calls, size = counted[f"calls {kind}"], counted[f"bytes {kind}"]
        print(f"  {kind:14} {number:2} tasks {calls:2} calls {size:6} bytes {size // 4:5} tokens")
    print(f"kinds  {len(kinds)}")
    print(f"solved {counted['solved']} of {len(wanted)}")
    print(f"calls  {counted['calls']}")
    print(f"bytes  {counted['bytes']} and {counted['list_bytes']} of tools/list")
    print(f"tokens {(counted['bytes'] + counted['list_bytes']) // 4}")
    return 0 if counted["solved"] == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
