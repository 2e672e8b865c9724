"""The names of JATS elements, by the way that their text is read."""

from typing import Final

from entrez_kit.base.mixed_content import SCRIPTS

HEADINGS: Final = ("label", "title", "subtitle")

INLINE: Final = frozenset(
    (
        *("bold", "italic", "underline", "overline", "sub", "sup", "inf", "sc", "roman", "sans-serif", "monospace"),
        *("strike", "fixed-case", "styled-content", "named-content", "xref", "ext-link", "uri", "email", "x", "ruby"),
        *("rb", "rt", "rp", "abbrev", "target", "milestone-start", "milestone-end", "inline-formula", "chem-struct"),
        *("inline-supplementary-material", "related-article", "related-object", "private-char", "glyph-data"),
        *("overline-start", "overline-end", "underline-start", "underline-end", "funding-source", "award-id"),
        *("b", "i", "u", "em", "strong", "tt", "span", "small", "big", "a", "font", "code-inline", "emphasis", "hi"),
        *("institution", "country", "content-language", "price", "isbn", "issn"),
    )
)
"""Inline markup, which does not interrupt a word or sentence."""

PLAIN: Final = frozenset(("bold", "italic", "underline", "sc", "ext-link", "monospace"))
"""Inline markup whose content is read like the surrounding text."""

BLOCK: Final = frozenset(
    (
        *("title", "subtitle", "label", "caption", "disp-quote", "attrib", "statement", "fn-group", "ack", "app"),
        *("app-group", "glossary", "notes", "bio", "sec", "back", "body", "boxed-text", "caption", "address", "def"),
        *("sig-block", "sig", "speech", "speaker", "question", "question-wrap", "question-preamble", "answer"),
        *("answer-set", "explanation", "textual-form", "license", "license-p", "permissions", "copyright-statement"),
        *("kwd-group", "kwd", "floats-group", "fig-group", "table-wrap-group", "table-wrap-foot", "array"),
        *("disp-formula-group", "floats-wrap", "author-notes", "addr-line", "epigraph", "dedication", "div", "block"),
        *("verse-line", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "supplement", "gloss-group", "index-entry"),
        *("abstract", "trans-abstract", "front-note", "foreword", "preface", "named-book-part-body", "h1", "h2", "h3"),
    )
)
"""Block elements: their heading, if any, and their content are on separate lines."""

ONE_BLOCK: Final = frozenset(
    ("fig", "table-wrap", "chem-struct-wrap", "supplementary-material", "media", "graphic", "chem-struct-wrapper")
)
"""Elements whose parts (label, caption, rows, notes) are lines of one block."""

FLOATS: Final = ONE_BLOCK | {"boxed-text", "fig-group", "table-wrap-group", "fn"}
"""Elements that are only anchored in a paragraph: they follow it instead of splitting its sentence."""

HIDDEN: Final = frozenset(
    (
        *("object-id", "sec-meta", "ref-list", "processing-meta", "custom-meta-group", "copyright-year"),
        *("copyright-holder", "colgroup", "col", "colspec", "spanspec", "institution-id", "fn-meta", "price-meta"),
        *("license_ref", "free_to_read", "object-meta", "counts", "glyph-ref"),
    )
)
"""Elements without text for readers. References are read separately."""

PREFERRED: Final = (
    *("math", "tex-math", "table", "oasis-table", "textual-form", "preformat", "code", "chem-struct"),
    *("disp-formula", "inline-formula", "media", "graphic", "inline-graphic", "inline-media"),
)
"""The preferred version among alternatives, best first."""

CITATIONS: Final = frozenset(
    ("mixed-citation", "element-citation", "nlm-citation", "citation", "citation-alternatives", "product")
)
PICTURES: Final = frozenset(("graphic", "inline-graphic", "media", "inline-media"))


# Citations

TITLES: Final = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
PEOPLE: Final = ("person-group", "name", "string-name", "collab", "etal", "anonymous", "name-alternatives")
TIGHT: Final = frozenset(
    ("bold", "italic", "sc", "underline", "monospace", "roman", "xref", "styled-content", "named-content", *SCRIPTS)
)
"""Markup inside a word of a citation; other elements separate words."""
FORMULAS: Final = frozenset(("inline-formula", "disp-formula"))
