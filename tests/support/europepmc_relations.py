"""A Europe PMC for the sandbox, with citations and references in its format."""

from collections.abc import Mapping, Sequence
from typing import Any

from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.sandbox.server import Sandbox

Records = Sequence[Mapping[str, Any]]

LISTS = {"citations": ("citationList", "citation"), "references": ("referenceList", "reference")}


def write_med_record(pmid: str, **fields: Any) -> dict[str, Any]:
    """Return a record of an article that is in PubMed."""
    return {"id": pmid, "source": "MED", "citationType": "journal article", "title": f"Title of {pmid}", **fields}


def serve_europepmc(sandbox: Sandbox, **answers: Mapping[str, Records]) -> None:
    """Make the sandbox answer as Europe PMC.

    Args:
        sandbox: the running sandbox.
        answers: records by PMID, for citations and for references.
    """

    def answer(request: LocalRequest, state: LocalState) -> LocalReply:
        source, ext_id, what = request.rest.split("/")
        outer, inner = LISTS[what]
        if source != "MED":
            return answer_text("", 404)
        records = list(answers.get(what, {}).get(ext_id, ()))
        page, size = request.get_number("page", 1), request.get_number("pageSize", 25)
        shown = records[(page - 1) * size : page * size]
        return answer_json(
            {"version": "6.9", "hitCount": len(records), "request": {"id": ext_id}, outer: {inner: shown}}
        )

    sandbox.route("/europepmc", "europepmc", answer)


def write_linkset(source: str, *groups: str, error: str = "") -> str:
    """Return a link set of one article."""
    problem = f"<ERROR>{error}</ERROR>" if error else ""
    ids = f"<Id>{source}</Id>" if source else ""
    return f"<LinkSet><DbFrom>pubmed</DbFrom><IdList>{ids}</IdList>{''.join(groups)}{problem}</LinkSet>"


def write_group(name: str, *links: str | tuple[str, int], db: str = "pubmed") -> str:
    """Return the links of one kind."""
    parts = []
    for link in links:
        pmid, score = (link, None) if isinstance(link, str) else link
        scored = "" if score is None else f"<Score>{score}</Score>"
        parts.append(f"<Link><Id>{pmid}</Id>{scored}</Link>")
    return f"<LinkSetDb><DbTo>{db}</DbTo><LinkName>{name}</LinkName>{''.join(parts)}</LinkSetDb>"
