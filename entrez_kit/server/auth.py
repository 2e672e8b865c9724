"""Bearer tokens: HS256, signed with MCP_AUTH_SECRET_KEY, with an end, an audience and scopes."""

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
from entrez_kit.base.settings import Settings
from entrez_kit.server.tool_definitions import SCOPE_PREFIX
from entrez_kit.server.tools import SCOPES

ALGORITHM: Final = "HS256"
ISSUER: Final = "entrez-kit"
AUDIENCE: Final = "entrez-kit"
REQUIRED_CLAIMS: Final = ("exp", "iss", "aud", "sub")
MIN_SECRET_BYTES: Final = 32
"""HS256 is no stronger than its key; RFC 7518 asks for as many bytes as the hash has."""
MAX_TOKEN: Final = 4_096
MAX_TTL: Final = 366 * 24 * 3600
DEFAULT_SCOPES: Final = tuple(scope for scope in SCOPES if not scope.endswith("corpus.write"))

logger = logging.getLogger("entrez_kit.server.http")

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def secret_of(settings: Settings) -> str:
    """Return the secret that signs tokens.

    Raises:
        NotConfigured: there is none, or it is too short to be one.
    """
    secret = settings.mcp_auth_secret_key.get_secret_value() if settings.mcp_auth_secret_key else ""
    if not secret:
        raise NotConfigured(
            "MCP_AUTH_SECRET_KEY is not set; over HTTP every caller must bring a token signed with it.",
            recovery_hint="Set it to a random text of at least 32 characters, e.g. the output of "
            '`python3 -c "import secrets; print(secrets.token_urlsafe(48))"`; or use --transport stdio.',
            details={"reason": "no_auth_secret"},
        )
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise NotConfigured(
            f"MCP_AUTH_SECRET_KEY has {len(secret.encode())} bytes; at least {MIN_SECRET_BYTES} are needed.",
            recovery_hint='Use the output of `python3 -c "import secrets; print(secrets.token_urlsafe(48))"`.',
            details={"reason": "short_auth_secret"},
        )
    return secret


def read_ttl(text: str) -> int:
    """Return the seconds in a duration such as ``45s``, ``30m``, ``1h``, ``7d`` or ``1h30m``.

    Raises:
        InvalidInput: it is none, or longer than a year.
    """
    compact = "".join(text.split()).lower()
    parts = re.findall(r"([0-9]{1,9})([smhdw])", compact)
    seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != compact or not 1 <= seconds <= MAX_TTL:
        raise InvalidInput(
            f"--ttl {text!r} is no time from 1s to 366d.",
            invalid_input=f"ttl={text}",
            recovery_hint="Write a number and a unit: 30m, 1h, 12h, 7d.",
            details={"reason": "bad_ttl"},
        )
    return seconds


def read_scopes(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes named, with or without their prefix, one or several to a text; the default ones for none.

    Raises:
        InvalidInput: one of them does not exist.
    """
    named = [word for text in texts for word in re.split(r"[\s,]+", text.strip()) if word]
    scopes = [word if word.startswith(SCOPE_PREFIX) else f"{SCOPE_PREFIX}{word}" for word in named]
    for word, scope in zip(named, scopes, strict=True):
        if scope not in SCOPES:
            raise InvalidInput(
                f"There is no scope {word!r}.",
                invalid_input=f"scope={word}",
                recovery_hint=f"Choose from {', '.join(SCOPES)}.",
                details={"reason": "unknown_scope"},
            )
    return tuple(scope for scope in SCOPES if scope in scopes) or DEFAULT_SCOPES


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and what it allows, to whom, until when (seconds since 1970)."""

    token: str
    subject: str
    scopes: tuple[str, ...]
    expires_at: int


def issue_token(settings: Settings, *, subject: str, ttl: int, scopes: Iterable[str]) -> IssuedToken:
    """Sign a token.

    Raises:
        InvalidInput: the subject is empty.
        NotConfigured: there is no secret to sign it with.
    """
    secret = secret_of(settings)
    import jwt

    name = subject.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise InvalidInput(
            "--subject must say in up to 200 characters whom the token is for.",
            invalid_input=f"subject={subject[:100]}",
            recovery_hint="Give a name for whoever will use it, e.g. --subject alice.",
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
    """A token that is not accepted. The text says why and contains nothing of the token."""


class SignedTokens(TokenVerifier):
    """Verifies tokens that ``issue_token`` signed with a secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a bearer token allows.

        Raises:
            TokenRefused: as ``verify_token`` says. The caller learns why, which None would not tell.
        """
        return verify_token(token.strip(), self._secret)


def verify_token(token: str, secret: str) -> AccessToken:
    """Return what a bearer token allows.

    Raises:
        TokenRefused: it is none of ours, or no longer good.
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
        lacking = f"The token lacks the claim {getattr(exc, 'claim', '?')}."
        why = lacking if kind == "MissingRequiredClaimError" else _REFUSALS.get(kind, "This is no token of ours.")
        raise TokenRefused(why) from None
    subject, expires = claims["sub"], claims["exp"]
    # A token we issue ends within a year; one without a real end would never stop opening the door.
    if isinstance(expires, bool) or not isinstance(expires, int | float) or not expires <= time.time() + MAX_TTL:
        logger.info("token refused: its end is no time within a year")
        raise TokenRefused("The token's exp is no time within a year.")
    if not isinstance(subject, str) or not subject.strip():
        raise TokenRefused("The token names no subject.")
    named = claims.get("scope", claims.get("scp"))  # as one text or as a list
    words = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
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
    "InvalidAudienceError": f"The token is for another audience than {AUDIENCE}.",
    "InvalidIssuerError": f"The token is from another issuer than {ISSUER}.",
    "InvalidSignatureError": "The token is signed with another secret.",
    "InvalidAlgorithmError": f"The token is not signed with {ALGORITHM}.",
}
"""By the name of PyJWT's error, whose own words may quote the token."""


def allowed_scopes() -> frozenset[str] | None:
    """Return what the caller of the running message may do; None, which is everything, where no token is involved."""
    token = get_access_token()
    return None if token is None else frozenset(token.scopes)
