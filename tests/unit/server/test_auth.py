"""Tokens: issued tokens are accepted, and all others rejected."""

import asyncio
import time
from typing import Any

import jwt
import pytest
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp_helpers import SECRET
from starlette.requests import HTTPConnection

from entrez_kit.base.errors import InvalidInput, NotConfigured
from entrez_kit.base.settings import Settings, load_settings
from entrez_kit.databases.gene.get_genes import GET_GENE
from entrez_kit.server.auth import (
    DEFAULT_SCOPES,
    MAX_TTL,
    SignedTokens,
    TokenRefused,
    issue_token,
    read_scopes,
    read_secret,
    read_ttl,
    verify_token,
)
from entrez_kit.server.tool_definitions import ToolDefinition
from entrez_kit.server.toolsets import SCOPES


def make_settings(secret: str | None = SECRET) -> Settings:
    return load_settings({"mcp_auth_secret_key": secret})


def verify(token: str) -> Any:
    try:
        return verify_token(token, SECRET)
    except TokenRefused:
        return None


def test_an_issued_token_is_accepted() -> None:
    issued = issue_token(make_settings(), subject=" alice ", ttl=60, scopes=("entrez-kit:gene",))
    found = verify(issued.token)
    decoded = jwt.decode(issued.token, SECRET, algorithms=["HS256"], audience="entrez-kit", issuer="entrez-kit")

    assert (found.subject, found.scopes, found.expires_at) == ("alice", ["entrez-kit:gene"], issued.expires_at)
    assert issued.expires_at - time.time() == pytest.approx(60, abs=2)
    assert decoded["scope"] == "entrez-kit:gene"
    assert jwt.get_unverified_header(issued.token)["alg"] == "HS256"


def test_the_sdk_reads_the_header_and_calls_the_verifier() -> None:
    backend = BearerAuthBackend(SignedTokens(SECRET))
    token = issue_token(make_settings(), subject="alice", ttl=60, scopes=("entrez-kit:gene",)).token

    def authenticate(header: str) -> Any:
        scope = {"type": "http", "headers": [(b"authorization", header.encode())]}
        return asyncio.run(backend.authenticate(HTTPConnection(scope)))

    credentials, user = authenticate(f"Bearer {token}")
    assert (credentials.scopes, user.access_token.subject) == (["entrez-kit:gene"], "alice")
    assert authenticate("Basic YTpi") is None
    with pytest.raises(TokenRefused, match="did not issue"):
        authenticate("Bearer nonsense")


def test_two_tokens_are_never_the_same() -> None:
    tokens = {issue_token(make_settings(), subject="a", ttl=60, scopes=SCOPES).token for _ in range(5)}

    assert len(tokens) == 5


def test_a_token_is_valid_until_it_expires_and_not_a_second_longer() -> None:
    assert verify(issue_token(make_settings(), subject="a", ttl=2, scopes=SCOPES).token) is not None
    assert verify(issue_token(make_settings(), subject="a", ttl=0, scopes=SCOPES).token) is None


def test_scopes_may_be_a_list_and_unknown_ones_have_no_effect() -> None:
    claims = {"iss": "entrez-kit", "aud": ["x", "entrez-kit"], "sub": "a", "exp": int(time.time()) + 60}
    for scope in ({"scope": "entrez-kit:gene openid"}, {"scp": ["openid", "entrez-kit:gene"]}):
        found = verify(jwt.encode({**claims, **scope}, SECRET, algorithm="HS256"))
        assert found.scopes == ["entrez-kit:gene"]


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": 7},
        {"exp": "soon"},
        {"exp": float("inf")},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": 10**30},
        {"exp": 99999999999},
        {"aud": 7},
        {"iss": ["entrez-kit"]},
    ],
)
def test_claims_of_the_wrong_type_are_rejected(claims: dict[str, Any]) -> None:
    good = {"iss": "entrez-kit", "aud": "entrez-kit", "sub": "a", "exp": int(time.time()) + 60}
    token = jwt.api_jws.PyJWS().encode(
        __import__("json").dumps({**good, **claims}).encode(), SECRET, algorithm="HS256", headers={"typ": "JWT"}
    )

    assert verify(token) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("1s", 1), ("45s", 45), ("30m", 1_800), ("1h", 3_600), ("7d", 604_800), ("2w", 1_209_600)),
        *(("1h30m", 5_400), (" 1 H ", 3_600), ("366d", MAX_TTL)),
    ],
)
def test_times_are_read(text: str, seconds: int) -> None:
    assert read_ttl(text) == seconds


@pytest.mark.parametrize("text", ["", "0s", "1", "h", "-1h", "1.5h", "367d", "1y", "1h x", "9999999999s", "１h"])
def test_an_invalid_time_is_rejected(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_ttl(text)
    assert "7d" in caught.value.recovery_hint


def test_scopes_are_read_with_and_without_their_prefix() -> None:
    assert read_scopes([]) == DEFAULT_SCOPES == tuple(scope for scope in SCOPES if scope != "entrez-kit:corpus.write")
    assert read_scopes(["gene"]) == read_scopes(["entrez-kit:gene"]) == ("entrez-kit:gene",)
    assert read_scopes(["entrez gene", "corpus.write,pubmed"]) == (
        "entrez-kit:pubmed",
        "entrez-kit:gene",
        "entrez-kit:corpus.write",
        "entrez-kit:entrez",
    )
    with pytest.raises(InvalidInput, match="'genes'") as caught:
        read_scopes(["genes"])
    assert "gene, corpus.read" in caught.value.message


def test_every_toolset_has_its_scope_and_the_corpus_has_two() -> None:
    from dataclasses import replace

    assert ToolDefinition.of(GET_GENE).scope == "entrez-kit:gene"
    assert ToolDefinition.of(replace(GET_GENE, toolset="corpus")).scope == "entrez-kit:corpus.read"
    assert ToolDefinition.of(replace(GET_GENE, toolset="corpus", read_only=False)).scope == "entrez-kit:corpus.write"


@pytest.mark.parametrize("subject", ["", "  ", "a\nb", "x" * 201])
def test_a_token_has_a_subject(subject: str) -> None:
    with pytest.raises(InvalidInput):
        issue_token(make_settings(), subject=subject, ttl=60, scopes=SCOPES)


@pytest.mark.parametrize(("secret", "reason"), [(None, "no_auth_secret"), ("x" * 31, "short_auth_secret")])
def test_without_a_secret_no_token_is_signed(secret: str | None, reason: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        issue_token(make_settings(secret), subject="a", ttl=60, scopes=SCOPES)
    assert caught.value.reason == reason
    assert read_secret(make_settings("x" * 32)) == "x" * 32
