"""Example calls of every operation: the arguments in the terminal, and the fields of the request."""

import json
from typing import Any

from project_paths import DATA

CLAIMS = DATA / "claims.jsonl"
REFERENCES = DATA / "references.txt"
KNOWN = DATA / "known.txt"
STRATEGY = DATA / "strategy.txt"
CITED = {"journal": "Ann Imaginary Genome Ed (Demo)", "year": "2019", "volume": "3", "first_page": "101"}
GENES = ("672", "999999", "7157", "TP53", "672")
MIXED = ("99000001", "12", "PMC99000002", "nonsense", "10.5555/ekit.2025.0006", "99000001")

EXAMPLES: dict[str, list[tuple[tuple[str, ...], dict[str, Any]]]] = {
    "pubmed_search_articles": [
        (("crispr",), {"query_term": "crispr"}),
        (
            ("crispr OR qqqzzz[foo]", "-n", "3", "--summaries", "2", "--min-date", "2019", "--type", "Review"),
            {
                "query_term": "crispr OR qqqzzz[foo]",
                "max_results": 3,
                "fetch_brief_summaries": 2,
                "date_range": {"min_date": "2019"},
                "filter_by_publication_types": ["Review"],
            },
        ),
        (("crisper",), {"query_term": "crisper"}),
    ],
    "pubmed_count_facets": [
        (("crispr",), {"query_term": "crispr"}),
        (
            ("crispr", "--by", "year", "--by", "mesh", "--top", "3", "--max-records", "5"),
            {"query_term": "crispr", "facets": ["year", "mesh"], "top": 3, "max_records": 5},
        ),
    ],
    "pubmed_fetch_contents": [
        (("99000001", "99000050"), {"pmids": ["99000001", "99000050"]}),
        (("12", "PMC99000001", "x"), {"pmids": ["12", "PMC99000001", "x"]}),
        (("99000001", "--detail", "citation_data"), {"pmids": ["99000001"], "detail_level": "citation_data"}),
        (("99000070", "--detail", "full_xml"), {"pmids": ["99000070"], "detail_level": "full_xml"}),
        (("99000001", "--detail", "medline_text"), {"pmids": ["99000001"], "detail_level": "medline_text"}),
        (
            ("99000001", "--no-mesh", "--grants"),
            {
                "pmids": ["99000001"],
                "include_mesh_terms": False,
                "include_grant_info": True,
            },
        ),
    ],
    "europepmc_search": [
        (("crispr",), {"query": "crispr"}),
        (
            ("crispr", "OR", "wheat", "--source", "preprints", "--sort", "date", "--page-size", "3", "--synonyms"),
            {"query": "crispr OR wheat", "sources": ["PPR"], "sort_by": "date", "page_size": 3, "synonyms": True},
        ),
        (("AUTH:Luo", "--detail", "brief"), {"query": "AUTH:Luo", "detail_level": "brief"}),
        (("nosuchword",), {"query": "nosuchword"}),
    ],
    "pubmed_article_relationships": [
        (("99000001",), {"source_pmid": "99000001"}),
        (
            ("99000004", "--type", "references", "--depth", "2", "-n", "7", "--budget", "5"),
            {
                "source_pmid": "99000004",
                "relationship_type": "references",
                "depth": 2,
                "max_related_results": 7,
                "budget": 5,
            },
        ),
        (("99000003", "--type", "references"), {"source_pmid": "99000003", "relationship_type": "pubmed_references"}),
        (("99000004", "--type", "formats"), {"source_pmid": "99000004", "relationship_type": "citation_formats"}),
        (
            ("99000004", "--type", "formats", "--style", "bibtex,mla_string", "--style", "nbib"),
            {
                "source_pmid": "99000004",
                "relationship_type": "citation_formats",
                "citation_styles": ["bibtex", "mla_string", "nbib"],
            },
        ),
    ],
    "pubmed_format_citations": [
        (("99000001", "99000050"), {"pmids": ["99000001", "99000050"]}),
        (
            ("12", "PMC99000001", "x", "--style", "mla_string,vancouver", "--style", "csl"),
            {"pmids": ["12", "PMC99000001", "x"], "citation_styles": ["mla", "vancouver", "csl"]},
        ),
        (
            ("99000050", "--style", "ris,bibtex,nbib"),
            {"pmids": ["99000050"], "citation_styles": ["ris", "bibtex", "nbib"]},
        ),
    ],
    "pubmed_fetch_fulltext": [
        (("PMC99000001", "PMC99000002"), {"pmcids": ["PMC99000001", "PMC99000002"]}),
        (
            ("99000001", "99000007", "12", "--references", "--section", "methods", "--max-characters", "200"),
            {
                "pmids": ["99000001", "99000007", "12"],
                "include_references": True,
                "sections": ["methods"],
                "max_characters": 200,
            },
        ),
        (
            ("10.5555/ekit.2019.0050", "--max-sections", "2", "--overflow", "outline"),
            {"dois": ["10.5555/ekit.2019.0050"], "max_sections": 2, "overflow_mode": "outline"},
        ),
    ],
    "search_genes": [
        (("TP53",), {"query": "TP53"}),
        (
            ("tumor", "suppressor", "--organism", "human", "--page-size", "1"),
            {"query": "tumor suppressor", "organism": "human", "page_size": 1},
        ),
        (
            ("PARK4", "--include-discontinued", "--cursor", "eyJvZmZzZXQiOiAxfQ=="),
            {"query": "PARK4", "include_discontinued": True, "cursor": "eyJvZmZzZXQiOiAxfQ=="},
        ),
        (("nosuchgene123",), {"query": "nosuchgene123"}),
    ],
    "get_gene": [
        (("NCBIGene:7157",), {"entrez_id": "NCBIGene:7157"}),
        (("NCBIGene:7157", "--slim"), {"entrez_id": "NCBIGene:7157", "slim": True}),
    ],
    "get_pubmed_links": [
        (("NCBIGene:7157", "--limit", "3"), {"entrez_id": "NCBIGene:7157", "limit": 3}),
    ],
    "pubmed_lookup_citation": [
        (
            ("--title", "Base editing of a cryptic splice site"),
            {"citations": [{"title": "Base editing of a cryptic splice site"}]},
        ),
        (("--journal", "J", "--year", "2020"), {"citations": [{"journal": "J", "year": "2020"}]}),
        (
            (
                *("--journal", CITED["journal"], "--year", "2019", "--volume", "3", "--page", "101"),
                *("--author", "Luo Q", "--title", "Base editing of a cryptic splice site", "--key", "mine"),
            ),
            {
                "citations": [
                    {
                        **CITED,
                        "author_name": "Luo Q",
                        "title": "Base editing of a cryptic splice site",
                        "key": "mine",
                    }
                ]
            },
        ),
    ],
    "pubmed_verify_claims": [
        (
            (str(CLAIMS),),
            {
                "claims": [
                    {"text": claim["claim"], "ids": claim["ids"], "line": line}
                    for line, claim in enumerate(map(json.loads, CLAIMS.read_text("utf-8").splitlines()), start=1)
                ]
            },
        ),
    ],
    "corpus_audit": [
        (("c",), {"query_key": "c"}),
        (
            ("c", "--sources", "pubmed,openalex", "--no-references"),
            {"query_key": "c", "sources": ["pubmed", "openalex"], "references": False},
        ),
    ],
    "check_references": [
        ((str(REFERENCES),), {"text": REFERENCES.read_text("utf-8")}),
    ],
    "merge_references": [
        ((str(REFERENCES),), {"files": [{"file": str(REFERENCES), "text": REFERENCES.read_text("utf-8")}]}),
    ],
    "pubmed_convert_ids": [
        (MIXED, {"ids": list(MIXED)}),
        (("99000001", "--id-type", "pmcid"), {"ids": ["99000001"], "id_type": "pmcid"}),
    ],
    "pubmed_lookup_mesh": [
        (("heart", "attack"), {"query": "heart attack"}),
        (("diabetes", "-n", "2", "--offset", "2"), {"query": "diabetes", "max_results": 2, "offset": 2}),
        (("D000077594", "--no-details"), {"query": "D000077594", "include_details": False}),
    ],
    "translate_strategy": [
        ((str(STRATEGY),), {"strategy": STRATEGY.read_text(encoding="utf-8")}),
        (
            (str(STRATEGY), "--proximity", "and", "--dialect", "ovid"),
            {"strategy": STRATEGY.read_text(encoding="utf-8"), "proximity": "and", "dialect": "ovid"},
        ),
    ],
    "measure_recall": [
        (
            (str(STRATEGY), "--known", str(KNOWN), "--used-to-build"),
            {
                "strategy": STRATEGY.read_text(encoding="utf-8"),
                "known": ["99000001", "99000002", "12", "PMC99000003"],
                "used_to_build": True,
            },
        ),
    ],
    "lint_strategy": [
        ((str(STRATEGY),), {"strategy": STRATEGY.read_text(encoding="utf-8")}),
        (
            (str(STRATEGY), "--online", "--ignore", "language-limit,heading-without-text"),
            {
                "strategy": STRATEGY.read_text(encoding="utf-8"),
                "online": True,
                "ignore": ["language-limit", "heading-without-text"],
            },
        ),
    ],
    "pubmed_spell_check": [
        (("crisper", "editng"), {"query": "crisper editng"}),
        (("diabtes", "--db", "mesh"), {"query": "diabtes", "db": "mesh"}),
    ],
    "pubmed_sync_delta": [
        (("editing", "crispr"), {"query_key": "editing", "term": "crispr"}),
        (
            ("trials", "placebo", "OR", "sham", "--overlap-days", "9"),
            {"query_key": "trials", "term": "placebo OR sham", "overlap_days": 9},
        ),
        (("none", "nosuchword"), {"query_key": "none", "term": "nosuchword"}),
    ],
    "rag_search": [
        (("base", "editing"), {"query": "base editing"}),
        (
            ("zebrafish", "-n", "3", "--no-quality"),
            {"query": "zebrafish", "top_k": 3, "quality_bias": False},
        ),
        (("base", "--corpus", "c", "--index", "local"), {"query": "base", "corpus": "c", "index": "local"}),
        (("nosuchword",), {"query": "nosuchword"}),
    ],
    "rag_get": [(("99000001",), {"doc_id": "pmid:99000001"})],
    "corpus_checkpoint_get": [(("c",), {"query_key": "c"}), (("unknown",), {"query_key": "unknown"})],
    "corpus_checkpoint_set": [
        (
            ("c", "2025-01-01T00:00:00Z", "--note", "backfill"),
            {"query_key": "c", "last_edat": "2025-01-01T00:00:00Z"},
        ),
    ],
    "entrez_info": [((), {}), (("mesh",), {"db": "mesh"}), (("--term", "TP53"), {"term": "TP53"})],
    "entrez_search": [
        (("mesh", "diabetes", "mellitus"), {"db": "mesh", "term": "diabetes mellitus"}),
        (("mesh", "qqzz", "-n", "5", "--offset", "0"), {"db": "mesh", "term": "qqzz", "max_results": 5}),
    ],
    "entrez_summary": [(("gene", *GENES), {"db": "gene", "ids": list(GENES)})],
    "entrez_fetch": [
        (("nuccore", "ZZ900001.1", "--rettype", "fasta"), {"db": "nuccore", "ids": ["ZZ900001.1"], "rettype": "fasta"}),
        (
            ("nuccore", "ZZ900001.1", "ZZ1.1", "--rettype", "fasta", "--retmode", "text"),
            {"db": "nuccore", "ids": ["ZZ900001.1", "ZZ1.1"], "rettype": "fasta", "retmode": "text"},
        ),
    ],
    "entrez_link": [
        (
            (*GENES, "--from", "gene", "--to", "pubmed"),
            {"ids": list(GENES), "source": "gene", "target": "pubmed"},
        ),
        (
            ("99000001", "--to", "pubmed", "--link-name", "pubmed_pubmed", "--scores", "--verify"),
            {"ids": ["99000001"], "target": "pubmed", "link_name": "pubmed_pubmed", "scores": True, "verify": True},
        ),
    ],
}
FAILING_EXAMPLES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "pubmed_search_articles": (("crispr", "--sort", "size"), {"query_term": "crispr", "sort_by": "size"}),
    "pubmed_fetch_contents": (("1", "--retmax", "5"), {"pmids": ["1"], "retmax": 5}),
    "europepmc_search": (("x", "--page-size", "1001"), {"query": "x", "page_size": 1001}),
    "pubmed_fetch_fulltext": (("1", "--max-sections", "0"), {"pmids": ["1"], "max_sections": 0}),
    "pubmed_article_relationships": (("12",), {"source_pmid": "12"}),
    "pubmed_format_citations": (("1", "--style", "harvard"), {"pmids": ["1"], "citation_styles": ["harvard"]}),
    "search_genes": (("TP53", "--page-size", "0"), {"query": "TP53", "page_size": 0}),
    "get_gene": (("TP53",), {"entrez_id": "TP53"}),
    "get_pubmed_links": (("gene:7157",), {"entrez_id": "gene:7157"}),
    "pubmed_lookup_citation": (("--year", "24"), {"citations": [{"year": "24"}]}),
    "pubmed_convert_ids": (("1", "--id-type", "isbn"), {"ids": ["1"], "id_type": "isbn"}),
    "pubmed_verify_claims": (
        (str(DATA / "claim_with_too_many_ids.jsonl"),),
        {"claims": [{"text": "It moves", "ids": [str(99000001 + n) for n in range(51)], "line": 1}]},
    ),
    "corpus_audit": (("nosuchkey",), {"query_key": "nosuchkey"}),
    "check_references": (
        (str(REFERENCES), "--retraction-watch", "/no/such.csv"),
        {"text": "10.5555/x", "retraction_watch": "/no/such.csv"},
    ),
    "merge_references": (
        (str(REFERENCES), "--undo", "a.ris#9"),
        {"files": [REFERENCES], "separate": ["a.ris#9"]},
    ),
    "pubmed_count_facets": (("crispr", "--top", "0"), {"query_term": "crispr", "top": 0}),
    "pubmed_lookup_mesh": (("x", "-n", "51"), {"query": "x", "max_results": 51}),
    "translate_strategy": ((str(DATA / "no_search_line.txt"),), {"strategy": "Search Strategy:\n"}),
    "measure_recall": (
        (str(DATA / "no_search_line.txt"), "--known", str(KNOWN)),
        {"strategy": "Search Strategy:\n", "known": ["99000001", "99000002", "12", "PMC99000003"]},
    ),
    "lint_strategy": ((str(DATA / "no_search_line.txt"),), {"strategy": "Search Strategy:\n"}),
    "pubmed_spell_check": (("x",), {"query": "x"}),
    "pubmed_sync_delta": (("k", "(crispr"), {"query_key": "k", "term": "(crispr"}),
    "rag_search": (("x", "-n", "101"), {"query": "x", "top_k": 101}),
    "rag_get": (("pmid:12",), {"doc_id": "pmid:12"}),
    "corpus_checkpoint_get": (("",), {"query_key": ""}),
    "corpus_checkpoint_set": (("k", "soon"), {"query_key": "k", "last_edat": "soon"}),
    "entrez_info": (("nosuchdb",), {"db": "nosuchdb"}),
    "entrez_search": (("gene", "x", "--offset", "-1"), {"db": "gene", "term": "x", "offset": -1}),
    "entrez_summary": (("no db", "1"), {"db": "no db", "ids": ["1"]}),
    "entrez_fetch": (("gene", "999999"), {"db": "gene", "ids": ["999999"]}),
    "entrez_link": (("1", "--to", "nosuchdb"), {"ids": ["1"], "target": "nosuchdb"}),
}
"""One call of each operation that fails: in the terminal, and with the same arguments in Python."""

CORPUS = {"query_key": "c", "term": "crispr OR editing"}
"""Arguments with which both front ends sync before they read from their corpora."""
