"""EFetch replies of any database, compared with the requested ids."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.services.fetched_records import check_records, read_names


def write_taxon(uid: str) -> str:
    """Return a record of the taxonomy."""
    return (
        f"<Taxon><TaxId>{uid}</TaxId><ScientificName>Name {uid}</ScientificName><ParentTaxId>1</ParentTaxId>"
        "<Rank>species</Rank><Division>None</Division></Taxon>"
    )


def write_taxa(*records: str) -> bytes:
    """Return a reply of the taxonomy."""
    return f'<?xml version="1.0"?><TaxaSet>{"".join(records)}</TaxaSet>'.encode()


def write_sequence(accession: str, length: int) -> str:
    """Return a record of nuccore in XML."""
    return (
        f"<GBSeq><GBSeq_locus>{accession.split('.')[0]}</GBSeq_locus><GBSeq_length>{length}</GBSeq_length>"
        f"<GBSeq_definition>x</GBSeq_definition><GBSeq_accession-version>{accession}</GBSeq_accession-version>"
        f"<GBSeq_sequence>{'a' * length}</GBSeq_sequence></GBSeq>"
    )


def write_summary(uid: str, **fields: object) -> dict[str, object]:
    """Return a document summary."""
    return {"uid": uid, **fields}


KNOWN = {"9606": write_summary("9606"), "10090": write_summary("10090")}
SEQUENCE = {"5": write_summary("5", caption="ZZ1", accessionversion="ZZ1.2", slen=4)}


def check_taxa(*records: str) -> bytes:
    """Compare a reply with the request for two taxa."""
    return check_records(["9606", "10090"], KNOWN, write_taxa(*records), rettype=None, retmode="xml")


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([write_taxon("9606"), write_taxon("562")], "not requested"),
        ([write_taxon("562"), write_taxon("563")], "not requested"),
        ([write_taxon("9606"), write_taxon("10090"), write_taxon("562")], "not requested"),
        ([write_taxon("9606")], "no record of 10090"),
        ([], "no record of 9606"),
        ([write_taxon("9606"), write_taxon("9606"), write_taxon("10090")], "twice"),
        ([write_taxon("9606"), "<Taxon><TaxId>10090</TaxId></Taxon>"], "without content"),
        ([write_taxon("9606"), "<Taxon/>"], "not requested"),
        ([write_taxon("9606"), "<TaxaSet>", write_taxon("10090")], "not well-formed"),
    ],
)
def test_a_reply_with_other_missing_repeated_or_empty_records_is_refused(records: list[str], said: str) -> None:
    with pytest.raises(UpstreamError, match=said):
        check_taxa(*records)


def test_records_in_another_order_and_merged_ids_are_accepted() -> None:
    assert check_taxa(write_taxon("10090"), write_taxon("9606"))
    merged = write_taxon("9606").replace("<Rank>", "<AkaTaxIds><TaxId>10090</TaxId></AkaTaxIds><Rank>")
    assert check_taxa(merged)


def write_sample(uid: str, accession: str, title: str = "x") -> str:
    """Return a record in the form of BioSample, whose root element has no specific rule."""
    return (
        f'<BioSample id="{uid}" accession="{accession}" access="public"><Title>{title}</Title><n>12345</n></BioSample>'
    )


def write_variant(uid: str, title: str = "x") -> str:
    """Return a record whose id is in an element."""
    return f"<Archive><Head><Number>{uid}</Number></Head><Title>{title}</Title></Archive>"


SAMPLES = {"12345": write_summary("12345", accession="SAMN1"), "67890": write_summary("67890", accession="SAMN2")}


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([write_sample("12345", "SAMN1"), write_sample("99999", "SAMN9")], "not requested"),
        (
            [write_sample("12345", "SAMN1"), write_sample("67890", "SAMN2"), write_sample("99999", "SAMN9")],
            "not requested",
        ),
        ([write_sample("12345", "SAMN1")], "no record of 67890"),
        ([write_sample("12345", "SAMN1"), write_sample("12345", "SAMN1"), write_sample("67890", "SAMN2")], "twice"),
        ([write_variant("12345"), write_variant("99999")], "not requested"),
        ([write_variant("67890")], "no record of 12345"),
        ([write_variant("12345"), write_variant("12345")], "no record of 67890|twice"),
    ],
)
def test_records_under_any_root_are_compared_by_the_place_of_their_ids(records: list[str], said: str) -> None:
    content = f"<?xml version='1.0'?><Other>{''.join(records)}</Other>".encode()

    with pytest.raises(UpstreamError, match=said):
        check_records(list(SAMPLES), SAMPLES, content, rettype=None, retmode="xml")


@pytest.mark.parametrize(
    "records",
    [
        [write_sample("67890", "SAMN2"), write_sample("12345", "SAMN1")],
        [write_variant("12345"), write_variant("67890")],
        [
            write_variant("12345"),
            write_variant("12345", title="another part"),
            write_variant("67890"),
        ],  # one id, two records
        [
            write_sample("77777", "SAMN7"),
            write_sample("88888", "SAMN8"),
            write_sample("99999", "SAMN9"),
        ],  # no known name
        [write_variant("12345"), write_sample("67890", "SAMN2")],  # two kinds of records
        [write_variant("12345"), "<Archive><Title>x</Title></Archive>"],  # a record without an id
    ],
)
def test_a_reply_with_an_unknown_root_is_accepted_if_its_ids_agree_or_are_not_at_one_place(records: list[str]) -> None:
    content = f"<?xml version='1.0'?><Other>{''.join(records)}</Other>".encode()

    assert check_records(list(SAMPLES), SAMPLES, content, rettype=None, retmode="xml") == content


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (f"<?xml version='1.0'?><GBSet>{write_sequence('ZZ1.2', 3)}</GBSet>", ("gb", "xml")),
        (">ZZ1.2 x\nACG\n", ("fasta", "text")),
        (">ZZ1.2 x\nACG\n", ("fasta", None)),
        (
            "<?xml version='1.0'?><TSeqSet><TSeq><TSeq_accver>ZZ1.2</TSeq_accver><TSeq_taxid>1</TSeq_taxid>"
            "<TSeq_length>3</TSeq_length><TSeq_sequence>ACG</TSeq_sequence></TSeq></TSeqSet>",
            ("fasta", "xml"),
        ),
    ],
)
def test_a_sequence_that_is_shorter_than_in_its_summary_is_reported(content: str, form: tuple[str, str | None]) -> None:
    with pytest.raises(UpstreamError, match="3 of the 4 residues of 5"):
        check_records(["5"], SEQUENCE, content.encode(), rettype=form[0], retmode=form[1])


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (f"<?xml version='1.0'?><GBSet>{write_sequence('ZZ1.2', 4)}</GBSet>", ("gb", "xml")),
        (">gi|5|gb|ZZ1.2| x\nACGT\n", ("fasta", "text")),
        ("ZZ1.2\n", ("acc", "text")),
        ("LOCUS       ZZ1  4 bp\nACCESSION   ZZ1\nVERSION     ZZ1.2  GI:5\nORIGIN\n 1 acgt\n//\n", ("gb", "text")),
        ("anything", ("native", "text")),
        ("<?xml version='1.0'?><Unknown><a>x</a></Unknown>", (None, "xml")),
        ("<?xml version='1.0'?><a/><?xml version='1.0'?><a/>", (None, "xml")),
    ],
)
def test_a_reply_with_the_record_or_in_a_format_without_ids_is_accepted(
    content: str, form: tuple[str | None, str]
) -> None:
    assert check_records(["5"], SEQUENCE, content.encode(), rettype=form[0], retmode=form[1]) == content.encode()


def test_a_list_that_ends_inside_its_last_name_is_refused() -> None:
    assert check_records(["5"], SEQUENCE, b"ZZ1.2", rettype="acc", retmode="text") == b"ZZ1.2"
    for cut in (b"ZZ1", b"ZZ1."):
        with pytest.raises(UpstreamError, match="cut"):
            check_records(["5"], SEQUENCE, cut, rettype="acc", retmode="text")


def test_a_document_without_any_text_has_no_record() -> None:
    content = b"<opml><head/><body/></opml>"

    with pytest.raises(UpstreamError, match="no record of 5"):
        check_records(["5"], SEQUENCE, content, rettype="gb", retmode="xml")
    with pytest.raises(EntityNotFound):
        check_records(["ZZ1.1"], {}, content, rettype="gb", retmode="xml")


def test_an_older_accession_without_a_summary_is_accepted_for_the_record_it_names() -> None:
    content = b">ZZ9.1 x\nACGT\n"

    assert check_records(["OLD1.1"], {}, content, rettype="fasta", retmode="text") == content
    with pytest.raises(UpstreamError, match="not requested"):
        check_records(["OLD1.1"], {}, content + b">ZZ8.1 y\nAC\n", rettype="fasta", retmode="text")


def test_a_reply_without_records_for_ids_without_a_summary_is_not_found() -> None:
    with pytest.raises(EntityNotFound):
        check_records(["ZZ1.1"], {}, b"<?xml version='1.0'?><GBSet/>", rettype="gb", retmode="xml")


@given(st.lists(st.integers(1, 40), min_size=1, unique=True), st.lists(st.integers(1, 40)))
def test_only_a_reply_with_exactly_the_requested_records_is_accepted(asked: list[int], returned: list[int]) -> None:
    wanted = [str(uid) for uid in asked]
    content = write_taxa(*(write_taxon(str(uid)) for uid in returned))
    try:
        check_records(wanted, {uid: write_summary(uid) for uid in wanted}, content, rettype=None, retmode="xml")
        is_accepted = True
    except UpstreamError:
        is_accepted = False

    assert is_accepted == (sorted(asked) == sorted(returned))


def test_every_recorded_reply_has_the_records_of_its_request(real_data: Path) -> None:
    sources = (real_data / "SOURCES.md").read_text(encoding="utf-8")
    compared = 0
    for path in [*(real_data / "efetch_other").iterdir(), *(real_data / "efetch_gene").iterdir()]:
        content = path.read_bytes()
        names = read_names(content, None, None)
        address = re.search(re.escape(path.name) + r" \| (https?://\S+)", sources)
        if names is None:
            continue
        compared += 1
        assert names, path.name
        assert all(name.names and not name.is_hollow for name in names), path.name
        requested = dict(parse_qsl(urlsplit(address[1]).query)) if address else {}
        ids = re.findall(r"[\w.]+", requested.get("id", requested.get("ID", "")))
        if ids:
            known = {uid: write_summary(uid) for uid in ids}
            assert check_records(ids, known, content, rettype=None, retmode="xml") == content
    assert compared > 10
