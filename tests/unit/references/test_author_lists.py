"""The authors of a BibTeX entry, also in forms that BibTeX reads as one name."""

import pytest

from entrez_kit.references.files.read_bibtex import read_bibtex

PEOPLE = [("Flaherty", "KT"), ("Robert", "C"), ("Hersey", "P")]


@pytest.mark.parametrize("braces", [False, True])
@pytest.mark.parametrize("end", ["", " and others", " et al.", ", et al", ", and others"])
@pytest.mark.parametrize(
    "form",
    [
        "Flaherty KT and Robert C and Hersey P",
        "Flaherty KT, Robert C, Hersey P",
        "K. T. Flaherty, C. Robert, P. Hersey",
        "K.T. Flaherty and C. Robert and P. Hersey",
        "Flaherty, K. T. and Robert, C. and Hersey, P.",
    ],
)
def test_a_list_of_persons_is_read_in_every_form(form: str, end: str, *, braces: bool) -> None:
    text = f"{{{form}{end}}}" if braces else f"{form}{end}"

    (reference,) = read_bibtex(f"@article{{k, title={{T}}, author={{{text}}}}}", "a.bib").references

    found = [(one.family, (one.given or "").replace(".", "").replace(" ", "")) for one in reference.authors]
    assert found == PEOPLE
    assert reference.more_authors == bool(end)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Keith T. Flaherty et al.", ["Flaherty, Keith T."]),
        ("{Keith T. Flaherty et al.}", ["Flaherty, Keith T."]),
        ("Keith Flaherty, Caroline Robert, Peter Hersey", ["Flaherty, Keith", "Robert, Caroline", "Hersey, Peter"]),
        ("Wei LI and Jing XU", ["LI, Wei", "XU, Jing"]),
        ("{World Health Organization, Region A and B}", ["World Health Organization, Region A and B"]),
        ("{Geneva Office, European Region, Task Force}", ["Geneva Office, European Region, Task Force"]),
        ("{Task Force and Committee}", ["Task Force and Committee"]),
        ("Flaherty, Jr, Keith", ["Flaherty, Keith"]),
        ("van der Berg, J. and Ludwig van Beethoven", ["van der Berg, J.", "van Beethoven, Ludwig"]),
        ("{WHO} and Doe, Jane", ["WHO", "Doe, Jane"]),
    ],
)
def test_persons_and_groups_are_told_apart(text: str, names: list[str]) -> None:
    (reference,) = read_bibtex(f"@article{{k, title={{T}}, author={{{text}}}}}", "a.bib").references

    assert [one.text for one in reference.authors] == names


def test_braces_inside_of_a_list_keep_family_names_together() -> None:
    text = "J. {Le Berichel} and G. {Coelho-Palermo Cunha} and A. {Di Virgilio}"

    (reference,) = read_bibtex(f"@article{{k, title={{T}}, author={{{text}}}}}", "a.bib").references

    assert [one.family for one in reference.authors] == ["Le Berichel", "Coelho-Palermo Cunha", "Di Virgilio"]


@pytest.mark.parametrize(
    "field",
    [
        r"url={\url{https://doi.org/10.5555/x}}",
        r"howpublished={\url{https://doi.org/10.5555/x}}",
        r"uri={\url{papers3://publication/doi/10.5555/x}}",
    ],
)
def test_the_doi_of_an_address_is_read(field: str) -> None:
    (reference,) = read_bibtex(f"@article{{k, title={{T}}, {field}}}", "a.bib").references

    assert reference.doi == "10.5555/x"
