"""Writes reference lists in every kind of file, with references from the demo and invented ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from word_documents import write_endnote_record

TRUE = (
    "Dozewell P, Nattergal A. Sleep deprivation among resident physicians and the spelling of drug names. "
    "Sleep Imagined Minds (Demo). 2009;14(1):22-31."
)
RETRACTED = (
    "Mondschein S, Umbracht V. Moonlight exposure doubles overnight memory in shift workers. "
    "J Invent Results (Demo). 2019 Feb;7(2):150-63."
)
INVENTED = "Nobodyson Q. Deep learning sees imaginary tumours from low orbit. J Nowhere. 2021;1:1-2."
MARKED = TRUE.replace("Sleep Imagined Minds (Demo)", "*Sleep Imagined Minds (Demo)*").replace("22-31", "22-32")
ITEM: dict[str, Any] = {
    "id": 1,
    "type": "article-journal",
    "title": "Moonlight exposure doubles overnight memory in shift workers",
    "container-title": "Journal of Invented Results (Demo)",
    "volume": "7",
    "issue": "2",
    "page": "150-163",
    "DOI": "10.5555/ekit.2019.0050",
    "author": [{"family": "Mondschein", "given": "S."}, {"family": "Umbracht", "given": "V."}],
    "issued": {"date-parts": [[2019, 2]]},
}
OTHER = {**ITEM, "id": 2, "title": "Deep learning sees imaginary tumours from low orbit", "DOI": "10.5555/nowhere"}

JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN" "x.dtd">
<article><front><article-meta><title-group><article-title>T</article-title></title-group></article-meta></front>
<body><p>See <xref ref-type="bibr" rid="R1">1</xref>.</p></body><back><ref-list>
<ref id="R1"><element-citation publication-type="journal"><person-group person-group-type="author">
<name><surname>Mondschein</surname><given-names>S</given-names></name>
<name><surname>Umbracht</surname><given-names>V</given-names></name></person-group>
<article-title>Moonlight exposure doubles overnight memory in shift workers</article-title>
<source>J Invent Results (Demo)</source><year>2019</year><volume>7</volume><issue>2</issue><fpage>150</fpage>
<lpage>163</lpage><pub-id pub-id-type="pmid">99000050</pub-id></element-citation></ref>
<ref id="R2"><mixed-citation>Nobodyson Q. Deep learning sees imaginary tumours from low orbit. J Nowhere.
2021.</mixed-citation></ref></ref-list></back></article>"""
ENDNOTE = (
    '<?xml version="1.0" encoding="UTF-8"?><xml><records>'
    + write_endnote_record(
        7,
        title=ITEM["title"],
        authors=["Mondschein, S.", "Umbracht, V."],
        journal="Journal of Invented Results (Demo)",
        year="2019",
        doi=ITEM["DOI"],
    )
    .removeprefix("<Cite>")
    .removesuffix("</Cite>")
    + "</records></xml>"
)
BBL = r"""\begin{thebibliography}{9}
\bibitem[Mondschein and Umbracht(2019)]{moon}
S.~Mondschein and V.~Umbracht.
\newblock Moonlight exposure doubles overnight memory in shift workers.
\newblock \emph{J Invent Results (Demo)}, 7\penalty0 (2):\penalty0 150--163, 2019.
\bibitem{made} Q. Nobodyson. \newblock Deep learning sees imaginary tum{\"o}urs from low orbit. \newblock 2021.
\end{thebibliography}
"""
BIBER = r"""\entry{moon}{article}{}
  \name{author}{2}{}{%
    {{hash=1}{%
       family={Mondschein},
       familyi={M\bibinitperiod},
       given={S.},
       giveni={S\bibinitperiod}}}%
    {{hash=2}{%
       family={Umbracht},
       familyi={U\bibinitperiod},
       given={V.},
       giveni={V\bibinitperiod}}}%
  }
  \field{journaltitle}{J Invent Results (Demo)}
  \field{number}{2}
  \field{title}{Moonlight exposure doubles overnight memory in shift workers}
  \field{volume}{7}
  \field{year}{2019}
  \field{pages}{150\bibrangedash 163}
  \verb{doi}
  \verb 10.5555/ekit.2019.0050
  \endverb
\endentry
"""


@pytest.fixture(name="file")
def file_fixture(tmp_path: Path) -> Callable[[str, bytes | str], str]:
    """Return a function that writes a file by its name and content, and returns its path."""

    def write(name: str, content: bytes | str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write
