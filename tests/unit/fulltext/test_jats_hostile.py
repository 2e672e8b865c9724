"""Hostile JATS: each document is read in a few seconds or refused with an error that states the reason."""

import time

import pytest
from one_jats_article import parse_jats

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats

MATHML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'
DEEP = 1800
"""Nested elements; the XML library refuses more than 2,048."""


def write_article(body: str = "<p>x</p>", back: str = "", meta: str = "", title: str = "T") -> bytes:
    front = f"<title-group><article-title>{title}</article-title></title-group>{meta}"
    return (
        f"<article {MATHML}><front><article-meta>{front}</article-meta></front>"
        f"<body>{body}</body><back>{back}</back></article>"
    ).encode()


def nest(*names: str, times: int = DEEP, inside: str = "deepest") -> str:
    opening, closing = "".join(f"<{name}>" for name in names), "".join(f"</{name}>" for name in reversed(names))
    return f"{opening * times}{inside}{closing * times}"


def write_reference(citation: str) -> bytes:
    return write_article(back=f"<ref-list><ref>{citation}</ref></ref-list>")


def read_all(content: bytes) -> str:
    """Return all text of a document as one string."""
    words: list[str] = []
    for item in iter_jats(content):
        assert isinstance(item, JatsArticle)
        assert item.has_body
        words += [one.model_dump_json() for one in (item.front, *item.sections, *item.references)]
    return "\n".join(words)


DEEP_ONES = {
    "markup": write_article(f"<sec><p>{nest('italic')}</p></sec>"),
    "sections": write_article(f"{nest('sec', inside='<p>deepest</p>')}"),
    "lists": write_article(f"<sec>{nest('list', 'list-item', times=DEEP // 2, inside='<p>deepest</p>')}</sec>"),
    "tables": write_article(f"<sec>{nest('table', 'tr', 'td', times=DEEP // 3)}</sec>"),
    "abbreviations": write_article(f"<p>x {nest('abbrev', 'def', times=DEEP // 2)}</p>"),
    "headings": write_article(f"<p>x</p>{nest('disp-quote', 'title', times=DEEP // 2)}"),
    "alternatives": write_article(f"<p>x {nest('alternatives', 'disp-formula', times=DEEP // 2)}</p>"),
    "formulas": write_article(f"<p>x <mml:math>{nest('mml:mfrac', inside='<mml:mi>deepest</mml:mi>')}</mml:math></p>"),
    "citations": write_reference(f"<mixed-citation>{nest('italic')}</mixed-citation>"),
    "groups of people": write_reference(f"<element-citation>{nest('person-group')}</element-citation>"),
    "alternative citations": write_reference(nest("citation-alternatives", inside="<citation>deepest</citation>")),
    "names in citations": write_reference(
        f"<element-citation>{nest('name', 'surname', 'element-citation', times=DEEP // 3)}</element-citation>"
    ),
    "affiliations": write_article(meta=f"<aff>{nest('institution-wrap')}</aff>"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DEEP_ONES)
def test_deeply_nested_elements_are_read(name: str) -> None:
    started = time.process_time()

    assert "deepest" in read_all(DEEP_ONES[name])
    assert time.process_time() - started < 5


def test_deeply_nested_names_are_not_an_author() -> None:
    assert read_all(
        write_article(meta=f"<contrib-group><contrib>{nest('name-alternatives')}</contrib></contrib-group>")
    )


def test_elements_nested_too_deeply_for_the_library_are_an_error() -> None:
    with pytest.raises(EntrezKitError) as caught:
        read_all(write_article(f"<p>{nest('italic', times=100_000)}</p>"))

    assert caught.value.reason == "invalid_response"


def test_a_document_that_could_overflow_the_stack_is_read() -> None:
    endless = nest("citation", "name", "surname", times=DEEP // 3)

    assert read_all(write_article(f"<p>x {endless}</p>", title=endless)).count("deepest") == 2


MANY = 20_000
ATTRIBUTES = " ".join(f"a{number}='x'" for number in range(5 * MANY))
NAMES = "<name><surname>a</surname></name>" * MANY
IDS = "<pub-id>a</pub-id>" * MANY
MARKS = "<xref ref-type='fn'>a</xref>" * MANY
SPANNING = "<td rowspan='200' colspan='200'>x</td>" * 2000
BLANK = " \n" * 10 * MANY
FRACTIONS = "<mml:mfrac><mml:mi>a</mml:mi><mml:mi>)</mml:mi></mml:mfrac>" * MANY
WIDE_ONES = {
    "attributes": f"<article {ATTRIBUTES}><body><p>x</p></body></article>".encode(),
    "names in a citation": write_reference(f"<element-citation>{NAMES}</element-citation>"),
    "ids in a citation": write_reference(f"<element-citation>{IDS}</element-citation>"),
    "marks in a title": write_article(title=f"<sup>{MARKS}</sup>"),
    "figures in a paragraph": write_article(f"<p>x{'<fig><caption><p>a</p></caption></fig> ' * MANY}</p>"),
    "spans over rows and columns": write_article(f"<p>x</p><table><tr>{SPANNING}</tr>{'<tr/>' * 2000}</table>"),
    "blank lines": write_article(f"<p>x</p><preformat>{BLANK}</preformat>"),
    "formulas": write_article(f"<p>x <mml:math>{FRACTIONS}</mml:math></p>"),
    "uses of an entity": b'<!DOCTYPE article [<!ENTITY a "'
    + b"a" * 1000
    + b'">]>'
    + write_article(f"<p>{'&a;' * MANY}</p>"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WIDE_ONES)
def test_very_many_elements_are_read_in_a_few_seconds(name: str) -> None:
    started = time.process_time()

    assert read_all(WIDE_ONES[name])
    assert time.process_time() - started < 8


@pytest.mark.parametrize("start", [b"<!--", b"<![CDATA[", b"<!DOCTYPE", b"<!DOCTYPE a [", b"<!DOCTYPE [ ] "])
def test_elements_without_an_end_are_not_searched_repeatedly(start: bytes) -> None:
    started = time.process_time()

    with pytest.raises(EntrezKitError):
        read_all(b"<article>" + start * 50_000 + b"&nobody;")
    assert time.process_time() - started < 2


def test_nested_entities_and_entities_of_files_are_not_read() -> None:
    tens = [f"&e{level};" * 10 for level in range(11)]
    levels = "".join(f'<!ENTITY e{level} "{ten}">' for level, ten in enumerate(tens, 1))
    bomb = f'<!DOCTYPE article [<!ENTITY e0 "lol">{levels}<!ENTITY file SYSTEM "file:///etc/passwd">]>'.encode()

    found = read_all(bomb + write_article("<p>before &e11; &file; after</p>"))

    assert len(found) < 5000
    assert "root:" not in found
    assert "before" in found
    assert "after" in found


def test_a_cell_far_to_the_right_has_its_words() -> None:
    cells = "".join(f"<td rowspan='2'>w{number}</td>" for number in range(2500))
    found = read_all(write_article(f"<p>x</p><table><tr>{cells}</tr><tr>{cells}</tr></table>"))

    assert all(found.count(f"w{number}\\t") >= 1 for number in (0, 1999, 2000, 2498))
    assert found.count("w2400") == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        f"<tex-math>${' ' * 100_000}x</tex-math>",
        f"<tex-math>{' ' * 100_000}$x{' ' * 100_000}y</tex-math>",
        rf"<tex-math>{chr(92)}begin{{document}}{' $' * 50_000}</tex-math>",
        f"<math>{'<mi/>' * 30_000}<mi>x</mi></math>",
        f"<math><mfrac><mtext>({')(' * 100_000})</mtext><mi>x</mi></mfrac></math>",
        "<sup>1</sup>," * 10_000,
        "x" + "<sup/><xref ref-type='fn'>1</xref>" * 10_000,
    ],
    ids=["tex", "tex-end", "tex-document", "empty-tokens", "brackets", "scripts", "callouts"],
)
def test_formulas_and_superscripts_are_read_in_linear_time(body: str) -> None:
    started = time.process_time()
    assert parse_jats(f"<article><body><p>w {body}</p></body></article>".encode()).sections[0].text.startswith("w")
    assert time.process_time() - started < 10


@pytest.mark.parametrize("piece", ["doi:", "https://", "http://x"])
def test_the_end_of_a_reference_is_searched_once(piece: str) -> None:
    source = f"<element-citation><source>{piece * 100_000} x</source><year>2001</year></element-citation>"
    started = time.process_time()
    read = parse_jats(f"<article><back><ref-list><ref>{source}</ref></ref-list></back></article>".encode())
    assert read.references[0].citation.endswith("x. 2001.")
    assert time.process_time() - started < 10
