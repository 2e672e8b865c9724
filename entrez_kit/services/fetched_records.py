"""Compare the records of an EFetch reply with the request: the ids, and the lengths of sequences."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.services.efetch_reply import expect_records
from entrez_kit.services.flat_files import ASN1_ENTRY, READERS
from entrez_kit.services.small_replies import get_text, incomplete_reply_error, malformed_error, read_whole_number

_ALIASES: Final = ("uid", "gi", "taxid", "akataxid", "accessionversion", "caption", "assemblyaccession", "accession")
"""Fields of a document summary that identify its record."""
_XML: Final[Mapping[str, tuple[str, tuple[str, ...], str, str]]] = {
    "TaxaSet": ("Taxon", ("TaxId", "AkaTaxIds/TaxId"), "", ""),
    "Entrezgene-Set": (
        "Entrezgene",
        tuple(f"Entrezgene_track-info/Gene-track/Gene-track_{name}" for name in ("geneid", "current-id//Object-id_id")),
        "",
        "",
    ),
    **{
        f"{kind}Set": (
            f"{kind}Seq",
            tuple(
                f"{kind}Seq_{name}"
                for name in (
                    *("locus", "primary-accession", "accession-version"),
                    *(f"other-seqids/{kind}Seqid", f"secondary-accessions/{kind}Secondary-accn"),
                )
            ),
            f"{kind}Seq_length",
            f"{kind}Seq_sequence",
        )
        for kind in ("GB", "INSD")
    },
    "TSeqSet": ("TSeq", ("TSeq_gi", "TSeq_accver", "TSeq_sid"), "TSeq_length", "TSeq_sequence"),
    "PubmedArticleSet": ("*", ("MedlineCitation/PMID", "BookDocument/PMID"), "", ""),
}
"""By root element: the element of a record, the paths of its names, its length and its sequence."""
_NOT_ONE_DOCUMENT: Final = frozenset((5, 9, 26, 64))
"""Codes of libxml2: text after the root, a control character, an unknown entity, an XML declaration after the start.

NCBI sends such XML for some databases. It is passed on without a comparison.
"""
MIN_NAME: Final = 3
MAX_NAME: Final = 60
"""Characters of a name. A shorter text can be equal to an id by chance."""
DEEPEST_NAME: Final = 3
MAX_CHILDREN: Final = 40
"""Depth and number of the elements in which names of a record are searched if its root element is unknown."""
_MIN_ELEMENTS: Final = 5
"""Minimum elements of a record with content: the record and its id are at most four elements."""
_FLAT_NAMES: Final = re.compile(r"(?m)^(?:LOCUS +(\S+)|ACCESSION +(.+)|VERSION +(.+))")
_VERSION: Final = re.compile(r"(?<=\w)\.[0-9]+$")
_FIRST_NUMBER: Final = re.compile(rb"\s*([0-9]{1,6})[.:] ")
_NEXT_NUMBER: Final = re.compile(rb"\n[ \t\r]*\n([0-9]{1,6})[.:] ")
_NAMED_LINE: Final = re.compile(rb"(?m)^(?:Gene ID:|>Feature) *(\S+)")


class FetchedNames(NamedTuple):
    """The names of one record in a reply, its length if it is a sequence, and whether it has no content."""

    names: frozenset[str]
    length: int | None = None
    is_hollow: bool = False


def check_records(
    requested_ids: Sequence[str],
    documents: Mapping[str, Mapping[str, Any]],
    content: bytes,
    *,
    db: str = "",
    rettype: str | None,
    retmode: str | None,
    cut: set[bytes] | None = None,
) -> bytes:
    """Return an EFetch reply that has the requested records.

    In formats that do not name their records, the records are counted if possible. Text that ends inside a line is
    accepted if NCBI sends it again: then it is not cut.

    Args:
        requested_ids: the requested ids.
        documents: the document summaries, by requested id.
        content: the reply.
        db: the parameter of the request.
        rettype: the parameter of the request.
        retmode: the parameter of the request.
        cut: earlier replies to this request that end inside a line; gets this one.

    Raises:
        UpstreamError: the reply is truncated, lacks a record that has a summary, has a record of another id, a repeated
            or empty record, or a sequence whose length differs from its summary.
        EntityNotFound: the reply has no record, and none of the ids has a summary.
    """
    names = {uid: _find_names(uid, documents.get(uid, {})) for uid in requested_ids}
    known_names = frozenset[str]().union(*names.values())
    if (rettype or "").lower() in _LISTS and (retmode or "text").lower() == "text":
        _check_last_line(content, known_names)
    records = read_names(content, rettype, retmode, known_names, db=db)
    if records is None:
        expect = expect_records(db, rettype, retmode, None)
        count = count_records(content, expect.record)
        expected = len({str(documents[uid].get("uid")) for uid in requested_ids if uid in documents})
        cut = set() if cut is None else cut
        if count is not None and count + (content in cut) < expected:
            if not content.endswith(b"\n") and not _is_xml(content):
                cut.add(content)
            problem = f"{format_count(count, 'record')} instead of {expected}"
            raise incomplete_reply_error("efetch", problem, content, content)
        expect.read(content)
        return content
    if not records and requested_ids and not any(uid in documents for uid in requested_ids):
        raise EntityNotFound(
            f"EFetch has no record of {', '.join(requested_ids[:5])}.", details={"reason": "not_found"}
        )
    matches = {uid: [record for record in records if record.names & names[uid]] for uid in requested_ids}
    without = [uid for uid in requested_ids if not matches[uid]]
    _check_ids(without, documents, [record for record in records if not record.names & known_names])
    for uid, found in matches.items():
        for one in found:
            _check_content(uid, one, documents.get(uid, {}).get("slen"))
            if records.count(one) > sum(one in matches[other_uid] for other_uid in requested_ids):
                raise malformed_error("efetch", f"the record of {uid[:60]} twice")
    return content


def _check_last_line(content: bytes, known_names: frozenset[str]) -> None:
    """Raise an error if the last line of a list of names is cut: it is the beginning of a name."""
    # A name whose version is cut off is a name of the record, too.
    last = "" if content.endswith(b"\n") else content.decode("utf-8", "replace").split("\n")[-1].strip().casefold()
    if last and any(name != last and name.startswith(last) for name in known_names):
        raise malformed_error("efetch", "its last line is cut")


def _check_ids(
    without: Sequence[str], documents: Mapping[str, Mapping[str, Any]], foreign: Sequence[FetchedNames]
) -> None:
    """Raise an error if a record was not requested, or an id with a summary is among those without a record."""
    # An accession without a summary may be an older name of a record, which the reply does not have.
    older = [uid for uid in without if uid not in documents and not uid.isdigit()]
    if foreign and len(foreign) > len(older):
        raise malformed_error(
            "efetch", f"a record that was not requested ({min(foreign[0].names, default='no id')[:60]})"
        )
    if missing := [uid for uid in without if uid in documents]:
        raise malformed_error("efetch", f"no record of {missing[0][:60]}")


def _check_content(uid: str, record: FetchedNames, length: object) -> None:
    """Raise an error if a record is empty, or its sequence differs in length from its summary."""
    if record.is_hollow:
        raise malformed_error("efetch", f"a record of {uid[:60]} without content")
    if record.length is not None and isinstance(length, int) and record.length != length:
        raise malformed_error("efetch", f"{record.length} of the {format_count(length, 'residue')} of {uid[:60]}")


def read_names(
    content: bytes,
    rettype: str | None,
    retmode: str | None,
    known_names: frozenset[str] = frozenset(),
    *,
    db: str = "",
) -> list[FetchedNames] | None:
    """Return the names of each record in a reply; None if its format does not name its records.

    In XML with an unknown root element, the names are found by the ``known_names`` names of the requested records.

    Raises:
        UpstreamError: a record in a flat file is truncated or repeated.
    """
    mode, kind = (retmode or "").lower(), (rettype or "").lower()
    if mode == "xml" or (not mode and content.lstrip()[:5] == b"<?xml"):
        return _read_xml(content, known_names)
    readers = _PUBMED_FLAT if db.strip().lower() == "pubmed" else _FLAT
    reader = readers.get(kind) if mode in ("", "text") else None
    if reader is None:
        return None
    return list(reader(READERS.get(kind, bytes)(content)))


def count_records(content: bytes, pattern: str | None, *, may_repeat: bool = False) -> int | None:
    """Return how many records an EFetch reply has once; None if its format does not allow to count them.

    The last record of a text that ends inside a line is cut, and does not count.

    Args:
        content: the reply.
        pattern: the regular expression that finds the name of each record; None if its format has no rule.
        may_repeat: whether to count records that the reply repeats too.
    """
    is_xml = _is_xml(content)
    names: list[Hashable] = re.findall(pattern.encode(), content) if pattern else []
    if is_xml and not names:
        return _count_elements(content, may_repeat)
    if pattern:
        count = _count_names(names, may_repeat)
    else:
        names = _NAMED_LINE.findall(content) or list(map(hash, ASN1_ENTRY.split(content)[1:]))
        count = _count_numbers(content) or _count_names(names, may_repeat)
    if not count and not pattern:
        return None
    return count if is_xml or content.endswith(b"\n") else max(0, count - 1)


def _is_xml(content: bytes) -> bool:
    return content.lstrip()[:1] == b"<"


def _count_names(names: Iterable[Hashable], may_repeat: bool) -> int:
    counts = Counter(names)
    return len(counts) if may_repeat else sum(times == 1 for times in counts.values())


def _count_numbers(content: bytes) -> int:
    """Return how many records a text has whose records are numbered; 0 if it begins without a number."""
    first = _FIRST_NUMBER.match(content)
    if first is None:
        return 0
    start = last = int(first[1])
    for number in _NEXT_NUMBER.finditer(content):
        last += int(number[1]) == last + 1
    return last - start + 1


def _count_elements(content: bytes, may_repeat: bool) -> int | None:
    """Return how many records an XML document has; None if its elements are of different kinds.

    Records are the elements in the root, or in the only element of the root if that is a set.
    """
    from lxml import etree

    try:
        root = _parse_xml(content)
    except UpstreamError:  # text that begins like XML
        return None
    if root is None or (root.text or "").strip():
        return None
    elements = list(root.iterchildren(tag=etree.Element))
    while len(elements) == 1 and elements[0].tag.lower().endswith(("set", "_entries")):
        elements = list(elements[0].iterchildren(tag=etree.Element))
    if len({element.tag for element in elements}) > 1:
        return None
    return _count_names((hash(etree.tostring(element, with_tail=False)) for element in elements), may_repeat)


def _read_xml(content: bytes, known_names: frozenset[str]) -> list[FetchedNames] | None:
    root = _parse_xml(content)
    if root is None:
        return None
    if root.tag not in _XML:
        return _read_unknown(root, known_names)
    element, paths, length, sequence = _XML[root.tag]
    return [_read_element(child, paths, length, sequence) for child in root.iterchildren(element)]


def _parse_xml(content: bytes) -> Any:
    """Return the root element of a reply; None if the reply is not one document.

    Raises:
        UpstreamError: the reply is not well-formed.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as exc:
        if exc.code in _NOT_ONE_DOCUMENT:
            return None
        raise malformed_error("efetch", f"not well-formed XML ({exc.msg})") from None


def _read_unknown(root: Any, known_names: frozenset[str]) -> list[FetchedNames] | None:
    """Return the names of the records in a root of an unknown kind; None if it is uncertain where the names are.

    A document without any text has no records.
    The names are in the attribute or element that has a known name in most records. Each record must have one there,
    and no name may belong to two different records.
    """
    from lxml import etree

    if not (root.text or "").strip() and not any(
        element.attrib or (element.text or "").strip() for element in root.iterdescendants()
    ):
        return []
    elements = list(root.iterchildren(tag=etree.Element))
    if not elements or len({element.tag for element in elements}) > 1:
        return None
    values = [dict(_list_places(element)) for element in elements]
    contents = [etree.tostring(element, with_tail=False) for element in elements]
    found = Counter(path for by_path in values for path, text in by_path.items() if _list_variants(text) & known_names)
    texts = {
        path: {(by_path[path], content) for by_path, content in zip(values, contents, strict=True) if path in by_path}
        for path in found
    }
    paths = [path for path in found if len(dict(texts[path])) == len(texts[path])]
    best = max(paths, key=lambda path: found[path], default="")
    if not best or found[best] * 2 < len(elements) or any(best not in by_path for by_path in values):
        return None
    return [
        FetchedNames(frozenset(name for path in paths for name in _list_variants(by_path.get(path, ""))))
        for by_path in values
    ]


def _list_places(element: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the attributes and the texts of an element and of the first elements in it, each with its path."""
    for name, value in element.attrib.items():
        if len(value) >= MIN_NAME:
            yield f"{path}@{name}", value
    text = (element.text or "").strip()
    if depth and MIN_NAME <= len(text) <= MAX_NAME and not len(element):
        yield path, text
    if depth < DEEPEST_NAME:
        for child in islice(element, MAX_CHILDREN):
            if isinstance(child.tag, str):
                yield from _list_places(child, f"{path}/{child.tag}", depth + 1)


def _read_element(element: Any, paths: Sequence[str], length: str, sequence: str) -> FetchedNames:
    texts = (found.text for path in paths for found in element.iterfind(path))
    names = frozenset(name for text in texts for name in _list_variants(text or ""))
    residues = get_text(element, sequence) if sequence else None
    stated = read_whole_number(element.findtext(length)) if length else None
    is_hollow = sum(1 for _ in islice(element.iter(), _MIN_ELEMENTS)) < _MIN_ELEMENTS
    return FetchedNames(names, len(residues) if residues else stated, is_hollow=is_hollow)


def _read_fasta(content: bytes) -> Iterator[FetchedNames]:
    for record in re.split(r"(?m)^>", content.decode("utf-8", "replace"))[1:]:
        head, _, sequence = record.partition("\n")
        length = len("".join(sequence.split()))
        yield FetchedNames(_list_variants((head.split() or [""])[0]), length, is_hollow=not length)


def _read_flat(content: bytes) -> Iterator[FetchedNames]:
    for record in re.split(r"(?m)^//\s*$", content.decode("utf-8", "replace"))[:-1]:
        lines = " ".join(found for match in _FLAT_NAMES.finditer(record) for found in match.groups() if found)
        yield FetchedNames(
            frozenset(name for word in lines.split() for name in _list_variants(word.removeprefix("GI:")))
        )


def _read_medline_names(records: Iterable[tuple[str, bytes]]) -> Iterator[FetchedNames]:
    for pmid, _ in records:
        yield FetchedNames(frozenset((pmid,)))


def _read_lines(content: bytes) -> Iterator[FetchedNames]:
    for line in content.decode("utf-8", "replace").split():
        yield FetchedNames(_list_variants(line))


_LISTS: Final = ("acc", "uilist")
"""EFetch's rettypes for lists of names."""
_FLAT: Final[Mapping[str, Callable[[Any], Iterator[FetchedNames]]]] = {
    "fasta": _read_fasta,
    **dict.fromkeys(("gb", "gbwithparts", "gp"), _read_flat),
    **dict.fromkeys(_LISTS, _read_lines),
}
"""By EFetch's rettype. Each takes the result of the reader in ``READERS``, or the reply if there is none."""
_PUBMED_FLAT: Final[Mapping[str, Callable[[Any], Iterator[FetchedNames]]]] = {**_FLAT, "medline": _read_medline_names}


def _find_names(uid: str, document: Mapping[str, Any]) -> frozenset[str]:
    texts = (str(document.get(name) or "") for name in _ALIASES)
    return frozenset(name for text in (uid, *texts) if text != "0" for name in _list_variants(text))


def _list_variants(text: str) -> frozenset[str]:
    """Return the names in an identifier such as gi|1|ref|NM_1.2|, in lower case, with and without the version."""
    parts = [part for part in text.strip().casefold().split("|") if part]
    return frozenset((*parts, *(_VERSION.sub("", part) for part in parts)))
