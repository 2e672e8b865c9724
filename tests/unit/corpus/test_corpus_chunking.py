"""Records split into chunks."""

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_papers import Paper

from entrez_kit.corpus.chunking import MIN_CHUNK, MOST, chunk_article, chunk_uuid, estimate_tokens
from entrez_kit.corpus.documents import Doc
from entrez_kit.pubmed.models import AbstractSection, Article


def _make_article(title: str, *sections: tuple[str | None, str]) -> Article:
    parts = [AbstractSection(label=label, text=text) for label, text in sections]
    return Article(pmid="1", url="", title=title, abstract_sections=parts)


def _write_sentences(number: int, words: int = 12, start: int = 0) -> str:
    return " ".join(
        f"Sentence{place} " + " ".join(f"w{place}x{word}" for word in range(words - 2)) + f" end{place}."
        for place in range(start, start + number)
    )


def test_the_uuid_of_a_chunk_is_the_golden_one() -> None:
    assert chunk_uuid("12345678", "w0") == "2fc98da8-dd62-5e12-bb60-1d806bd65212"
    assert chunk_uuid(12345678, "w0") == "2fc98da8-dd62-5e12-bb60-1d806bd65212"


def test_a_short_abstract_is_one_chunk_that_begins_with_the_title() -> None:
    [chunk] = chunk_article(_make_article("A title", (None, "One sentence. And a second.")))

    assert (chunk.chunk_id, chunk.section) == ("w0", None)
    assert chunk.text == "[Title] A title\n[Text] One sentence. And a second."
    assert chunk.tokens == estimate_tokens(chunk.text)


def test_a_record_without_an_abstract_is_one_chunk_with_its_title() -> None:
    assert [(chunk.chunk_id, chunk.text) for chunk in chunk_article(_make_article("Only a title"))] == [
        ("w0", "[Title] Only a title")
    ]
    assert chunk_article(_make_article("")) == []


def test_large_sections_are_separate_chunks_and_the_title_is_in_the_first() -> None:
    chunks = chunk_article(
        _make_article(
            "A title",
            ("METHODS", _write_sentences(10)),
            ("RESULTS", _write_sentences(10, start=20)),
            ("CONCLUSION", "Yes."),
        )
    )

    assert [chunk.chunk_id for chunk in chunks] == ["s0", "s1"]
    assert [chunk.section for chunk in chunks] == ["Methods", "Results; Conclusions"]
    assert chunks[0].text.startswith("[Title] A title\n[Section] METHODS\n[Text] Sentence0 ")
    assert "[Title]" not in chunks[1].text
    assert chunks[1].text.endswith("\n[Section] CONCLUSION\n[Text] Yes.")


def test_small_sections_are_joined_up_to_a_minimum_size() -> None:
    chunks = chunk_article(_make_article("T", *((f"PART {number}", _write_sentences(3)) for number in range(6))))

    assert [chunk.chunk_id for chunk in chunks] == ["s0", "s1", "s2"]
    assert all(chunk.tokens >= MIN_CHUNK for chunk in chunks)


def test_a_section_that_is_too_long_is_split_into_numbered_parts() -> None:
    chunks = chunk_article(
        _make_article("T", ("METHODS", _write_sentences(9)), ("RESULTS", _write_sentences(60, start=20)))
    )

    assert [chunk.chunk_id for chunk in chunks] == ["s0", "s1_0", "s1_1", "s1_2", "s1_3"]
    assert all(chunk.text.startswith("[Section] RESULTS\n") for chunk in chunks[1:])
    assert {chunk.section for chunk in chunks[1:]} == {"Results"}


def test_nlms_category_of_a_section_has_precedence_over_its_label() -> None:
    article = Article(
        pmid="1",
        url="",
        title="T",
        abstract_sections=[
            AbstractSection(label="WHAT WE KNOW", nlm_category="BACKGROUND", text=_write_sentences(9)),
            AbstractSection(label="OUTCOMES", nlm_category="UNASSIGNED", text=_write_sentences(9)),
            AbstractSection(label="REGISTRATION", text=_write_sentences(9)),
        ],
    )

    assert [chunk.section for chunk in chunk_article(article)] == ["Background", "Results", "Registration"]


@pytest.mark.parametrize(
    "text",
    [
        f"BACKGROUND: {_write_sentences(9)} METHODS: {_write_sentences(9)} RESULTS: {_write_sentences(9)}",
        f"Background - {_write_sentences(9)}\nMethods - {_write_sentences(9)}\nResults - {_write_sentences(9)}",
    ],
)
def test_headings_written_into_the_text_make_sections_too(text: str) -> None:
    assert [chunk.section for chunk in chunk_article(_make_article("T", (None, text)))] == [
        "Background",
        "Methods",
        "Results",
    ]


def test_one_heading_alone_makes_no_sections() -> None:
    [chunk] = chunk_article(_make_article("T", (None, "We looked. Results: nothing was found.")))

    assert chunk.chunk_id == "w0"


def test_labels_of_pubmed_are_not_searched_for_further_headings() -> None:
    text = f"Aim: to see. Methods: to look. Results: none. {_write_sentences(9)}"

    assert [
        chunk.section for chunk in chunk_article(_make_article("T", ("SUMMARY", text), ("NOTE", _write_sentences(12))))
    ] == [
        "Conclusions",
        "Note",
    ]


def test_windows_overlap_and_end_without_a_repeated_tail() -> None:
    chunks = chunk_article(_make_article("T", (None, _write_sentences(70))))
    texts = [chunk.text.split("[Text] ")[1].split() for chunk in chunks]

    assert [chunk.chunk_id for chunk in chunks] == [f"w{number}" for number in range(len(chunks))]
    assert len(chunks) > 3
    for before, after in pairwise(texts):
        repeated = next(size for size in range(40, -1, -1) if before[len(before) - size :] == after[:size])
        assert 10 <= repeated <= 33
        assert len(after) > 2 * repeated
    assert texts[-1][-1] == "end69."


def test_numbers_are_not_separated_from_their_comparison() -> None:
    pair = "Mortality was lower than with placebo. The hazard ratio was 0.72 (95% CI 0.60-0.86; P < 0.001)."
    for before in range(14, 27):
        chunks = chunk_article(
            _make_article("T", (None, f"{_write_sentences(before)} {pair} {_write_sentences(26, start=50)}"))
        )

        assert any(pair in chunk.text for chunk in chunks), before


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    text = "Values of 1.5 vs. 2.5 (Fig. 3) were seen by Smith et al. in E. coli. Then it ended."
    long = f"{_write_sentences(30)} {text} {_write_sentences(30, start=40)}"

    assert any(
        "vs. 2.5 (Fig. 3) were seen by Smith et al. in E. coli." in c.text
        for c in chunk_article(_make_article("T", (None, long)))
    )


def test_a_sentence_longer_than_a_chunk_is_split_without_loss() -> None:
    words = [f"word{number}" for number in range(2_000)]
    chunks = chunk_article(_make_article("T", (None, " ".join(words))))

    assert max(chunk.tokens for chunk in chunks) <= MOST
    assert set(words) <= set(" ".join(chunk.text for chunk in chunks).split())


def test_a_word_longer_than_a_chunk_is_split_without_loss() -> None:
    sequence = "".join(Random(3).choices("ACGT", k=9_000))
    chunks = chunk_article(_make_article("T", (None, f"The sequence is {sequence} as shown.")))

    assert max(chunk.tokens for chunk in chunks) <= MOST
    pieces = [word for chunk in chunks for word in chunk.text.split() if len(word) > 50]
    assert all(piece in sequence for piece in pieces)
    assert sequence[:100] in pieces[0]
    assert any(piece.endswith(sequence[-50:]) for piece in pieces)


def test_text_without_blanks_is_not_read_as_one_word() -> None:
    assert estimate_tokens("糖尿病" * 100) >= 300


def test_a_title_longer_than_a_chunk_is_split_like_text() -> None:
    title = " ".join(f"title{number}" for number in range(900))
    chunks = chunk_article(_make_article(title, ("METHODS", "Some."), ("RESULTS", "None.")))

    assert max(chunk.tokens for chunk in chunks) <= MOST
    assert set(title.split()) <= set(" ".join(chunk.text for chunk in chunks).split())


VOCABULARY = re.split(
    " ",
    "the of Patients versus P<0.001. HR 0.7 (95% CI 0.5-0.9). than placebo control! group? e.g. vs. et al. A. B "
    "12.5% Results: (n=20) Methods: BACKGROUND: β-blocker μg 10² 糖尿病 \n",
)


def texts(*words: int) -> st.SearchStrategy[str]:
    """Return texts of a number of words, some of them very long and without a place to split."""

    def write(number: int, chance: Random) -> str:
        tails = ["", "", "", "", "", "y", "y" * 30, "y" * 400]
        return " ".join(chance.choice(VOCABULARY) + chance.choice(tails) for _ in range(number))

    return st.builds(write, st.sampled_from(words), st.randoms(use_true_random=False))


labels = st.sampled_from(["METHODS", "RESULTS AND DISCUSSION", "WHAT IS NEW", "AIM", None])
bodies = texts(0, 1, 15, 60, 100, 400, 1500)
abstracts = st.lists(st.tuples(labels, bodies), max_size=7) | st.lists(st.tuples(st.none(), bodies), max_size=1)


@pytest.mark.long
@given(texts(1, 5, 15, 30, 200), abstracts)
def test_every_word_is_in_some_chunk_and_every_chunk_fits(title: str, sections: list[tuple[str | None, str]]) -> None:
    article = _make_article(title, *sections)

    chunks = chunk_article(article)

    assert chunks == chunk_article(article)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert all(re.fullmatch(r"[sw][0-9]+(_[0-9]+)?", chunk.chunk_id) for chunk in chunks)
    assert all(chunk.tokens <= MOST for chunk in chunks)
    kept = {word.rstrip(":") for word in " ".join(chunk.text for chunk in chunks).split()}
    given = " ".join([article.title, *(f"{label or ''} {body}" for label, body in sections)])
    assert {word.rstrip(":") for word in given.split()} <= kept


def test_parsed_records_are_split_by_their_labels() -> None:
    paper = Paper(7, abstract=[("BACKGROUND", _write_sentences(9)), ("RESULTS", _write_sentences(9, start=9))])

    assert [chunk.section for chunk in Doc.of(paper.article()).chunks] == ["Background", "Results"]
