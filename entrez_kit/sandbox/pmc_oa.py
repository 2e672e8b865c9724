"""PMC's open-data bucket: the versions of an article by prefix, the metadata of a version, and its XML.

Articles whose PMCID is divisible by five are not in the bucket. Of the others, those with an even PMCID have two
versions.
"""

import re
from typing import Final

from entrez_kit.local.eutils.replies import LocalReply, answer_json, answer_xml
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.text import escape_xml, wrap
from entrez_kit.sandbox.invented import render_sections
from entrez_kit.sandbox.pmc_text import render_article

BUCKET: Final = "pmc-oa-opendata"
_PREFIX: Final = re.compile(r"(PMC[0-9]+)\.")
_FILE: Final = re.compile(r"(?:metadata|(PMC[0-9]+\.[0-9]+))/(PMC[0-9]+)\.([0-9]+)\.(json|xml)")


def answer_pmc_oa(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer a request for a listing or a file of the bucket."""
    if not request.rest:
        return _answer_listing(request, state)
    match = _FILE.fullmatch(request.rest)
    name = f"{match[2]}.{match[3]}" if match else ""
    article = state.find_article(match[2]) if match and match[1] in (None, name) else None
    if match is None or article is None or int(match[3]) not in _list_versions(article.pmcid):
        return _answer_missing(request.rest)
    if match[4] == "json" and match[1] is None:
        return answer_json(_build_record(article, int(match[3])))
    if match[4] == "xml" and match[1] is not None:
        body = wrap("body", render_sections(article, "sec", "title"))
        return answer_xml(f'<?xml version="1.0" encoding="UTF-8"?>\n{render_article(article, body)}\n')
    return _answer_missing(request.rest)


def _answer_listing(request: LocalRequest, state: LocalState) -> LocalReply:
    prefix = request.get("prefix")
    match = _PREFIX.fullmatch(prefix)
    article = state.find_article(match[1]) if match else None
    names = [f"{article.pmcid}.{number}/" for number in _list_versions(article.pmcid)] if article is not None else []
    prefixes = "".join(f"<CommonPrefixes><Prefix>{escape_xml(name)}</Prefix></CommonPrefixes>" for name in names)
    return answer_xml(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>{BUCKET}</Name>'
        f"<Prefix>{escape_xml(prefix)}</Prefix><KeyCount>{len(names)}</KeyCount><MaxKeys>1000</MaxKeys>"
        f"<Delimiter>/</Delimiter><IsTruncated>false</IsTruncated>{prefixes}</ListBucketResult>"
    )


def _answer_missing(key: str) -> LocalReply:
    return answer_xml(
        '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>'
        f"<Message>The specified key does not exist.</Message><Key>{escape_xml(key)}</Key></Error>",
        404,
    )


def _list_versions(pmcid: str) -> list[int]:
    number = int(pmcid.removeprefix("PMC"))
    if number % 5 == 0:
        return []
    return [1, 2] if number % 2 == 0 else [1]


def _build_record(article: Document, version: int) -> dict[str, object]:
    name = f"{article.pmcid}.{version}"
    return {
        "pmcid": article.pmcid,
        "version": version,
        "pmid": int(article.pmid),
        "doi": article.doi or None,
        "title": article.title,
        "is_pmc_openaccess": True,
        "is_manuscript": False,
        "is_historical_ocr": False,
        "is_retracted": False,
        "license_code": "CC BY",
        "xml_url": f"s3://{BUCKET}/{name}/{name}.xml?md5=00000000000000000000000000000000",
    }
