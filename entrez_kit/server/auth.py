"""Bearer tokens: HS256, signed with MCP_AUTH_SECRET_KEY, with expiry, audience and scopes."""

import logging
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier

from entrez_kit.base.errors import InvalidInput, NotConfigured
from entrez_kit.base.frontend_text import describe_wrong_value, list_choices
from entrez_kit.base.settings import Settings
from entrez_kit.server.toolsets import SCOPE_NAMES, SCOPE_PREFIX, SCOPES

ALGORITHM: Final = "HS256"
ISSUER: Final = "entrez-kit"
AUDIENCE: Final = "entrez-kit"
REQUIRED_CLAIMS: Final = ("exp", "iss", "aud", "sub")
MIN_SECRET_BYTES: Final = 32
"""HS256 is only as strong as its key; RFC 7518 requires at least the size of the hash."""
MAX_TOKEN: Final = 4_096
MAX_TTL: Final = 366 * 24 * 3600
DEFAULT_SCOPES: Final = tuple(scope for scope in SCOPES if not scope.endswith("corpus.write"))

logger = logging.getLogger("entrez_kit.server.http")

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def read_secret(settings: Settings) -> str:
    """Return the secret that signs tokens.

    Raises:
        NotConfigured: the secret is missing or too short.
    """
    secret = settings.mcp_auth_secret_key.get_secret_value() if settings.mcp_auth_secret_key else ""
    if not secret:
        raise NotConfigured(
            "MCP_AUTH_SECRET_KEY is not set. Over HTTP every caller needs a token signed with it.",
            recovery_hint="Set it to a random string of at least 32 characters, e.g. the output of "
            '`python3 -c "import secrets; print(secrets.token_urlsafe(48))"`; or use --transport stdio.',
            details={"reason": "no_auth_secret"},
        )
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise NotConfigured(
            f"MCP_AUTH_SECRET_KEY must have at least {MIN_SECRET_BYTES} bytes (got {len(secret.encode())}).",
            recovery_hint='Use the output of `python3 -c "import secrets; print(secrets.token_urlsafe(48))"`.',
            details={"reason": "short_auth_secret"},
        )
    return secret


def read_ttl(text: str) -> int:
    """Parse a duration such as ``45s``, ``30m``, ``1h``, ``7d`` or ``1h30m`` to seconds.

    Raises:
        InvalidInput: it is not a duration, or is longer than a year.
    """
    compact = "".join(text.split()).lower()
    parts = re.findall(r"([0-9]{1,9})([smhdw])", compact)
    seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != compact or not 1 <= seconds <= MAX_TTL:
        raise InvalidInput(
            describe_wrong_value("--ttl", "a duration from 1s to 366d", text),
            invalid_input=f"ttl={text}",
            recovery_hint="Write a number and a unit: 30m, 1h, 12h, 7d.",
            details={"reason": "bad_ttl"},
        )
    return seconds


def read_scopes(texts: Iterable[str]) -> tuple[str, ...]:
    """Parse scopes, with or without their prefix, one or several per string; without any, return the defaults.

    Raises:
        InvalidInput: a scope does not exist.
    """
    named = [word for text in texts for word in re.split(r"[\s,]+", text.strip()) if word]
    scopes = [word if word.startswith(SCOPE_PREFIX) else f"{SCOPE_PREFIX}{word}" for word in named]
    for word, scope in zip(named, scopes, strict=True):
        if scope not in SCOPES:
            raise InvalidInput(
                describe_wrong_value("--scope", list_choices(SCOPE_NAMES), word),
                invalid_input=f"scope={word}",
                recovery_hint="Give --scope once for each scope.",
                details={"reason": "unknown_scope"},
            )
    return tuple(scope for scope in SCOPES if scope in scopes) or DEFAULT_SCOPES


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token with its scopes, its subject and its expiry (Unix time)."""

    token: str
    subject: str
    scopes: tuple[str, ...]
    expires_at: int


def issue_token(settings: Settings, *, subject: str, ttl: int, scopes: Iterable[str]) -> IssuedToken:
    """Sign a token.

    Raises:
        InvalidInput: the subject is empty.
        NotConfigured: the secret is missing or too short.
    """
    secret = read_secret(settings)
    import jwt

    name = subject.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise InvalidInput(
            describe_wrong_value("--subject", "1 to 200 characters", subject),
            invalid_input=f"subject={subject[:100]}",
            recovery_hint="Give the name of the token's user, e.g. --subject alice.",
            details={"reason": "invalid_arguments"},
        )
    now = int(time.time())
    allowed = tuple(scopes)
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": name,
        "iat": now,
        "exp": now + ttl,
        "jti": secrets.token_hex(8),
        "scope": " ".join(allowed),
    }
    return IssuedToken(jwt.encode(claims, secret, algorithm=ALGORITHM), name, allowed, now + ttl)


class TokenRefused(Exception):
    """A token that is not accepted. The message has the reason and no part of the token."""


class SignedTokens(TokenVerifier):
    """Verifies tokens that ``issue_token`` signed with a secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the claims of a bearer token.

        Raises:
            TokenRefused: see ``verify_token``; its message gives the reason, which None would not.
        """
        return verify_token(token.strip(), self._secret)


def verify_token(token: str, secret: str) -> AccessToken:
    """Return the claims of a bearer token.

    Raises:
        TokenRefused: this server did not issue the token, or it is no longer valid.
    """
    import jwt

    if len(token) > MAX_TOKEN:
        raise TokenRefused(f"The token has over {MAX_TOKEN} characters.")
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            options={"require": list(REQUIRED_CLAIMS)},
        )
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as exc:
        kind = type(exc).__name__
        logger.info("token refused: %s", kind)
        missing = f"The token lacks the claim {getattr(exc, 'claim', '?')}."
        why = (
            missing
            if kind == "MissingRequiredClaimError"
            else _REFUSALS.get(kind, "This server did not issue this token.")
        )
        raise TokenRefused(why) from None
    subject, expires = claims["sub"], claims["exp"]
    # Tokens of this server expire within a year; others could be valid for ever.
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not expires <= time.time() + MAX_TTL:
        logger.info("token refused: its expiry is not within a year")
        raise TokenRefused("The token's exp is not a time within a year.")
    if not isinstance(subject, str) or not subject.strip():
        raise TokenRefused("The token has no subject.")
    scope_claim = claims.get("scope", claims.get("scp"))  # a string or a list
    words = (
        scope_claim.split() if isinstance(scope_claim, str) else scope_claim if isinstance(scope_claim, list) else []
    )
    return AccessToken(
        token=token,
        client_id=str(claims.get("client_id") or subject),
        scopes=[scope for scope in SCOPES if scope in words],
        expires_at=int(expires),
        subject=subject,
        claims={"iss": claims["iss"]},
    )


_REFUSALS: Final = {
    "ExpiredSignatureError": "The token has expired.",
    "ImmatureSignatureError": "The token is not valid yet.",
    "InvalidAudienceError": f"The token is not for the audience {AUDIENCE}.",
    "InvalidIssuerError": f"The token is not from the issuer {ISSUER}.",
    "InvalidSignatureError": "The token is signed with a different secret.",
    "InvalidAlgorithmError": f"The token is not signed with {ALGORITHM}.",
}
"""By the name of PyJWT's error, whose own message may contain the token."""


def get_allowed_scopes() -> frozenset[str] | None:
    """Return the scopes of the caller of the current message; None (all scopes) without tokens."""
    token = get_access_token()
    return None if token is None else frozenset(token.scopes)
