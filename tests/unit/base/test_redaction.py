"""Secrets in texts: one module removes them, whatever the text is and wherever it goes."""

import pytest
from project_paths import ROOT
from syntax_trees import read_nodes

from entrez_kit.base.redaction import Redactor, redact_url, remove_secret_parameters

CANARY = "canary-7f3a9b"
SENDERS = {
    "entrez_kit/base/configuration.py",  # writes the user config
    "entrez_kit/base/settings.py",
    "entrez_kit/corpus/embeddings.py",
    "entrez_kit/corpus/weaviate/client.py",
    "entrez_kit/server/auth.py",
    "entrez_kit/services/transport/__init__.py",
}
"""The modules that read the value of a secret."""


@pytest.mark.parametrize(
    "text",
    [
        f"GET http://reader:{CANARY}@proxy.example.org:3128/ failed",
        f"GET http://reader:{CANARY}@home@proxy.example.org:3128/ failed",
        f"GET https://reader:first/{CANARY}@host.example.org/ failed",
        f"GET https://reader:sec?{CANARY}@host.example.org/ failed",
        f"GET https://reader:sec#{CANARY}@host.example.org/ failed",
        f"Authorization: Bearer {CANARY}",
        f"Authorization: Token {CANARY}",
        f"{{'Authorization': b'Basic {CANARY}'}}",
        f'{{"authorization": ["Bearer {CANARY}"]}}',
        f"{{'authorization': 'Basic {CANARY}', 'Accept': 'text/xml'}}",
        f"Proxy-Authorization: Basic {CANARY}",
        f"https://files.example.org/a.pdf?access_token={CANARY}&page=2",
        f"https://files.example.org/a.pdf?X-Amz-Signature={CANARY}",
        f"client_secret%3D{CANARY}",
        f'{{"access_token": "{CANARY}", "count": 2}}',
        f"{{'password': '{CANARY}'}}",
        f'{{"x-api-key" : "{CANARY}',
    ],
)
def test_a_secret_is_removed_by_its_place_in_the_text_even_if_it_is_unknown(text: str) -> None:
    redactor = Redactor(())

    cleaned = redactor.redact_text(text)

    assert CANARY not in cleaned
    assert "[hidden]" in cleaned
    assert redactor.redact_text(cleaned) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8080/a?to=me@example.org",
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&query_key=1&WebEnv=MCID_1",
        "The article has the DOI 10.1000/a@b and the address https://doi.org/10.1000/182.",
        "Basic research: token rings, secret sharing, password managers",
        '{"keywords": ["signature", "tokens"], "mail_order": false}',
    ],
)
def test_data_without_secrets_is_unchanged(text: str) -> None:
    assert Redactor(()).redact_text(text) == text


@pytest.mark.parametrize(
    "url",
    [
        f"https://reader:{CANARY}@example.org/a?page=2",
        f"https://reader:part/{CANARY}@example.org/a",
        f"reader:{CANARY}@example.org",
        f"https://example.org/a?key={CANARY}",
        f"https://example.org/a#\n{CANARY}",
        f"https://example.org/\x1b[2Ja?\n{CANARY}",
    ],
)
def test_a_url_in_a_message_has_neither_password_nor_parameters(url: str) -> None:
    cleaned = redact_url(url)

    assert CANARY not in cleaned
    assert "part" not in cleaned
    assert "example.org" in cleaned
    assert cleaned.isprintable()


def test_results_keep_the_parameters_of_a_url_that_are_not_secret() -> None:
    assert remove_secret_parameters("id=7&X-Amz-Signature=a&token=b&page=2") == "id=7&page=2"


@pytest.mark.long
def test_only_modules_that_send_a_secret_read_its_value() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for folder in ("entrez_kit", "commands")
        for path in (ROOT / folder).rglob("*.py")
        if any(getattr(node, "attr", "") == "get_secret_value" for node in read_nodes(path))
    }

    assert readers == SENDERS
