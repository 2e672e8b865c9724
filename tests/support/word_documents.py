"""Word documents for tests, as Word and the reference managers write them."""

import base64
import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)


def write_word(*body: str, **parts: str) -> bytes:
    """Return a document of paragraphs (``paragraph`` and others here make them); parts are footnotes and the like."""
    document = f'<?xml version="1.0" encoding="UTF-8"?><w:document {W}><w:body>{"".join(body)}</w:body></w:document>'
    return write_package({"word/document.xml": document, **{f"word/{name}.xml": text for name, text in parts.items()}})


def write_package(members: dict[str, str | bytes]) -> bytes:
    """Return a package with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", TYPES)
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def write_run(text: str, *, raised: bool = False) -> str:
    """Return text within a paragraph."""
    style = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>' if raised else ""
    return f'<w:r>{style}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def write_paragraph(*texts: str, style: str = "", numbered: bool = False) -> str:
    """Return a paragraph of plain texts, or of existing runs and fields."""
    inner = "".join(text if text.startswith("<w:") else write_run(text) for text in texts)
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    properties += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr>' if numbered else ""
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def write_heading(text: str) -> str:
    """Return a heading."""
    return write_paragraph(text, style="Heading1")


def write_field(code: str, result: str, *, data: str = "", pieces: int = 3) -> str:
    """Return a field; Word splits its code into runs at any place."""
    size = max(1, len(code) // pieces + 1)
    codes = "".join(
        f'<w:r><w:instrText xml:space="preserve">{escape(code[n : n + size])}</w:instrText></w:r>'
        for n in range(0, len(code), size)
    )
    held = f"<w:fldData>{data}</w:fldData>" if data else ""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{held}</w:fldChar></w:r>{codes}'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{write_run(result)}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def write_zotero(items: Sequence[dict[str, Any]], shown: str) -> str:
    """Return a citation in Zotero's format."""
    kept = {
        "citationID": "a1b2",
        "properties": {"formattedCitation": shown, "plainCitation": shown},
        "citationItems": [
            {"id": n, "uris": [f"http://zotero.org/x/{n}"], "itemData": item} for n, item in enumerate(items)
        ],
        "schema": "https://github.com/citation-style-language/schema/raw/master/csl-citation.json",
    }
    return write_field(f" ADDIN ZOTERO_ITEM CSL_CITATION {json.dumps(kept)} ", shown)


def write_mendeley(items: Sequence[dict[str, Any]], shown: str) -> str:
    """Return a citation in the format of Mendeley's older plugin."""
    kept = {"citationItems": [{"id": f"ITEM-{n}", "itemData": item} for n, item in enumerate(items)], "mendeley": {}}
    return write_field(f"ADDIN CSL_CITATION {json.dumps(kept)}", shown)


def write_mendeley_cite(items: Sequence[dict[str, Any]], shown: str) -> str:
    """Return a citation in the format of Mendeley Cite: in the tag of a content control."""
    kept = {"citationID": "M1", "citationItems": [{"id": str(n), "itemData": item} for n, item in enumerate(items)]}
    tag = f"MENDELEY_CITATION_v3_{base64.b64encode(json.dumps(kept).encode()).decode()}"
    content = f"<w:sdtContent>{write_run(shown)}</w:sdtContent>"
    return f"<w:sdt><w:sdtPr><w:tag w:val={quoteattr(tag)}/></w:sdtPr>{content}</w:sdt>"


def write_endnote(records: str, shown: str) -> str:
    """Return a citation in EndNote's format: its XML packed into the data of a field within a field."""
    xml = f"<EndNote>{records}</EndNote>"
    inner = write_field(" ADDIN EN.CITE.DATA ", "", data=base64.b64encode(xml.encode()).decode())
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ADDIN EN.CITE </w:instrText></w:r>'
    end = (
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{write_run(shown)}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    return f"{begin}{inner}{end}"


def write_endnote_record(number: int, *, title: str, authors: Sequence[str], journal: str, year: str, doi: str) -> str:
    """Return one record of EndNote, in the form of documents and exports."""

    def add_style(text: str) -> str:
        return f'<style face="normal" font="default" size="100%">{escape(text)}</style>'

    people = "".join(f"<author>{add_style(name)}</author>" for name in authors)
    return (
        f"<Cite><record><rec-number>{number}</rec-number><ref-type name='Journal Article'>17</ref-type>"
        f"<contributors><authors>{people}</authors></contributors><titles><title>{add_style(title)}</title>"
        f"<secondary-title>{add_style(journal)}</secondary-title></titles><dates><year>{add_style(year)}</year></dates>"
        f"<electronic-resource-num>{add_style(doi)}</electronic-resource-num></record></Cite>"
    )


def write_bibliography(*texts: str) -> str:
    """Return a bibliography as Zotero writes it, one field over all its paragraphs."""
    first, *others = texts
    code = "ADDIN ZOTERO_BIBL {} CSL_BIBLIOGRAPHY"
    begin = f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> {code} </w:instrText></w:r>'
    begin += '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    paragraphs = [f"<w:p>{begin}{write_run(first)}</w:p>", *(f"<w:p>{write_run(text)}</w:p>" for text in others)]
    return "".join([*paragraphs, f"<w:p>{end}</w:p>"])
