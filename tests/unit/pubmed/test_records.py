"""The stream of records: valid documents, both ways of reading them, and every kind of defect."""

import codecs
import io
import itertools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from used_recordings import read_recording

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml import limits
from entrez_kit.pubmed.xml import mesh_headings as mesh
from entrez_kit.pubmed.xml import stream as record_stream
from entrez_kit.pubmed.xml.records import Record, iter_records

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "http://dtd.invalid/none.dtd">\n'
MESH = (
    '<MeshHeadingList><MeshHeading><DescriptorName UI="D000001" MajorTopicYN="N">Humans</DescriptorName>'
    '<QualifierName UI="Q000001" MajorTopicYN="Y">trends</QualifierName></MeshHeading>'
    '<MeshHeading><DescriptorName UI="D000002" MajorTopicYN="Y">R&amp;D</DescriptorName></MeshHeading>'
    "</MeshHeadingList>"
)
CITED = (
    "<ReferenceList><Reference><Citation>Cited &lt;work&gt; of <i>others</i></Citation><ArticleIdList>"
    '<ArticleId IdType="doi">10.5555/cited</ArticleId></ArticleIdList></Reference></ReferenceList>'
)


def _write_record(pmid: int, title: str = "Invented", *, citation: str = MESH, data: str = CITED, tag: str = "") -> str:
    return (
        f'<PubmedArticle{tag}><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID><Article>'
        f"<ArticleTitle>{title}</ArticleTitle></Article>{citation}</MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{pmid}</ArticleId></ArticleIdList>{data}</PubmedData></PubmedArticle>'
    )


def _write_set(*records: str, head: str = HEAD, root: str = "PubmedArticleSet", attributes: str = "") -> bytes:
    return f"{head}<{root}{attributes}>\n{chr(10).join(records)}\n</{root}>\n".encode()


def _read_all(records: Iterator[Record]) -> list[tuple[Any, ...]]:
    return [
        (
            record.kind,
            record.pmid,
            record.version,
            record.raw,
            record.as_json(),
            None if record.kind == "deleted" else record.article(),
            None if record.kind == "deleted" else record.citation(),
        )
        for record in records
    ]


def _read_slowly(monkeypatch: pytest.MonkeyPatch, content: bytes) -> list[tuple[Any, ...]]:
    with monkeypatch.context() as patch:
        # No record counts as one of the usual form.
        patch.setattr(record_stream, "match_plain_head", lambda head: None)
        return _read_all(iter_records(content))


def _read_until_defect(content: bytes) -> tuple[list[str], UpstreamError]:
    """Return the PMIDs before the defect of a document, and the error at its end."""
    found: list[str] = []

    def read() -> None:
        found.extend(record.pmid for record in iter_records(content))

    with pytest.raises(UpstreamError) as caught:
        read()
    return found, caught.value


def _read_titles(content: bytes) -> list[str]:
    return [record.article().title for record in iter_records(content)]


# both ways of reading


@pytest.mark.long
def test_both_ways_agree_on_every_recorded_document(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for folder in ("efetch_pubmed", "baseline"):
        for path in sorted((real_data / folder).iterdir()):
            content = read_recording(path)
            try:
                quick = _read_all(iter_records(content))
            except UpstreamError:
                continue
            assert quick == _read_slowly(monkeypatch, content), path.name
            assert all(raw in content for _, _, _, raw, *_ in quick), path.name
            compared += len(quick)

    assert compared > 700


@pytest.mark.parametrize(
    "content",
    [
        _write_set(_write_record(1), _write_record(2, "Ümläut – Ångström &#x3b1; &amp; 東京")),
        _write_set(_write_record(1, "<i>in</i> <b>vitro</b>"), _write_record(2, "H<sub>2</sub><sup>+</sup> <i>x</i>")),
        _write_set(_write_record(1, "\n  <b>a <i>b</i> <i>c</i></b>\n  d\n")),
        _write_set(
            _write_record(1, "A <!-- no --> title"),
            _write_record(2, "B<![CDATA[ & C]]>"),
            _write_record(3, "D <?nihms ?>E"),
        ),
        _write_set(_write_record(1, tag=' a="1"'), _write_record(2, tag="\n"), "   ", _write_record(3)),
        _write_set(
            _write_record(1, data="<ReferenceList><ReferenceList><Title>t</Title></ReferenceList></ReferenceList>")
        ),
        _write_set(_write_record(1, data=CITED + CITED), _write_record(2, citation=MESH + MESH)),
        _write_set(
            _write_record(
                1, data=CITED + '<ArticleIdList><ArticleId IdType="doi">10.5555/own</ArticleId></ArticleIdList>'
            )
        ),
        _write_set(
            _write_record(1, citation=MESH.replace("><", ">\n   <")), _write_record(2, citation="<MeshHeadingList/>")
        ),
        _write_set(_write_record(1, citation="<MeshHeadingList><MeshHeading><Odd/></MeshHeading></MeshHeadingList>")),
        _write_set(_write_record(1, citation=MESH.replace("Humans", "Hu<i>ma</i>ns")), _write_record(2, citation=MESH)),
        _write_set(_write_record(1), "<DeleteCitation><PMID Version='1'>7</PMID>\n<PMID>8</PMID></DeleteCitation>"),
        _write_set(_write_record(1), "<DeleteCitation/>"),
        _write_set(),
        b"<PubmedArticleSet/>",
    ],
)
def test_both_ways_agree_on_unusual_documents(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = _read_all(iter_records(content))

    assert quick == _read_slowly(monkeypatch, content)
    assert all(raw in content for _, _, _, raw, *_ in quick)


def test_white_space_between_markup_is_not_lost() -> None:
    titles = ("<i>in</i> <b>vitro</b>\n<sup>x</sup><sub>y</sub>", "<b><i>a</i> <i>b</i></b>")
    content = _write_set(*(_write_record(pmid, title) for pmid, title in enumerate(titles, start=1)))

    assert _read_titles(content) == ["in vitro ˣ_(y)", "a b"]


@pytest.mark.parametrize(
    "hiding",
    [
        "<!-- </PubmedArticle><PubmedArticle> -->",
        "<![CDATA[</PubmedArticle><PubmedArticle>]]>",
        "<?note </PubmedArticle> ?>",
        "<![CDATA[<MeshHeadingList><MeshHeading></MeshHeading></MeshHeadingList>]]>",
        "<![CDATA[<ReferenceList></ReferenceList>]]>",
        f"<!-->{MESH}-->",
    ],
)
def test_tags_hidden_in_comments_and_cdata_are_text(hiding: str) -> None:
    content = _write_set(_write_record(1), _write_record(2, f"Before {hiding}after"), _write_record(3))

    records = list(iter_records(content))

    assert [record.pmid for record in records] == ["1", "2", "3"]
    assert all(record.raw in content for record in records)
    assert records[1].raw.decode() == _write_record(2, f"Before {hiding}after")
    inside = hiding[9:-3] if hiding.startswith("<![CDATA[") else ""
    assert records[1].article().title == f"Before {inside}after"
    assert [len(record.article().mesh_terms) for record in records] == [2, 2, 2]
    assert [len(record.article().mesh_terms) for record in iter_records(content)] == [2, 2, 2]  # before it is released


def test_comments_between_records_and_after_the_end_are_ignored() -> None:
    content = _write_set("<!-- a -->", _write_record(1), "<?b?>", _write_record(2)) + b"<!-- <PubmedArticle/> -->\n"

    assert [record.pmid for record in iter_records(content)] == ["1", "2"]


def test_unknown_elements_between_records_are_ignored() -> None:
    content = _write_set(_write_record(1), "<Novelty><PubmedArticle>no</PubmedArticle></Novelty>", _write_record(2))

    assert [record.pmid for record in iter_records(content)] == ["1", "2"]


# documents


def test_all_kinds_of_documents_are_read() -> None:
    citation = "<MedlineCitation><PMID>5</PMID><Article><ArticleTitle>Old</ArticleTitle></Article></MedlineCitation>"
    document = "<BookDocument><PMID>6</PMID><Book><BookTitle>Book</BookTitle></Book></BookDocument>"

    assert _read_titles(_write_set(citation, root="MedlineCitationSet")) == ["Old"]
    assert _read_titles(
        _write_set(f"<PubmedBookArticle>{document}</PubmedBookArticle>", root="PubmedBookArticleSet")
    ) == ["Book"]
    assert _read_titles(_write_set(document, "<DeleteDocument/>", root="BookDocumentSet")) == ["Book"]
    assert _read_titles(_write_record(1, "Alone").encode()) == ["Alone"]
    assert _read_titles(citation.encode()) == ["Old"]
    assert _read_titles(f"<PubmedBookArticle>{document}</PubmedBookArticle>".encode()) == ["Book"]


def test_articles_and_books_may_be_in_one_document() -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>2</PMID><Book><BookTitle><i>A</i> <b>Book</b></BookTitle></Book>"
        "<ArticleTitle part='p'>Chapter</ArticleTitle></BookDocument></PubmedBookArticle>"
    )

    records = list(iter_records(_write_set(_write_record(1), book, _write_record(3))))

    assert [(record.kind, record.pmid) for record in records] == [("article", "1"), ("chapter", "2"), ("article", "3")]
    info = records[1].article().book_info
    assert info is not None
    assert info.title == "A Book"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "iso-8859-1", "windows-1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_read_and_their_bytes_returned(encoding: str) -> None:
    name = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    text = (
        _write_set(_write_record(1, "Ümläut é"), _write_record(2))
        .decode()
        .replace('encoding="utf-8"', f'encoding="{name}"')
    )
    content = text.encode(encoding)

    records = list(iter_records(content))

    assert [record.article().title for record in records] == ["Ümläut é", "Invented"]
    assert records[0].raw.decode(records[0].encoding) == _write_record(1, "Ümläut é")
    assert all(record.raw in content for record in records)


@pytest.mark.parametrize("blanks", [1, limits.CHUNK - 8, limits.CHUNK, 3 * limits.CHUNK])
def test_white_space_before_the_declaration_is_ignored(blanks: int) -> None:
    head = HEAD.replace("utf-8", "iso-8859-1")

    assert _read_titles(
        b"\r\n" + b" " * blanks + _write_set(_write_record(1, "\xe9"), head=head).decode().encode("latin-1")
    ) == ["\xe9"]


def test_namespaces_of_a_whole_document_are_removed_and_those_of_formulas_stay() -> None:
    formula = '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>n</m:mi><m:mo>=</m:mo><m:mn>3</m:mn></m:math>'
    for attributes in (' xmlns="http://example.org/x"', ' xmlns:m="http://www.w3.org/1998/Math/MathML"'):
        content = _write_set(_write_record(1, f"With {formula}"), attributes=attributes)

        (record,) = iter_records(content)

        assert record.article().title == "With n=3"
        assert "m:math" in str(record.as_json())


def test_entities_are_never_read_from_files_and_known_characters_stay() -> None:
    head = (
        '<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file:///etc/passwd">'
        '<!ENTITY eacute "&#233;">]>'
    )
    (record,) = iter_records(_write_set(_write_record(1, "A &x; caf&eacute; &amp; B"), head=head))

    assert record.article().title == "A &x; café & B"


BOMB = "<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {after} '{f'&{before};' * 10}'>" for before, after in itertools.pairwise("abcdefghij")
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("before", ["", "<!-- a comment -->", "<!-- " + "x" * (1 << 18) + " -->", "<?a ]>?>"])
def test_entity_bombs_in_attributes_are_not_expanded(before: str, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>{before}<!DOCTYPE PubmedArticleSet [{BOMB}]>'
    content = _write_set(_write_record(1, tag=' a="&j;"'), head=head).decode().encode(encoding)

    found, error = _read_until_defect(content)

    assert found == []
    assert error.reason == "invalid_response"
    assert "entities" in str(error)


@pytest.mark.parametrize(
    "entity", ["<PubmedArticle/>", "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>", "<ERROR/>"]
)
def test_records_inside_an_entity_are_ignored(entity: str) -> None:
    head = f'<!DOCTYPE PubmedArticleSet [<!ENTITY e "{entity}">]>'
    in_set = _write_set("&e;", _write_record(1), "&e;", _write_record(2), head=head)
    alone = f"{head}{_write_record(3, 'With &e;')}".encode()

    assert [(record.pmid, record.raw) for record in iter_records(in_set)] == [
        ("1", _write_record(1).encode()),
        ("2", _write_record(2).encode()),
    ]
    assert [record.pmid for record in iter_records(alone)] == ["3"]


# defects


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"<?xml version='1.0'?>",
        b"<!DOCTYPE html><html><head><title>Error</title></head><body><br></body></html>",
        b'{"error": "API rate limit exceeded"}',
        b"PMID- 1\nOWN - NLM\n",
        b"\x1f\x8b\x08\x00binary",
        b"<?xml version='1.0' encoding='UTF-8'?><eFetchResult><ERROR>Cannot retrieve</ERROR></eFetchResult>",
        b"<ArticleSet><Article/></ArticleSet>",
        b"<?xml version='1.0' encoding='klingon'?><PubmedArticleSet></PubmedArticleSet>",
        b"<?xml version='1.0' encoding='zlib'?><PubmedArticleSet></PubmedArticleSet>",
        b"<?xml version='1.0' encoding='undefined'?><PubmedArticleSet></PubmedArticleSet>",
        _write_set("<ERROR>Backend failed</ERROR>"),
        _write_set("<PubmedArticle/>"),
        _write_set("<PubmedArticle><MedlineCitation><CommentsCorrectionsList><CommentsCorrections><PMID>4</PMID>"
             "</CommentsCorrections></CommentsCorrectionsList></MedlineCitation></PubmedArticle>"),
        _write_set(_write_record(1)) + b"<PubmedArticleSet></PubmedArticleSet>",
    ],
)  # fmt: skip
def test_a_document_without_records_is_an_upstream_error(content: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        list(iter_records(content))

    assert caught.value.reason == "invalid_response"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Citation>Cited", "Citation>Ci & ted"),
        ("<i>others</i>", "<i>others"),
        ("Humans", "Hu & mans"),
        ("</DescriptorName>", ""),
        ("<ArticleTitle>", "<ArticleTitle"),
        ("Invented", "&undeclared;"),
        ("Invented", "\x01"),
        ('Owner="NLM"', 'Owner="NLM'),
        ("</MedlineCitation>", "</Medlinecitation>"),
    ],
)
def test_one_defect_anywhere_stops_the_reading_after_the_records_before_it(old: str, new: str) -> None:
    bad = _write_record(2).replace(old, new)
    head = '<?xml version="1.0"?>\n'  # without a document type, an undeclared entity is a defect

    found, error = _read_until_defect(_write_set(_write_record(1), bad, _write_record(3), head=head))

    assert bad != _write_record(2)
    assert found == ["1"]
    assert error.reason == "invalid_response"
    assert len(str(error)) < 400


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_bytes_that_are_not_utf_8_are_a_defect(mark: bytes) -> None:
    content = mark + _write_set(_write_record(1), _write_record(2, "Gr\u00fcn"), _write_record(3)).replace(
        "\u00fc".encode(), b"\xfc"
    )

    found, error = _read_until_defect(content)

    assert found == ["1"]
    assert error.reason == "invalid_response"


@pytest.mark.parametrize("end", [-1, -5, -20, -60, -400, -900])
def test_a_document_that_ends_too_early_is_never_a_short_success(end: int) -> None:
    content = _write_set(*(_write_record(pmid) for pmid in range(1, 6))).rstrip()

    found, _ = _read_until_defect(content[:end])

    complete = content[:end].count(b"</PubmedArticle>")
    assert found == [str(pmid) for pmid in range(1, complete + 1)]


def test_a_record_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_RECORD_BYTES", 1 << 20)
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        yield _write_set(_write_record(1))[:-30]
        while taken < 8 << 20:
            taken += 1 << 16
            yield b"x" * (1 << 16)

    with pytest.raises(UpstreamError, match="larger than 1 MB"):
        list(iter_records(endless()))
    assert taken < 8 << 20


def test_text_beyond_the_parsers_own_limit_is_read() -> None:
    title = "word " * 2_500_000
    content = _write_set(_write_record(1), _write_record(2, title), _write_record(3))

    records = list(iter_records(content))

    assert [record.pmid for record in records] == ["1", "2", "3"]
    assert records[1].article().title == title.strip()


def test_the_error_does_not_repeat_the_document() -> None:
    _, error = _read_until_defect(_write_set(_write_record(1, f"<long{'g' * 10_000}>")))

    assert "mismatched tag" in str(error)
    assert len(str(error)) < 400


def test_text_in_place_of_bytes_is_rejected_with_a_clear_error() -> None:
    with pytest.raises(TypeError, match="got str"):
        list(iter_records(io.StringIO("<PubmedArticleSet/>")))  # type: ignore[arg-type]


# sources, memory, stored records


@pytest.mark.parametrize("size", [1, 3, 64, 1000, 100_000])
def test_files_and_chunks_give_the_same_records_as_bytes(size: int) -> None:
    content = _write_set(*(_write_record(pmid, f"Überall {pmid}") for pmid in range(1, 40)))
    chunks = [content[start : start + size] for start in range(0, len(content), size)]
    expected = _read_all(iter_records(content))

    assert _read_all(iter_records(chunks)) == expected
    assert _read_all(iter_records(io.BytesIO(content))) == expected
    assert _read_all(iter_records(bytearray(content))) == expected


def test_records_read_later_give_the_same_results() -> None:
    content = _write_set(*(_write_record(pmid, f"No <i>{pmid}</i> <b>x</b>") for pmid in range(1, 30)))
    when_met = [(record.article(), record.as_json()) for record in iter_records(content)]

    kept = list(iter_records(content))

    assert [(record.article(), record.as_json()) for record in kept] == when_met


@pytest.mark.long
def test_memory_does_not_grow_with_the_document() -> None:
    def measure_peak(count: int) -> int:
        def make_chunks() -> Iterator[bytes]:
            yield b"<PubmedArticleSet>"
            for pmid in range(1, count):
                yield _write_record(pmid).encode()
            yield b"</PubmedArticleSet>"

        tracemalloc.start()
        seen = sum(len(record.article().pmid) > 0 for record in iter_records(make_chunks()))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert seen == count - 1
        return most

    small = measure_peak(300)

    assert measure_peak(3000) < small * 1.5


def test_the_raw_bytes_of_every_kind_of_record_are_unchanged() -> None:
    record = _write_record(1, "caf\u00e9 &#233; <!-- c --> x", tag='  b = "2"')
    content = _write_set(record, "<DeleteCitation>\n <PMID Version='3'>9</PMID>\n</DeleteCitation>")

    article, deleted = iter_records(content)

    assert article.raw.decode() == record
    assert (deleted.kind, deleted.pmid, deleted.version) == ("deleted", "9", "3")
    assert deleted.raw == b"<PMID Version='3'>9</PMID>"
    assert deleted.as_json() == {"tag": "PMID", "attributes": {"Version": "3"}, "children": ["9"]}
    with pytest.raises(ValueError, match="deleted"):
        deleted.article()


def test_a_pmid_is_read_from_the_ids_if_the_citation_has_none() -> None:
    content = _write_set(_write_record(77).replace('<PMID Version="1">77</PMID>', ""))

    (record,) = iter_records(content)

    assert (record.pmid, record.version) == ("77", None)
    assert record.article().url == "https://pubmed.ncbi.nlm.nih.gov/77/"


def test_mesh_terms_are_shared_and_cannot_be_changed() -> None:
    first, second = (record.article() for record in iter_records(_write_set(_write_record(1), _write_record(2))))

    assert first.mesh_terms[0] is second.mesh_terms[0]
    with pytest.raises(ValueError, match="frozen"):
        first.mesh_terms[0].descriptor_name = "Other"  # type: ignore[misc]


AUTHORS = (
    "<Author><LastName>Doe</LastName></Author>",
    '<Author ValidYN="Y" EqualContrib="Y">\n <LastName>Núñez </LastName>\n<ForeName/><Initials>A</Initials></Author>',
    '<Author ValidYN="N"><LastName>Roe</LastName><ForeName>R A</ForeName><Initials>RA</Initials><Suffix>Jr</Suffix>'
    "</Author>",
    '<Author ValidYN="Y"><CollectiveName>Group 1</CollectiveName><Identifier Source="ORCID">http://orcid.org/'
    "0000000218250097</Identifier></Author>",
    '<Author ValidYN="Y"><LastName>Doe</LastName><AffiliationInfo><Affiliation>A &amp;lt; B &amp; C </Affiliation>'
    "</AffiliationInfo><AffiliationInfo>\n<Affiliation> </Affiliation></AffiliationInfo></Author>",
    "<Author><LastName>O&#8217;Doe</LastName></Author>",
    "<Author><LastName>D<sup>2</sup></LastName></Author>",
    '<Author><LastName>Doe</LastName><AffiliationInfo><Affiliation>Line\n  break</Affiliation><Identifier Source="ROR">'
    "1</Identifier></AffiliationInfo></Author>",
)


@pytest.mark.parametrize("complete", ["", ' CompleteYN="N"'])
def test_authors_are_the_same_in_a_list_of_the_usual_form_and_in_any_other(complete: str) -> None:
    for some in (AUTHORS, *([author] for author in AUTHORS), AUTHORS[2:3] + AUTHORS[:1]):
        listed = f"<AuthorList{complete}>{''.join(some)}</AuthorList>"
        odd = listed.replace("</AuthorList>", "<Other/></AuthorList>")
        plain, other = (
            next(iter_records(_write_set(_write_record(1, f"T</ArticleTitle>{text}<ArticleTitle>T")))).article()
            for text in (listed, odd)
        )

        assert plain.authors == other.authors
        assert plain.authors_complete is other.authors_complete is (False if complete else None)
        assert len(plain.authors) == len(some) - (len(some) > 1)  # without the invalid one, unless it is alone


@pytest.mark.parametrize("name", ["a\x01b", "a\ufffeb", "a]]>b", "a<b"])
def test_authors_with_text_that_is_not_xml_are_an_error(name: str) -> None:
    listed = f"<AuthorList><Author><LastName>{name}</LastName></Author></AuthorList>"

    with pytest.raises(UpstreamError):
        list(iter_records(_write_set(_write_record(1, f"T</ArticleTitle>{listed}<ArticleTitle>T"))))


@pytest.mark.parametrize("heading", ['UI="D1" UI="D2"', 'UI="D1" MajorTopicYN=Y', 'UI="a&b"'])
def test_mesh_headings_that_are_not_xml_are_an_error(heading: str) -> None:
    text = f"<MeshHeadingList><MeshHeading><DescriptorName {heading}>H</DescriptorName></MeshHeading></MeshHeadingList>"

    with pytest.raises(UpstreamError):
        list(iter_records(_write_set(_write_record(1, citation=text))))


def test_headings_that_are_no_longer_cached_are_read_again() -> None:
    names = [f"Term {number}" for number in (*range(mesh.KEPT + 5), *range(5))]
    headings = "".join(
        f'<MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">{name}</DescriptorName></MeshHeading>' for name in names
    )

    (record,) = iter_records(_write_set(_write_record(1, citation=f"<MeshHeadingList>{headings}</MeshHeadingList>")))

    assert [heading.descriptor_name for heading in record.article().mesh_terms] == names


def test_an_article_read_from_its_json_is_the_same() -> None:
    (record,) = iter_records(_write_set(_write_record(1)))
    article = record.article()

    assert Article.model_validate_json(article.model_dump_json()) == article


def test_a_record_that_cannot_become_a_tree_is_a_defect_of_the_reply() -> None:
    undeclared = "<Reference><Citation>On <mml:mi>x</mml:mi></Citation></Reference>"
    content = _write_set(_write_record(1, data=f"<ReferenceList>{undeclared}</ReferenceList>"))

    for record in iter_records(content):
        assert record.article().pmid == "1"
        with pytest.raises(UpstreamError, match="record 1 is not well-formed") as raised:
            record.as_json()
        assert raised.value.reason == "invalid_response"
    with pytest.raises(UpstreamError):
        record.article()
