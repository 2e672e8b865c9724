"""JATS made to hurt: each document is read in a few seconds or refused with an error that says why."""

import time

import pytest
from one_jats_article import parse_jats

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats

MATHML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'
DEEP = 1800
"""Elements in one another; the XML library refuses more than 2,048."""


def article(body: str = "<p>x</p>", back: str = "", meta: str = "", title: str = "T") -> bytes:
    front = f"<title-group><article-title>{title}</article-title></title-group>{meta}"
    return (
        f"<article {MATHML}><front><article-meta>{front}</article-meta></front>"
        f"<body>{body}</body><back>{back}</back></article>"
    ).encode()


def nested(*names: str, times: int = DEEP, inside: str = "deepest") -> str:
    opening, closing = "".join(f"<{name}>" for name in names), "".join(f"</{name}>" for name in reversed(names))
    return f"{opening * times}{inside}{closing * times}"


def reference(citation: str) -> bytes:
    return article(back=f"<ref-list><ref>{citation}</ref></ref-list>")


def read(content: bytes) -> str:
    """Return everything that is read of a document, as one text."""
    words: list[str] = []
    for item in iter_jats(content):
        assert isinstance(item, JatsArticle)
        assert item.has_body
        words += [one.model_dump_json() for one in (item.front, *item.sections, *item.references)]
    return "\n".join(words)


DEEP_ONES = {
    "markup": article(f"<sec><p>{nested('italic')}</p></sec>"),
    "sections": article(f"{nested('sec', inside='<p>deepest</p>')}"),
    "lists": article(f"<sec>{nested('list', 'list-item', times=DEEP // 2, inside='<p>deepest</p>')}</sec>"),
    "tables": article(f"<sec>{nested('table', 'tr', 'td', times=DEEP // 3)}</sec>"),
    "abbreviations": article(f"<p>x {nested('abbrev', 'def', times=DEEP // 2)}</p>"),
    "headings": article(f"<p>x</p>{nested('disp-quote', 'title', times=DEEP // 2)}"),
    "alternatives": article(f"<p>x {nested('alternatives', 'disp-formula', times=DEEP // 2)}</p>"),
    "formulas": article(f"<p>x <mml:math>{nested('mml:mfrac', inside='<mml:mi>deepest</mml:mi>')}</mml:math></p>"),
    "citations": reference(f"<mixed-citation>{nested('italic')}</mixed-citation>"),
    "groups of people": reference(f"<element-citation>{nested('person-group')}</element-citation>"),
    "alternative citations": reference(nested("citation-alternatives", inside="<citation>deepest</citation>")),
    "names in citations": reference(
        f"<element-citation>{nested('name', 'surname', 'element-citation', times=DEEP // 3)}</element-citation>"
    ),
    "affiliations": article(meta=f"<aff>{nested('institution-wrap')}</aff>"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DEEP_ONES)
def test_what_is_nested_deeply_is_read_all_the_same(name: str) -> None:
    started = time.process_time()

    assert "deepest" in read(DEEP_ONES[name])
    assert time.process_time() - started < 5


def test_names_nested_deeply_are_no_author() -> None:
    assert read(article(meta=f"<contrib-group><contrib>{nested('name-alternatives')}</contrib></contrib-group>"))


def test_what_is_nested_too_deeply_for_the_library_is_an_error() -> None:
    with pytest.raises(EntrezKitError) as caught:
        read(article(f"<p>{nested('italic', times=100_000)}</p>"))

    assert caught.value.reason == "invalid_response"


def test_a_document_that_would_end_the_stack_is_read_all_the_same() -> None:
    endless = nested("citation", "name", "surname", times=DEEP // 3)

    assert read(article(f"<p>x {endless}</p>", title=endless)).count("deepest") == 2


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
    "names in a citation": reference(f"<element-citation>{NAMES}</element-citation>"),
    "ids in a citation": reference(f"<element-citation>{IDS}</element-citation>"),
    "marks in a title": article(title=f"<sup>{MARKS}</sup>"),
    "figures in a paragraph": article(f"<p>x{'<fig><caption><p>a</p></caption></fig> ' * MANY}</p>"),
    "spans over rows and columns": article(f"<p>x</p><table><tr>{SPANNING}</tr>{'<tr/>' * 2000}</table>"),
    "blank lines": article(f"<p>x</p><preformat>{BLANK}</preformat>"),
    "formulas": article(f"<p>x <mml:math>{FRACTIONS}</mml:math></p>"),
    "uses of an entity": b'<!DOCTYPE article [<!ENTITY a "' + b"a" * 1000 + b'">]>' + article(f"<p>{'&a;' * MANY}</p>"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WIDE_ONES)
def test_what_there_is_very_much_of_is_read_in_a_few_seconds(name: str) -> None:
    started = time.process_time()

    assert read(WIDE_ONES[name])
    assert time.process_time() - started < 8


@pytest.mark.parametrize("start", [b"<!--", b"<![CDATA[", b"<!DOCTYPE", b"<!DOCTYPE a [", b"<!DOCTYPE [ ] "])
def test_what_never_ends_is_not_searched_through_again_and_again(start: bytes) -> None:
    started = time.process_time()

    with pytest.raises(EntrezKitError):
        read(b"<article>" + start * 50_000 + b"&nobody;")
    assert time.process_time() - started < 2


def test_entities_in_entities_and_files_are_not_read() -> None:
    tens = [f"&e{level};" * 10 for level in range(11)]
    levels = "".join(f'<!ENTITY e{level} "{ten}">' for level, ten in enumerate(tens, 1))
    bomb = f'<!DOCTYPE article [<!ENTITY e0 "lol">{levels}<!ENTITY file SYSTEM "file:///etc/passwd">]>'.encode()

    found = read(bomb + article("<p>before &e11; &file; after</p>"))

    assert len(found) < 5000
    assert "root:" not in found
    assert "before" in found
    assert "after" in found


def test_a_cell_far_to_the_right_keeps_its_words() -> None:
    cells = "".join(f"<td rowspan='2'>w{number}</td>" for number in range(2500))
    found = read(article(f"<p>x</p><table><tr>{cells}</tr><tr>{cells}</tr></table>"))

    assert all(found.count(f"w{number}\\t") >= 1 for number in (0, 1999, 2000, 2498))
    assert found.count("w2400") == 2


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
def test_formulas_and_scripts_are_read_in_linear_time(body: str) -> None:
    started = time.process_time()
    assert parse_jats(f"<article><body><p>w {body}</p></body></article>".encode()).sections[0].text.startswith("w")
    assert time.process_time() - started < 10


@pytest.mark.parametrize("piece", ["doi:", "https://", "http://x"])
def test_the_end_of_a_reference_is_looked_at_once(piece: str) -> None:
    source = f"<element-citation><source>{piece * 100_000} x</source><year>2001</year></element-citation>"
    started = time.process_time()
    read = parse_jats(f"<article><back><ref-list><ref>{source}</ref></ref-list></back></article>".encode())
    assert read.references[0].citation.endswith("x. 2001.")
    assert time.process_time() - started < 10
