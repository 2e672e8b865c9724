"""Readers of MEDLINE, FASTA, GenBank, ASN.1 and tables. They detect truncation, which no closing tag shows.

Every reader takes the bytes of a reply and raises ``UpstreamError`` if its last record is truncated, a record is
repeated, or the text has another format.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, Final

from entrez_kit.services.known_shapes import TextShape, log_drift
from entrez_kit.services.small_replies import malformed_error

_MEDLINE_RECORD: Final = re.compile(rb"(?m)^PMID\s*-[ \t]*([0-9]+)[ \t]*\r?$")
_MEDLINE_SOURCE: Final = re.compile(rb"(?m)^SO  - ((?:.*\r?\n)(?: {6}.*\r?\n)*)")
"""The last field of every record that NCBI writes; in an article it ends with a full stop."""
_MEDLINE_BOOK: Final = re.compile(rb"(?m)^BTI *- ")
_BLANK_LINES: Final = re.compile(rb"(?:\r?\n){2,}")
_MEDLINE_FIELD: Final = re.compile(rb"(?m)^[A-Z]{2,4} *- ")
_LOCUS: Final = re.compile(rb"(?m)^LOCUS +(\S+)")
ASN1_ENTRY: Final = re.compile(rb"(?m)^[A-Z][\w-]* ::= ")
_ASN1_TEXT: Final = re.compile(rb'"[^"]*"')


MEDLINE: Final = TextShape(
    "MEDLINE",
    re.compile(rb"(?m)^([A-Z]{2,4}) *- "),
    known="AB AD AID AU AUID BTI CDAT CI CIN CN COI COIS CON CP CRDT CRF CRI CTDT CTI CY DA DCOM DDIN DEP DP DRDT"
    " DRIN ECF ECI ED EDAT EFR EIN EN FAU FED FIR FPS GN GR GS IP IR IRAD IS ISBN JID JT LA LID LR MH MHDA MID"
    " NM OAB OABL OCI OID ORI OT OTO OWN PB PG PHST PL PMC PMCR PMID PRIN PROF PS PST PT PUBM RF RIN RN ROF"
    " RPF RPI RRF RRI SB SFM SI SO SPIN STAT TA TI TT UIN UOF VI VTI",
    required="PMID SO",
)
"""The field names of NLM, from the help of PubMed."""


def read_medline(content: bytes) -> list[tuple[str, bytes]]:
    """Return the PMID and the bytes of every record in MEDLINE text, in order.

    A record extends from its PMID line to the blank line before the next record and includes its last line end. Text
    outside of records, such as NCBI's message about an unknown PMID, is omitted.
    """
    _refuse_spoilt(content)
    log_drift(MEDLINE, content)
    starts = list(_MEDLINE_RECORD.finditer(content))
    if not starts and _MEDLINE_FIELD.search(content):
        raise malformed_error("efetch", "MEDLINE text without a PMID")
    _refuse_repeated(start[1] for start in starts)
    records = []
    for start, following in zip_longest(starts, starts[1:]):
        chunk = content[start.start() : following.start() if following else len(content)]
        source = _MEDLINE_SOURCE.search(chunk)
        if source is None or not (source[1].rstrip().endswith(b".") or _MEDLINE_BOOK.search(chunk)):
            raise malformed_error("efetch", "a truncated MEDLINE record", "truncated")
        end = _BLANK_LINES.search(chunk)
        body = chunk[: end.start()] if end else chunk.rstrip(b"\r\n")
        if end and following is None and (rest := chunk[end.end() :]) and not rest.endswith(b"\n"):
            raise malformed_error("efetch", "truncated MEDLINE text", "truncated")
        line_end = b"\r\n" if chunk[len(body) :].startswith(b"\r\n") else b"\n"
        records.append((start[1].decode("ascii"), body + line_end))
    return records


def read_fasta(content: bytes) -> bytes:
    """Return FASTA text if it is complete."""
    _refuse_spoilt(content)
    if not content.lstrip().startswith(b">"):
        raise malformed_error("efetch", "not FASTA")
    if not content.endswith(b"\n") or content.rstrip().rpartition(b"\n")[2].startswith(b">"):
        raise malformed_error("efetch", "truncated FASTA", "truncated")
    _refuse_repeated(re.findall(rb"(?m)^>(.*)$", content))
    return content


def read_genbank(content: bytes) -> bytes:
    """Return GenBank or GenPept text if it is complete."""
    _refuse_spoilt(content)
    if not content.lstrip().startswith(b"LOCUS"):
        raise malformed_error("efetch", "not GenBank text")
    loci = _LOCUS.findall(content)
    if len(loci) != len(re.findall(rb"(?m)^//[ \t\r]*$", content)) or not content.rstrip().endswith(b"\n//"):
        raise malformed_error("efetch", "truncated GenBank text", "truncated")
    _refuse_repeated(loci)
    return content


def read_asn1(content: bytes) -> bytes:
    """Return ASN.1 text if it is complete, and any other content unchanged."""
    if ASN1_ENTRY.match(content.lstrip()):
        without_texts = _ASN1_TEXT.sub(b"", content)
        if b'"' in without_texts or without_texts.count(b"{") != without_texts.count(b"}"):
            raise malformed_error("efetch", "truncated ASN.1 text", "truncated")
    return content


def read_table(content: bytes) -> bytes:
    """Return comma-separated text, whose first row has the names of the columns, if its last row is complete."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline="")) if row]
    except csv.Error as exc:
        raise malformed_error("efetch", f"not a table ({exc})") from None
    if not rows or not content.endswith(b"\n") or len(rows[-1]) < len(rows[0]):
        raise malformed_error("efetch", "a truncated table", "truncated")
    return content


READERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "medline": read_medline,
    "fasta": read_fasta,
    "gb": read_genbank,
    "gbwithparts": read_genbank,
    "gp": read_genbank,
    "runinfo": read_table,
}
"""By EFetch's rettype."""


def _refuse_spoilt(content: bytes) -> None:
    try:
        spoilt = "\x00" in content.decode("utf-8")
    except UnicodeDecodeError:
        spoilt = True
    if spoilt:
        raise malformed_error("efetch", "text with invalid bytes")


def _refuse_repeated(names: Iterable[bytes]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise malformed_error("efetch", f"a repeated record ({twice[0][:60].decode('utf-8', 'replace').strip()})")
