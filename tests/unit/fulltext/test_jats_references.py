"""Reference lists of JATS: every kind of citation, joined or verbatim, none lost."""

import json

from one_jats_article import parse_jats

from entrez_kit.fulltext.jats.article import JatsArticle


def write_article(inner: str) -> JatsArticle:
    return parse_jats(f"<article><body><p>x</p></body><back><ref-list>{inner}</ref-list></back></article>".encode())


def read_references(inner: str) -> list[str]:
    return [reference.citation for reference in write_article(inner).references]


def test_element_citations_are_joined_field_by_field() -> None:
    assert read_references(
        '<ref id="b1"><label>1</label><element-citation><person-group person-group-type="author"><name>'
        "<surname>Roe</surname>"
        "<given-names>A</given-names></name><collab>Group</collab><etal/></person-group>"
        "<article-title>On <italic>E. coli</italic>"
        "</article-title><source>J X</source><year>2001</year><volume>3</volume><issue>4</issue>"
        "<fpage>5</fpage><lpage>9</lpage>"
        '<pub-id pub-id-type="doi">10.1/a</pub-id><comment>in press</comment></element-citation></ref>'
    ) == ["Roe A, Group, et al. On E. coli. J X. 2001;3(4):5-9. in press. doi:10.1/a"]


def test_mixed_citations_are_unchanged_and_their_fields_separate() -> None:
    assert read_references(
        "<ref><mixed-citation><name><surname>Roe</surname><given-names>A</given-names></name>, <year>2001</year>. "
        "H<sub>2</sub>O &amp; co. <source>J</source><volume>3</volume>:5.</mixed-citation></ref>"
    ) == ["Roe A, 2001. H₂O & co. J 3:5."]


def test_citations_of_every_kind_are_found() -> None:
    inner = (
        "<ref><citation-alternatives><element-citation><source>S</source></element-citation><mixed-citation>Verbatim."
        "</mixed-citation></citation-alternatives></ref>"
        "<ref><nlm-citation><person-group><name><surname>Doe</surname><given-names>J</given-names></name>"
        "</person-group>"
        "<article-title>T</article-title></nlm-citation></ref>"
        "<ref><citation>Old but mixed, <year>1999</year>.</citation></ref>"
        "<ref><note><p>See the appendix.</p></note></ref>"
        "<ref><label>5</label><mixed-citation>(a) One.</mixed-citation><mixed-citation>(b) Two.</mixed-citation></ref>"
        "<ref><mixed-citation>Both.</mixed-citation><element-citation><source>Both</source></element-citation></ref>"
        "<ref-list><title>Further reading</title><ref><mixed-citation>Nested.</mixed-citation></ref></ref-list>"
    )

    assert read_references(inner) == [
        "Verbatim.",
        "Doe J. T.",
        "Old but mixed, 1999.",
        "See the appendix.",
        "(a) One. (b) Two.",
        "Both.",
        "Nested.",
    ]


def test_labels_and_ids_of_references_are_read() -> None:
    (reference,) = write_article('<ref id="R1"><label>[1]</label><mixed-citation>X.</mixed-citation></ref>').references

    assert json.loads(reference.model_dump_json()) == {"id": "R1", "label": "[1]", "citation": "X."}
