"""Compression of whole records: JSON deflated with a dictionary from other columns of the same row."""

import zlib
from typing import Final

_LEVEL: Final = 3
_USUAL: Final = (
    b'{"pmid":"","record_type":"article","title":"","abstract_sections":[{"label":"BACKGROUND","nlm_category":'
    b'"OBJECTIVE","text":"","label":"CONCLUSIONS"}],"authors":[{"last_name":"","first_name":"","initials":"","orcid":'
    b'"0000-000","affiliations":["Department of , University of , USA."]},"authors_complete":true,"investigators":[],'
    b'"journal_info":{"title":"Journal of ","iso_abbreviation":"","issn":"","eissn":"","issn_linking":"","nlm_id":"",'
    b'"volume":"","issue":"","pages":"","publication_date":{"year":20,"month":1,"day":1,"precision":"month"}},'
    b'"publication_types":["Journal Article","Research Support, Non-U.S. Gov\'t","Review"],"languages":["eng"],'
    b'"keywords":[""],"mesh_terms":[{"descriptor_name":"","ui":"D00","is_major_topic":false},{"descriptor_name":'
    b'"Humans","ui":"D006801","is_major_topic":false,"qualifiers":[{"name":"metabolism","ui":"Q000378",'
    b'"is_major_topic":true}]}],"doi":"10.1","pmcid":"PMC","article_ids":{"pubmed":"","doi":"10.1","pmc":"PMC",'
    b'"pii":""},"date_completed":"20","date_revised":"20","article_dates":[{"type":"Electronic","year":20,"month":1,'
    b'"day":1}],"history":[{"status":"received","year":20,"month":1,"day":1},{"status":"accepted","year":20},'
    b'{"status":"pubmed","year":20,"month":1,"day":1,"hour":6,"minute":0},{"status":"medline","hour":6,"minute":0},'
    b'{"status":"entrez"}],"grant_list":[{"grant_id":"","acronym":"","agency":"","country":"United States"}],'
    b'"url":"https://pubmed.ncbi.nlm.nih.gov/","retraction_status":"none"}'
)
"""Text common to most records. It is part of the file format: if a byte changes, no record can be read."""

BESIDE: Final = ("authors", "mesh", "title", "abstract")
"""The columns whose texts are in the dictionary."""


def pack(article: str, *beside: str | None) -> bytes:
    """Deflate the JSON of a record; ``beside`` are the texts of the columns ``BESIDE``."""
    packer = zlib.compressobj(_LEVEL, zdict=_build_dictionary(beside))
    return packer.compress(article.encode("utf-8", "surrogatepass")) + packer.flush()


def unpack(packed: bytes, *beside: str | None) -> str:
    """Return the JSON of a record; see ``pack``.

    Raises:
        zlib.error: the record or one of the column texts is damaged.
        UnicodeDecodeError: the record is damaged.
    """
    return zlib.decompressobj(zdict=_build_dictionary(beside)).decompress(packed).decode("utf-8", "surrogatepass")


def _build_dictionary(beside: tuple[str | None, ...]) -> bytes:
    return "".join(filter(None, beside)).encode("utf-8", "surrogatepass") + _USUAL
