"""Twenty-four tasks of a research assistant over the demo, by the SDK's client over standard input and output.

    python tests/benchmarks/research_tasks.py [--command ...]

A task is a question of a person, and its plan has the calls of an agent that has read the list of tools. A task is
solved if the replies have its answers. The figures are calls and bytes of text, as ``agent_tasks.py`` counts them.
"""

import argparse
import sys
from importlib import import_module
from typing import Any

import anyio

TASKS: Any = import_module("agent_tasks")
"""The other benchmark, which has the questions."""
SEARCH, FETCH, RELATED, FULLTEXT = TASKS.SEARCH, TASKS.FETCH, TASKS.RELATED, "pubmed_fetch_fulltext"
GENE, LINKS = "get_gene", "get_pubmed_links"
BASE = "99000001"
Step = tuple[str, dict[str, Any]]

PLANS: tuple[tuple[str, str, tuple[str, ...], tuple[Step, ...]], ...] = (
    (
        "overview",
        "What is published on base editing, and what do the two best hits say?",
        (BASE, "cryptic splice site"),
        (
            (SEARCH, {"query_term": "base editing", "max_results": 5, "fetch_brief_summaries": 5}),
            (FETCH, {"pmids": ["$0.pmids.0", "$0.pmids.1"], "fields": ["title", "abstract_text"]}),
        ),
    ),
    (
        "newest",
        "Which are the three newest articles on CRISPR?",
        ("99000012", "2026-01"),
        (
            (
                SEARCH,
                {"query_term": "crispr", "sort_by": "Pub_Date", "max_results": 3, "fetch_brief_summaries": 3},
            ),
        ),
    ),
    (
        "trials",
        "Which randomised trials on base editing are there, and under which numbers are they registered?",
        ("99000004", "NCT99000001"),
        (
            (
                SEARCH,
                {
                    "query_term": "base editing",
                    "filter_by_publication_types": ["Randomized Controlled Trial"],
                    "registrations": True,
                },
            ),
        ),
    ),
    (
        "letters",
        "Is there a letter on the trial 99000004?",
        ("99000008", "CommentIn"),
        ((SEARCH, {"query_term": "99000004[uid]", "fetch_brief_summaries": 1}),),
    ),
    (
        "reviews",
        "Find reviews on sleep with their abstracts.",
        ("Review",),
        (
            (
                SEARCH,
                {"query_term": "sleep", "filter_by_publication_types": ["Review"], "snippet_characters": 400},
            ),
        ),
    ),
    (
        "years",
        "In which years and journals was gene editing published?",
        ("year", "journal"),
        (("pubmed_count_facets", {"query_term": '"Gene Editing"[mh]', "facets": ["year", "journal"]}),),
    ),
    (
        "heading",
        "Find the MeSH heading for heart attack and its articles.",
        ("Myocardial Infarction",),
        (
            ("pubmed_lookup_mesh", {"query": "heart attack", "max_results": 1}),
            (SEARCH, {"query_term": '"Myocardial Infarction"[mh]', "fetch_brief_summaries": 3}),
        ),
    ),
    (
        "misspelt",
        "Search for crisper, which is misspelt.",
        ("crispr",),
        ((SEARCH, {"query_term": "crisper", "fetch_brief_summaries": 3}),),
    ),
    (
        "standing",
        "Do five articles still stand?",
        ("retracted", "ErratumIn"),
        (
            (
                FETCH,
                {"pmids": [BASE, "99000026", "$retracted", "99000012"], "fields": ["retraction_status", "corrections"]},
            ),
        ),
    ),
    (
        "grants",
        "Who paid for the base editing study, and what are the authors' ORCIDs?",
        ("grant_id", "orcid"),
        ((FETCH, {"pmids": [BASE], "fields": ["grant_list", "authors.last_name", "authors.orcid"]}),),
    ),
    (
        "similar",
        "Which articles are similar to the base editing study, and of which kind are they?",
        ("99000004", "Randomized Controlled Trial"),
        ((RELATED, {"source_pmid": BASE, "max_related_results": 5}),),
    ),
    (
        "network",
        "Who cites the base editing study, and whom does it cite?",
        ("99000031", "99000007"),
        (
            (RELATED, {"source_pmid": BASE, "relationship_type": "citedin"}),
            (RELATED, {"source_pmid": BASE, "relationship_type": "references"}),
        ),
    ),
    (
        "methods",
        "How did the base editing study guide its editor?",
        ("Guide design",),
        ((FULLTEXT, {"pmids": [BASE], "sections": ["guide design"]}),),
    ),
    (
        "outline",
        "What is in the full text of the base editing study, and what are its results?",
        ("Results",),
        (
            (FULLTEXT, {"pmids": [BASE], "overflow_mode": "outline", "max_characters": 1_500}),
            (FULLTEXT, {"pmids": [BASE], "sections": ["results"]}),
        ),
    ),
    (
        "pdf",
        "Read the methods of 99000006, of which there is only a PDF.",
        ("Methods", "PMC99000005"),
        ((FULLTEXT, {"pmids": ["99000006"], "sections": ["methods"], "max_characters": 2_000}),),
    ),
    (
        "gene",
        "Where is human TP53 (homo sapeins, sic), and what does it do?",
        ("17p13.1",),
        (
            ("search_genes", {"query": "TP53", "organism": "homo sapeins", "page_size": 3}),
            (GENE, {"entrez_id": "$0.items.0.id"}),
        ),
    ),
    (
        "genes",
        "Which symbols and organisms have these five gene ids, one of them replaced, one unknown?",
        ("BRCA1", "SNCA", "not_found"),
        (
            (
                GENE,
                {
                    "entrez_ids": [f"NCBIGene:{n}" for n in (7157, 672, 60454, 22059, 999999999)],
                    "slim": True,
                },
            ),
        ),
    ),
    (
        "gene-articles",
        "Which articles are about TP53 and BRCA1?",
        ("99000034", "99000030"),
        (
            (LINKS, {"entrez_ids": ["NCBIGene:7157", "NCBIGene:672"]}),
            (FETCH, {"pmids": ["$0.results.0.pmids.0", "$0.results.1.pmids.0"], "fields": ["title", "abstract_text"]}),
        ),
    ),
    (
        "references",
        "Which PMIDs have these three references, one with a shortened and one with a wrong title?",
        (BASE, "similarity"),
        (
            (
                "pubmed_lookup_citation",
                {
                    "citations": [
                        {"journal": "Ann Imaginary Genome Ed (Demo)", "year": "2019", "volume": "3", "title": title}
                        for title in (
                            "Base editing of a cryptic splice site restores mucus transport in human airway cells",
                            "Base editing of a cryptic splice site",
                            "Rice genomes under drought",
                        )
                    ]
                },
            ),
        ),
    ),
    (
        "citations",
        "Cite three articles in APA and as BibTeX.",
        ("Marrowby", "@article"),
        (("pubmed_format_citations", {"pmids": [BASE, "99000004", "99000012"], "citation_styles": ["apa", "bibtex"]}),),
    ),
    (
        "ids",
        "Which DOIs and PMCIDs have these articles?",
        ("10.5555/ekit.2019.0001", "PMC99000001"),
        (("pubmed_convert_ids", {"ids": [BASE, "99000004", "PMC99000005"]}),),
    ),
    (
        "preprints",
        "Which preprints on base editing are there?",
        ("10.",),
        (("europepmc_search", {"query": "base editing", "sources": ["ppr"], "page_size": 5}),),
    ),
    (
        "corpus",
        "Collect the articles on gene editing, and find evidence about mucus transport in them.",
        (BASE,),
        (
            ("pubmed_sync_delta", {"query_key": "editing", "term": '"Gene Editing"[mh]'}),
            ("rag_search", {"query": "mucus transport", "top_k": 3, "details": True}),
            ("rag_get", {"doc_id": "$1.results.0.doc_id"}),
        ),
    ),
    (
        "author",
        "What did Marrowby publish since 2019?",
        (BASE,),
        (
            (
                SEARCH,
                {
                    "query_term": "base editing",
                    "author": "Marrowby TJ",
                    "date_range": {"min_date": "2019"},
                    "fetch_brief_summaries": 5,
                },
            ),
        ),
    ),
)


def build_tasks() -> list[Any]:
    """Return the tasks; the retracted article is the first of the demo."""
    retracted = next(TASKS._read_pmid(article) for article in TASKS.read_articles() if TASKS._is_retracted(article))

    def place(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: place(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [place(inner) for inner in value]
        return retracted if value == "$retracted" else value

    return [
        TASKS.Task(name, question, answers, tuple((tool, place(arguments)) for tool, arguments in plan))
        for name, question, answers, plan in PLANS
    ]


def main() -> int:
    """Run the tasks and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--command", nargs=argparse.REMAINDER, help="the server; this project's over the demo")
    options = parser.parse_args()
    wanted = build_tasks()
    counted = anyio.run(
        TASKS.run_tasks, options.command or [sys.executable, "-m", "entrez_kit", "--demo", "serve"], wanted
    )
    for task in wanted:
        print(f"  {task.name:14} {counted[f'calls {task.name}']:2} calls {counted[f'bytes {task.name}']:6} bytes")
    print(f"solved {counted['solved']} of {len(wanted)}")
    print(f"calls  {counted['calls']}")
    print(f"bytes  {counted['bytes']} and {counted['list_bytes']} of tools/list")
    return 0 if counted["solved"] == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
