"""Claims are found in texts with any typesetting, unless a number, sign, unit or word differs."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled_cases import take_sample

from entrez_kit.fulltext.fulltext_articles import Section
from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats
from entrez_kit.references.claims.passages import FoldedClaim, FoldedText, NearMatch
from entrez_kit.references.claims.sentence_index import Nearest, SentenceIndex, TextPart

TEXT = (
    "Background. The inter-\nvention reduced LDL by 5·2 mg/dL (p < 0.05) in 1,200 carriers of “TP53” [12,13] at "
    "10⁻⁶ M; IL-6 was not able to follow. It rose by −0.5 in H₂O.^(4) Later it fell."
)


def make_passage(text: str, claim: str, *, with_markers: bool = True) -> str | None:
    found = next(FoldedClaim(claim).find_all(FoldedText(text, with_markers=with_markers)), None)
    return text[found.start : found.end] if found else None


def find_nearest(text: str, claim: str) -> Nearest | None:
    index = SentenceIndex()
    return index.find_nearest(FoldedClaim(claim), index.add([TextPart(text)]))


def match_claim(text: str, claim: str) -> NearMatch | None:
    found = find_nearest(text, claim)
    return found.match[1] if found and found.match else None


@pytest.mark.parametrize(
    "claim",
    [
        "The intervention reduced LDL by 5.2 mg/dL (P < .05)",
        "the inter\u00advention reduced LDL",
        "in 1200 carriers of 'TP53' [12, 13]",
        "1\u202f200 carriers of TP53",
        "at 10^-6 M; IL6 was not able to follow",
        "It rose by -0.5 in H2O",
        "reduced\nLDL   by 5.2 mg/dL",
    ],
)
def test_typesetting_makes_no_difference(claim: str) -> None:
    assert make_passage(TEXT, claim)


@pytest.mark.parametrize(
    "claim",
    [
        "reduced LDL by 5.3 mg/dL",
        "reduced LDL by 52 mg/dL",
        "reduced LDL by 5.2 Mg/dL",
        "reduced LDL by 5.2 mg/L",
        "LDL by 5.2 mg/dL (p > 0.05)",
        "LDL by 5.2 mg/dL (p < 0.5)",
        "LDL by 5.2 mg/dL (p = 0.05)",
        "in 120 carriers of TP53",
        "carriers of Tp53",
        "at 10-6 M",
        "at 10^6 M",
        "IL-6 was able to follow",
        "IL-6 was notable to follow",
        "It rose by 0.5 in H2O",
        "It rose by -0.5 in H3O",
        "carriers of TP53 [12,14]",
        "ntervention reduced LDL by",
        "able to fol",
    ],
)
def test_a_claim_that_differs_is_not_found(claim: str) -> None:
    assert make_passage(TEXT, claim) is None


def test_numbers_of_references_may_be_omitted_but_not_changed() -> None:
    assert make_passage(TEXT, "carriers of TP53 at 10⁻⁶ M") is None
    assert make_passage(TEXT, "carriers of TP53 at 10⁻⁶ M", with_markers=False)
    assert make_passage(TEXT, "carriers of TP53 [12,14] at 10⁻⁶ M", with_markers=False) is None
    assert make_passage("It is 5 kg/m² and more.", "It is 5 kg/m and more", with_markers=False) is None
    assert make_passage("Cells grow.¹²,¹³ Then not.", "Cells grow. Then not", with_markers=False)


@pytest.mark.parametrize(
    ("text", "claim", "same"),
    [
        ("It took 19 d in all.", "It took 19 days in all", True),
        ("It took 19 days in all.", "took 19 d in all", True),
        ("A 19-day course was given.", "19 day course", True),
        ("It took 19 days after surgery.", "days after surgery", True),
        ("It took 19 d after surgery.", "days after surgery", True),
        ("It took 2 h at 4 hrs.", "2 hours at 4 hr", True),
        ("It took 3 yr, 2 mo and 1 wk.", "3 years, 2 months and 1 week", True),
        ("In 42 percent of mice.", "In 42% of mice", True),
        ("In 42% of mice.", "in 42 per cent of mice", True),
        ("At 5 mm/min it moved.", "at 5 mm per minute it moved", True),
        ("We gave 3 µg and 2 mL.", "we gave 3 micrograms and 2 ml", True),
        ("We gave 3 mcg/kg/day.", "3 μg/kg/d", True),
        ("It took 19 d in all.", "It took 19 h in all", False),
        ("We gave 5 mg of it.", "5 Mg of it", False),
        ("We gave 5 mg of it.", "5 grams of it", False),
        ("It took 19 days in all.", "It took 18 d in all", False),
        ("Group d had 19 mice.", "group days had 19 mice", False),
        ("At 5 mm/min it moved.", "at 5 mm per hour it moved", False),
    ],
)
def test_a_unit_equals_its_name_after_a_number(text: str, claim: str, same: bool) -> None:
    assert (make_passage(text, claim) is not None) is same
    index = SentenceIndex()
    wanted = FoldedClaim(claim)
    within = index.add([TextPart(text)])
    assert not same or list(index.yield_candidates(wanted.certain_words, len(wanted.folded), within))


def test_the_nearest_sentence_is_complete_and_is_given_for_any_claim_with_a_common_word() -> None:
    text = "Mice slept. Mortality was higher in the drug group than in the placebo group (p = 0.02). It rained."

    for claim in ("Mortality was higher in the placebo group than in the drug group", "No mortality was seen"):
        found = find_nearest(text, claim)

        assert make_passage(text, claim) is None
        assert found is not None
        assert text[found.sentence.start : found.sentence.end] == text[12:-11]
        assert found.match is None or found.match[1].differences


@pytest.mark.parametrize(
    ("claim", "kind", "claimed", "found"),
    [
        ("The intervention reduced LDL by 5.3 mg/dL (p < 0.05)", "number", "5.3", "5·2"),
        ("The intervention reduced LDL by 5.2 µg/dL (p < 0.05)", "unit", "µg", "mg"),
        ("IL-6 was able to follow. It rose by", "negation", "", "not"),
        ("It fell by −0.5 in H₂O. Later it fell", "words", "fell", "rose"),
        ("The intervention reduced LDL by 5.2 mg/dL (p > 0.05)", "number", ">", "<"),
    ],
)
def test_the_differences_are_listed(claim: str, kind: str, claimed: str, found: str) -> None:
    twin = match_claim(TEXT, claim)

    assert twin is not None
    assert [(difference.kind, difference.claimed, difference.found) for difference in twin.differences] == [
        (kind, claimed, found)
    ]


@pytest.mark.parametrize("claim", ["", "...", "Something else entirely was measured in mice on Mars"])
def test_a_claim_without_a_similar_sentence_has_no_match(claim: str) -> None:
    assert make_passage(TEXT, claim) is None
    assert match_claim(TEXT, claim) is None


@given(st.text(max_size=300), st.data())
def test_any_text_contains_its_own_words_and_offsets_are_inside(text: str, data: st.DataObject) -> None:
    folded = FoldedText(text)
    tokens = folded.list_tokens()
    for token in tokens:
        assert 0 <= token.start <= token.end <= len(text)
    if tokens:
        first = data.draw(st.integers(0, len(tokens) - 1))
        claim = FoldedClaim(text[tokens[first].start :])
        if [token.text for token in claim.folded.list_tokens()] == [token.text for token in tokens[first:]]:
            assert next(claim.find_all(folded), None) is not None
            index = SentenceIndex()
            parts = [TextPart(text, is_wrapped=data.draw(st.booleans()))]
            within = index.add(parts)
            if folded.has_markers or len(claim.folded) == 0:
                return
            assert list(index.yield_candidates(claim.certain_words, len(claim.folded), within)) == parts
    find_nearest(text, data.draw(st.text(max_size=100)))


# Sentences of real articles with other typesetting, and changed ones

SENTENCE_END = re.compile(r"(?<=[a-z)]\.)\s+(?=[A-Z])")
UNITS = {"mg": "µg", "ml": "l", "mM": "µM", "%": "‰", "days": "weeks", "years": "months", "kg": "g", "cm": "mm"}


def _list_texts(article: JatsArticle) -> Iterator[str]:
    def walk(sections: list[Section]) -> Iterator[str]:
        for section in sections:
            yield section.text
            yield from walk(section.subsections)

    yield from filter(None, [article.front.abstract, *walk(article.sections)])


def _list_articles(folder: Path) -> list[JatsArticle]:
    files = sorted((folder / "jats").glob("*.xml"))
    return [
        jat for file in files for jat in iter_jats(file.read_bytes()) if isinstance(jat, JatsArticle) and jat.has_body
    ]


def _list_sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in [*SENTENCE_END.finditer(text), None]:
        end = match.start() if match else len(text)
        sentence = text[start:end]
        if 50 < len(sentence) < 400 and not re.search(r"[\n\t]", sentence):
            yield start, end
        start = match.end() if match else end


def _typeset(text: str, chance: random.Random) -> str:
    text = re.sub("fi", lambda match: chance.choice(["fi", "ﬁ"]), text)
    text = text.replace('"', "”").replace("'", "’").replace("–", "-") if chance.random() < 0.5 else text
    words = []
    for word in text.split(" "):
        hyphenated = len(word) > 8 and word.isalpha() and chance.random() < 0.2
        words.append(f"{word[:4]}-\n{word[4:]}" if hyphenated else word)
    return "".join(word + chance.choice(["\n", " ", " ", " ", " "]) for word in words)


def _to_letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _list_mutants(text: str) -> Iterator[str]:
    if number := re.search(r"[0-9]+(\.[0-9]+)?", text):
        first = str(int(number[0][0]) % 9 + 1)
        yield text[: number.start()] + first + text[number.start() + 1 :]
    if verb := re.search(r" (is|was|were|are|has|can|may|did) ", text):
        yield f"{text[: verb.end()]}not {text[verb.end() :]}"
    if " not " in text:
        yield text.replace(" not ", " ", 1)
    if unit := re.search(rf"[0-9] ?({'|'.join(UNITS)})(?![a-z])", text):
        yield text[: unit.start(1)] + UNITS[unit[1]] + text[unit.end(1) :]
    if names := re.findall(r"\b[A-Z][A-Za-z0-9]{2,}\b", text[1:]):
        yield text[0] + text[1:].replace(names[0], "Zorblax", 1)
    if genes := re.findall(r"\b[A-Z]{2,}[0-9]\b", text):
        yield text.replace(genes[0], genes[0].capitalize(), 1)


def _make_finder(article: JatsArticle) -> Callable[[str], str | None]:
    index = SentenceIndex()
    within = index.add([TextPart(text) for text in _list_texts(article)])

    def find(claim: str) -> str | None:
        wanted = FoldedClaim(claim)
        parts = index.yield_candidates(wanted.certain_words, len(wanted.folded), within)
        places = ((part.text, one) for part in parts for one in (part.folded_with_markers, part.folded))
        found = ((text, place) for text, one in places for place in wanted.find_all(one))
        return next((text[place.start : place.end] for text, place in found), None)

    return find


@pytest.mark.long
def test_sentences_of_real_articles_are_found_and_changed_ones_are_not(real_data: Path) -> None:
    chance = random.Random(7)
    found = requested = mutants = 0
    accepted: list[str] = []
    articles = take_sample(_list_articles(real_data), 0.35)
    finders = [_make_finder(article) for article in articles]
    others = zip([*articles[1:], articles[0]], [*finders[1:], finders[0]], strict=True)
    for article, find, (beside, other) in zip(articles, finders, others, strict=True):
        places = [(text, *place) for text in _list_texts(article) for place in _list_sentences(text)]
        another = _to_letters(" ".join(_list_texts(beside)))
        for text, start, end in chance.sample(places, min(4, len(places))):
            sentence = text[start:end]
            requested += 1
            passage = find(_typeset(sentence, chance))
            found += passage is not None and re.sub(r"\W", "", passage) == re.sub(r"\W", "", sentence)
            for mutant in _list_mutants(sentence):
                mutants += 1
                accepted += [mutant] if find(_typeset(mutant, chance)) else []
            if _to_letters(sentence) not in another:  # the standard phrases of a journal are in many of its articles
                accepted += [sentence] if other(sentence) else []
        body = _to_letters(" ".join(_list_texts(article)))
        for reference in article.references[:2]:
            title = max(re.split(r"(?<=[.?])\s", reference.citation), key=len)
            if _to_letters(title) not in body:  # some texts cite a title in full
                accepted += [title] if find(title) else []

    assert requested >= 100
    assert mutants >= 100
    assert found >= 0.98 * requested
    assert accepted == []


@pytest.mark.parametrize("claim", ["1.2 mmol/L", "1.2 mmol L⁻¹", "1.2 mmol L-1", "1.2 mmol·L^-1", "1.2 mmol per litre"])
@pytest.mark.parametrize("text", ["1.2 mmol/L", "1.2 mmol L⁻¹", "1.2 mmol L−1"])
def test_a_unit_in_the_denominator_has_several_forms(text: str, claim: str) -> None:
    folded = FoldedText(f"The cells grew at {text} of calcium.")

    assert folded.find(FoldedText(f"grew at {claim} of calcium")) is not None
    assert folded.find(FoldedText("grew at 1.2 mmol of calcium")) is None
    assert folded.find(FoldedText("grew at 1.2 mmol kg⁻¹ of calcium")) is None
    assert folded.find(FoldedText("grew at 1.3 mmol L⁻¹ of calcium")) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        *(("Ca²⁺ levels", claim) for claim in ("Ca2+ levels", "Ca(2+) levels", "Ca^2+ levels", "Ca^(2+) levels")),
        *(("Cl⁻, and HCO₃⁻ rose", claim) for claim in ("Cl-, and HCO3- rose", "Cl(-) and HCO3(-) rose")),
        *(("CD4⁺ T cells", claim) for claim in ("CD4+ T cells", "CD4(+) T cells")),
        ("HCO₃⁻ rose", "HCO3- rose"),
        *(("in 10⁶ cells", claim) for claim in ("in 10^6 cells", "in 10(6) cells", "in 10^(6) cells")),
        ("at 10⁻⁶ mol", "at 10^-6 moles"),
        *(("of 5 cm² each", claim) for claim in ("of 5 cm2 each", "of 5 cm^2 each")),
        *(("R² and ²³Na", claim) for claim in ("R2 and 23Na", "R^2 and ^23Na")),
        ("a k_(cat) of 5", "a kcat of 5"),
    ],
)
def test_raised_and_lowered_signs_equal_their_forms_in_ascii(text: str, claim: str) -> None:
    assert make_passage(text, claim) == text
    assert make_passage(claim, text) == claim


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        *(("with Ca²⁺ levels", f"with {claim} levels") for claim in ("Ca3+", "Ca2-", "Ca2", "Ca+", "Ca")),
        *(("the CD4⁺ T cells", f"the {claim} T cells") for claim in ("CD4-", "CD4", "CD4⁻", "CD4^(-)", "CD8+")),
        *(("in 10⁶ cells", f"in {claim} cells") for claim in ("106", "10^5", "10(5)", "10-6", "10^-6")),
        *(("of 5 cm² each", f"of 5 {claim} each") for claim in ("cm3", "cm", "mm2", "cm^3")),
        ("the HCO₃⁻ rose", "the HCO3 rose"),
    ],
)
def test_another_raised_sign_is_a_difference(text: str, claim: str) -> None:
    assert make_passage(text, claim) is None
    assert make_passage(claim, text) is None


def test_a_suspended_hyphen_is_not_a_charge() -> None:
    assert make_passage("the T- and B-cells", "the T and B cells")


def test_a_word_between_two_numbers_is_not_a_unit() -> None:
    match = match_claim(
        "editing reached 61% of alleles (range 54–67)", "editing reached 61% of alleles (range 54 to 67)"
    )

    assert match is not None
    assert [(one.kind, one.claimed) for one in match.differences] == [("words", "to")]
