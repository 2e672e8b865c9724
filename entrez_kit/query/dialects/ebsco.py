"""Lines of EBSCO: MEDLINE and CINAHL."""

import re
from typing import ClassVar

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_within
from entrez_kit.query.dialects.lexer import HASH, Lexer, make_prefix_reader, make_proximity_reader, read_reference
from entrez_kit.query.dialects.service_fields import ALL_TEXT, EBSCO
from entrez_kit.query.dialects.values import make_heading


def _read_heading(lexer: Lexer, match: re.Match[str]) -> LineToken:
    name, explodes = match[2], match[2].endswith("+") or "+/" in match[2]
    name, _, qualifiers = name.replace("+", "").partition("/")
    node = make_heading(
        name,
        explodes=explodes,
        major=match[1].upper() == "MM",
        qualifiers=qualifiers,
        vocabulary=lexer.vocabulary,
    )
    return LineToken("node", match[0], node=node)


class EbscoLexer(Lexer):
    """EBSCO: MEDLINE, and CINAHL if ``is_cinahl``."""

    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_within(5), ALL_TEXT)
    signs = (
        (re.compile(r"(M[HMJ]) ?\(? ?\"([^\"]++)\" ?\)?(?<!\"\))", re.IGNORECASE), _read_heading),
        (re.compile(rf"({'|'.join(EBSCO)})(?= |\(|\") ?"), make_prefix_reader(EBSCO)),
        (re.compile(r"N([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader()),
        (re.compile(r"W([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader(ordered=True)),
        (re.compile(r"S([0-9]{1,4})(?=[ )]|$)"), read_reference),
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#", "#": "?"}

    def __init__(self, text: str, *, is_cinahl: bool = False) -> None:
        super().__init__(text)
        self.vocabulary = "cinahl" if is_cinahl else "mesh"
