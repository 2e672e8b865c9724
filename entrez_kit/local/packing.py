"""Compression of records: each is compressed alone, with a dictionary of the tags that all records have."""

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zstandard import ZstdCompressor, ZstdDecompressor

LEVEL: Final = 3
MAX_BYTES: Final = 64 << 20
"""The largest record, so that a damaged or foreign file cannot fill the memory."""

_TYPES: Final = (
    ("D016422", "Letter"),
    ("D016428", "Journal Article"),
    ("D016454", "Review"),
    ("D002363", "Case Reports"),
    ("D003160", "Comparative Study"),
    ("D016449", "Randomized Controlled Trial"),
    ("D013485", "Research Support, Non-U.S. Gov't"),
    ("D052061", "Research Support, N.I.H., Extramural"),
)
_HEADINGS: Final = (
    ("D000328", "Adult"),
    ("D000368", "Aged"),
    ("D000818", "Animals"),
    ("D005260", "Female"),
    ("D006801", "Humans"),
    ("D008297", "Male"),
    ("D008875", "Middle Aged"),
    ("D051379", "Mice"),
)
_QUALIFIERS: Final = (
    ("Q000150", "complications"),
    ("Q000175", "diagnosis"),
    ("Q000235", "genetics"),
    ("Q000378", "metabolism"),
    ("Q000379", "methods"),
    ("Q000494", "pharmacology"),
    ("Q000628", "therapy"),
)


def _build_dictionary() -> bytes:
    """Return the dictionary, the most frequent parts last. It is part of the file format: it must not change."""
    lines = [
        '        <GrantList CompleteYN="Y">\n          <Grant>\n            <GrantID>R01 HL</GrantID>\n'
        "            <Acronym>HL</Acronym>\n            <Agency>NHLBI NIH HHS</Agency>\n"
        "            <Country>United States</Country>\n          </Grant>\n        </GrantList>\n",
        '      <CommentsCorrectionsList>\n        <CommentsCorrections RefType="Cites">\n'
        "          <RefSource></RefSource>\n"
        '          <PMID Version="1"></PMID>\n        </CommentsCorrections>\n      </CommentsCorrectionsList>\n',
        "      <CoiStatement>The authors declare no conflict of interest.</CoiStatement>\n",
        '      <KeywordList Owner="NOTNLM">\n        <Keyword MajorTopicYN="N"></Keyword>\n      </KeywordList>\n',
        '            <Identifier Source="ORCID">0000-0002-</Identifier>\n',
        '<AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND"></AbstractText>\n          '
        '<AbstractText Label="OBJECTIVE" NlmCategory="OBJECTIVE"></AbstractText>\n          '
        '<AbstractText Label="METHODS" NlmCategory="METHODS"></AbstractText>\n          '
        '<AbstractText Label="RESULTS" NlmCategory="RESULTS"></AbstractText>\n          '
        '<AbstractText Label="CONCLUSIONS" NlmCategory="CONCLUSIONS"></AbstractText>\n',
        "        <ReferenceList>\n",
        *(
            "          <Reference>\n            <Citation>J Biol Chem. 201;</Citation>\n            <ArticleIdList>\n"
            f'              <ArticleId IdType="{kind}"></ArticleId>\n'
            "            </ArticleIdList>\n          </Reference>\n"
            for kind in ("doi", "pmc", "pubmed")
        ),
        "        </ReferenceList>\n",
        *(
            f'        <Chemical>\n          <RegistryNumber>0</RegistryNumber>\n          <NameOfSubstance UI="D0">'
            f"{name}</NameOfSubstance>\n        </Chemical>\n"
            for name in ("RNA, Messenger", "Biomarkers", "Proteins")
        ),
        *(f'            <PublicationType UI="{ui}">{name}</PublicationType>\n' for ui, name in _TYPES),
        *(
            f'          <QualifierName UI="{ui}" MajorTopicYN="{flag}">{name}</QualifierName>\n'
            for ui, name in _QUALIFIERS
            for flag in "NY"
        ),
        *(
            f'        <MeshHeading>\n          <DescriptorName UI="{ui}" MajorTopicYN="N">{name}</DescriptorName>\n'
            "        </MeshHeading>\n"
            for ui, name in _HEADINGS
        ),
        _SKELETON,
    ]
    return "".join(lines).encode("ascii")


_SKELETON: Final = """<PubmedArticle>
    <MedlineCitation Status="MEDLINE" IndexingMethod="Automated" Owner="NLM">
      <PMID Version="1"></PMID>
      <DateCompleted>
        <Year>2019</Year>
        <Month>10</Month>
        <Day>01</Day>
      </DateCompleted>
      <DateRevised>
        <Year>2020</Year>
        <Month>12</Month>
        <Day>14</Day>
      </DateRevised>
      <Article PubModel="Print-Electronic">
        <Journal>
          <ISSN IssnType="Electronic">1</ISSN>
          <JournalIssue CitedMedium="Internet">
            <Volume>10</Volume>
            <Issue>1</Issue>
            <PubDate>
              <Year>2021</Year>
              <Month>Jan</Month>
              <Day>15</Day>
            </PubDate>
          </JournalIssue>
          <Title>The Journal of </Title>
          <ISOAbbreviation>J </ISOAbbreviation>
        </Journal>
        <ArticleTitle>Effects of the in patients with : a study.</ArticleTitle>
        <Pagination>
          <StartPage>1</StartPage>
          <EndPage>10</EndPage>
          <MedlinePgn>1-10</MedlinePgn>
        </Pagination>
        <ELocationID EIdType="pii" ValidYN="Y">S</ELocationID>
        <ELocationID EIdType="doi" ValidYN="Y">10.1016/j.</ELocationID>
        <Abstract>
          <AbstractText>We in the of and was to with for that these results suggest significantly </AbstractText>
          <CopyrightInformation>Copyright 2020 Elsevier Ltd. All rights reserved.</CopyrightInformation>
        </Abstract>
        <AuthorList CompleteYN="Y">
          <Author ValidYN="Y">
            <LastName>Smith</LastName>
            <ForeName>J A</ForeName>
            <Initials>JA</Initials>
            <AffiliationInfo>
              <Affiliation>Department of , School of Medicine, University of , USA. Electronic address: </Affiliation>
            </AffiliationInfo>
          </Author>
        </AuthorList>
        <Language>eng</Language>
        <PublicationTypeList>
          <PublicationType UI="D016428">Journal Article</PublicationType>
        </PublicationTypeList>
        <ArticleDate DateType="Electronic">
          <Year>2020</Year>
          <Month>11</Month>
          <Day>20</Day>
        </ArticleDate>
      </Article>
      <MedlineJournalInfo>
        <Country>United States</Country>
        <MedlineTA>J </MedlineTA>
        <NlmUniqueID>0</NlmUniqueID>
        <ISSNLinking>0</ISSNLinking>
      </MedlineJournalInfo>
      <ChemicalList>
        <Chemical>
          <RegistryNumber>0</RegistryNumber>
          <NameOfSubstance UI="D000"></NameOfSubstance>
        </Chemical>
      </ChemicalList>
      <CitationSubset>IM</CitationSubset>
      <MeshHeadingList>
        <MeshHeading>
          <DescriptorName UI="D00" MajorTopicYN="N"></DescriptorName>
          <QualifierName UI="Q000" MajorTopicYN="Y"></QualifierName>
        </MeshHeading>
      </MeshHeadingList>
    </MedlineCitation>
    <PubmedData>
      <History>
        <PubMedPubDate PubStatus="received">
          <Year>2019</Year>
          <Month>10</Month>
          <Day>5</Day>
        </PubMedPubDate>
        <PubMedPubDate PubStatus="accepted">
          <Year>2020</Year>
          <Month>3</Month>
          <Day>12</Day>
        </PubMedPubDate>
        <PubMedPubDate PubStatus="pubmed">
          <Year>2020</Year>
          <Month>4</Month>
          <Day>28</Day>
          <Hour>6</Hour>
          <Minute>0</Minute>
        </PubMedPubDate>
        <PubMedPubDate PubStatus="medline">
          <Year>2020</Year>
          <Month>11</Month>
          <Day>2</Day>
          <Hour>6</Hour>
          <Minute>0</Minute>
        </PubMedPubDate>
        <PubMedPubDate PubStatus="entrez">
          <Year>2020</Year>
          <Month>4</Month>
          <Day>27</Day>
          <Hour>6</Hour>
          <Minute>0</Minute>
        </PubMedPubDate>
      </History>
      <PublicationStatus>ppublish</PublicationStatus>
      <ArticleIdList>
        <ArticleId IdType="pubmed"></ArticleId>
        <ArticleId IdType="pmc">PMC</ArticleId>
        <ArticleId IdType="mid">NIHMS</ArticleId>
        <ArticleId IdType="pii">S</ArticleId>
        <ArticleId IdType="doi">10.1016/j.</ArticleId>
      </ArticleIdList>
    </PubmedData>
  </PubmedArticle>"""


@cache
def _get_compressor() -> "ZstdCompressor":
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(_build_dictionary(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    dictionary.precompute_compress(level=LEVEL)
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary, write_dict_id=False, write_checksum=False)


@cache
def _get_decompressor() -> "ZstdDecompressor":
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(_build_dictionary(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=dictionary)


def pack(raw: bytes) -> bytes:
    """Compress a record."""
    return _get_compressor().compress(raw)


def unpack(packed: bytes) -> bytes:
    """Return a record.

    Raises:
        ValueError: it is damaged, or larger than ``MAX_BYTES``.
    """
    import zstandard

    try:
        if zstandard.frame_content_size(packed) > MAX_BYTES:
            raise ValueError("the record is too large")
        return _get_decompressor().decompress(packed)
    except zstandard.ZstdError as exc:
        raise ValueError(f"the record cannot be decompressed ({exc})") from None
