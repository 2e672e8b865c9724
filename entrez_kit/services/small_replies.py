"""The replies of ESearch, ESpell and EPost, and functions that parse small XML replies safely.

ESearch returns a count, ids, the translation of the query, and NCBI's error and warning entries.
"""

import json
import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from entrez_kit.base.bio_entrez import MAX_RETMAX
from entrez_kit.base.errors import IncompleteReply, UpstreamError
from entrez_kit.base.frontend_text import RETRY_WITHOUT_CACHE, FrontendText, cut_middle, format_count

if TYPE_CHECKING:
    from entrez_kit.services.known_shapes import Shape

MAX_PUBMED_RESULTS: Final = 9_999
"""PubMed's ESearch returns only the first 9,999 records of any search."""
MAX_COUNT: Final = 100_000_000_000
"""More records than any database of Entrez has; SNP, the largest, has some 10^9."""
WEB_ENV: Final = re.compile(r"[\w@.:%+=-]{8,300}", re.ASCII)
"""A WebEnv is one long word; an error message in its place does not match."""


def malformed_error(endpoint: str, problem: str, code: str | None = None) -> UpstreamError:
    """Return the error for an invalid reply of an endpoint.

    Args:
        code: a code of the problem, if there is one.
    """
    details = {"reason": "invalid_response", "endpoint": endpoint, **({"problem": code} if code else {})}
    return UpstreamError(f"The {endpoint} reply is invalid: {problem}.", details=details)


def incomplete_reply_error(endpoint: str, problem: str, content: bytes, value: object) -> IncompleteReply:
    """Return the error for a reply with fewer records than expected.

    Args:
        value: the result of the reader for the content.
    """
    error = IncompleteReply(
        f"The {endpoint} reply is incomplete: {problem}.",
        recovery_hint=FrontendText(RETRY_WITHOUT_CACHE, "."),
        details={"reason": "incomplete", "endpoint": endpoint},
    )
    error.content, error.value = content, value
    return error


def parse_reply(content: bytes, endpoint: str, *roots: str) -> Any:
    """Return the root element of a reply. The parser loads no DTD, no external entity and nothing from the network.

    Args:
        content: the reply.
        endpoint: the endpoint, for the message.
        roots: the allowed names of the root.

    Raises:
        UpstreamError: not well-formed, or another root.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise malformed_error(endpoint, f"not well-formed XML ({type(exc).__name__})") from None
    if root.tag not in roots:
        raise malformed_error(endpoint, f"<{root.tag}> instead of <{roots[0]}>", "other_root")
    return root


def _log_drift(shape: "Callable[[bytes], Shape]", content: bytes) -> None:
    """Log how a reply differs from its known shape; without debug messages the shapes are not imported."""
    if logging.getLogger("entrez_kit.services").isEnabledFor(logging.DEBUG):
        from entrez_kit.services.known_shapes import log_drift

        log_drift(shape, content)


def get_text(element: Any, path: str) -> str | None:
    """Return the stripped text at a path; None if it is missing or empty."""
    text = element.findtext(path)
    return text.strip() or None if text else None


def is_uid(text: str) -> bool:
    """Return whether a text has only digits, as UIDs have."""
    return text.isascii() and text.isdigit()


def read_whole_number(text: str | None) -> int | None:
    """Return a number written in digits; None for any other text."""
    text = (text or "").strip()
    return int(text) if is_uid(text) else None


# ESearch

_WORD: Final = re.compile(r"\w+")
_UID: Final = re.compile(r"[0-9]+")
_ACCESSION: Final = re.compile(r"[\w.:|-]+", re.ASCII)
Fate = Literal["dropped", "kept", "split"]

WARNING_CODES: Final = {
    "phrasenotfound": "phrase_not_found",
    "fieldnotfound": "field_not_found",
    "quotedphrasenotfound": "quoted_phrase_not_found",
    "phraseignored": "phrase_ignored",
    "outputmessage": "output_message",
}
"""The codes of NCBI's ErrorList and WarningList entries. The names are singular; JSON has some in the plural."""

DROPPED: Final = frozenset({"phrase_not_found", "field_not_found", "quoted_phrase_not_found", "phrase_ignored"})
"""Codes of entries about a part of the query that NCBI does not know."""

MESSAGES: Final[dict[tuple[str, Fate], tuple[str, str]]] = {
    ("phrase_not_found", "dropped"): (
        "No record contains the phrase {}; NCBI removed it from the search.",
        "{} phrases are in no record, and NCBI removed them from the search: {}",
    ),
    ("phrase_not_found", "kept"): (
        "No record matches {}.",
        "{} phrases match no record: {}",
    ),
    ("field_not_found", "dropped"): (
        "The search field {} does not exist; NCBI searched without it.",
        "{} search fields do not exist, and NCBI searched without them: {}",
    ),
    ("field_not_found", "kept"): (
        "The search field {} does not exist, but NCBI's translation of the query contains it.",
        "{} search fields do not exist, but NCBI's translation of the query contains them: {}",
    ),
    ("quoted_phrase_not_found", "split"): (
        "The index of phrases does not contain {}; NCBI searched its words instead.",
        "The index of phrases does not contain {} quoted phrases; NCBI searched their words instead: {}",
    ),
    ("quoted_phrase_not_found", "kept"): (
        "No record matches {}.",
        "{} phrases match no record: {}",
    ),
    ("quoted_phrase_not_found", "dropped"): (
        "The index of phrases does not contain {}; NCBI removed it from the search.",
        "The index of phrases does not contain {} quoted phrases; NCBI removed them from the search: {}",
    ),
    ("phrase_ignored", "dropped"): ("NCBI ignored the phrase {}.", "NCBI ignored {} phrases: {}"),
    ("output_message", "dropped"): ("NCBI reports: {}", "NCBI reports {} messages: {}"),
}
"""By code and fate: a sentence about one phrase or field, and one about several."""

NAMED: Final = 5
"""Maximum number of phrases in a message."""
LISTED: Final = 200
"""Maximum number of phrases in the ``terms`` of a message."""


@dataclass(frozen=True, slots=True)
class SearchWarning:
    """One entry of NCBI's ErrorList or WarningList; ``code`` is stable, ``text`` is its phrase or field.

    ``fate`` is derived from NCBI's translation of the query: the text was dropped, kept, or (a quoted phrase) split
    into words.
    """

    code: str
    text: str
    fate: Fate = "dropped"


@dataclass(frozen=True, slots=True)
class WarningMessage:
    """The message about entries of one kind; if it names only some of many phrases, ``terms`` lists them."""

    code: str
    message: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ESearchReply:
    """A parsed reply. With rettype=count only ``count`` is known."""

    count: int
    ids: list[str] = field(default_factory=list)
    retmax: int | None = None
    retstart: int | None = None
    query_translation: str = ""
    web_env: str | None = None
    query_key: str | None = None
    warnings: list[SearchWarning] = field(default_factory=list)
    searched_at: str = ""
    """When NCBI sent the reply: ISO 8601, UTC, to the second."""

    @property
    def warning_messages(self) -> list[WarningMessage]:
        """One message for every kind of entry; "No items found." is omitted because the count shows it.

        Unknown words of an unknown quoted phrase get no separate message.
        """
        kinds: dict[tuple[str, Fate], list[str]] = {}
        quoted = [_pad_words(warning.text) for warning in self.warnings if warning.code == "quoted_phrase_not_found"]
        for warning in self.warnings:
            if warning.code == "phrase_not_found" and any(_pad_words(warning.text) in phrase for phrase in quoted):
                continue
            if warning.code != "output_message" or warning.text.rstrip(".").lower() != "no items found":
                kinds.setdefault((warning.code, warning.fate), []).append(warning.text)
        distinct = {kind: list(dict.fromkeys(texts)) for kind, texts in kinds.items()}
        return [message for kind, texts in distinct.items() for message in _build_messages(kind, texts)]


def _build_messages(kind: tuple[str, Fate], texts: list[str]) -> list[WarningMessage]:
    code, fate = kind
    one, many = MESSAGES[code, fate]
    if code == "output_message":
        return [WarningMessage(code, one.format(text)) for text in texts]
    if len(texts) == 1:
        return [WarningMessage(code, one.format(repr(texts[0])))]
    examples = ", ".join(texts[:NAMED]) + (" ..." if len(texts) > NAMED else ".")
    terms = tuple(texts[:LISTED]) if len(texts) > NAMED else ()
    return [WarningMessage(code, many.format(f"{len(texts):,}", examples), terms)]


def parse_esearch(content: bytes) -> ESearchReply:
    """Parse an ESearch reply in XML or JSON.

    Raises:
        UpstreamError: the reply is not an ESearch result.
    """
    reply = _parse_json(content) if content.lstrip()[:1] == b"{" else _parse_xml(content)
    _log_drift(choose_esearch_shape, content)
    return reply


def check_esearch(
    reply: ESearchReply,
    *,
    retmax: int,
    retstart: int = 0,
    accessions: bool = False,
    history: bool = False,
    among: Collection[str] | None = None,
) -> None:
    """Raise if a reply of any database contradicts itself or the request.

    Args:
        reply: the parsed reply.
        retmax: how many ids were requested.
        retstart: how many results the request skips.
        accessions: whether the request is for accessions instead of UIDs.
        history: whether NCBI must store the result set.
        among: the only ids that can match the query.

    Raises:
        UpstreamError: the reply contradicts itself or the request.
    """
    if reply.count > MAX_COUNT:
        raise malformed_error("esearch", f"the count {cut_middle(str(reply.count), 40)}")
    ids, form = reply.ids, _ACCESSION if accessions else _UID
    wrong = next((uid for uid in ids if not form.fullmatch(uid)), None)
    if wrong is not None:
        raise malformed_error("esearch", f"{wrong[:40]!r} is not an id")
    if len(set(ids)) < len(ids):
        raise malformed_error("esearch", "an id is listed twice")
    if len(ids) > retmax:
        raise malformed_error("esearch", f"{format_count(len(ids), 'id')} instead of at most {retmax:,}")
    if ids and reply.retstart not in (None, retstart):
        raise malformed_error("esearch", f"ids from position {reply.retstart}, but {retstart} was requested")
    if ids and retstart + len(ids) > reply.count:
        page = f"{format_count(len(ids), 'id')} from position {retstart}"
        raise malformed_error("esearch", f"{page} of only {format_count(reply.count, 'result')}")
    if among is not None and (foreign := next((uid for uid in ids if uid not in among), None)):
        raise malformed_error("esearch", f"the id {foreign} does not match the query")
    if history and reply.count and not (reply.web_env and reply.query_key):
        raise malformed_error("esearch", "no WebEnv and query_key for the result set")


def read_search(
    content: bytes,
    *,
    db: str,
    retmax: int,
    retstart: int,
    counts_only: bool,
    accessions: bool,
    history: bool,
) -> ESearchReply:
    """Parse an ESearch reply, which must have all ids of the requested page.

    Args:
        content: the reply.
        db: the database, which limits the number of ids.
        retmax: how many ids were requested.
        retstart: how many results the request skips.
        counts_only: whether the request is for the count without ids.
        accessions: whether the request is for accessions instead of UIDs.
        history: whether NCBI must store the result set.

    Raises:
        UpstreamError: the reply contradicts itself or the request.
        IncompleteReply: the reply lists fewer ids than it counts.
    """
    reply = parse_esearch(content)
    check_esearch(reply, retmax=retmax, retstart=retstart, accessions=accessions, history=history)
    ceiling = MAX_PUBMED_RESULTS - retstart if db == "pubmed" else MAX_RETMAX
    expected_count = min(retmax, ceiling, reply.count - retstart)
    if not counts_only and len(reply.ids) < expected_count:
        raise incomplete_reply_error(
            "esearch", f"{format_count(len(reply.ids), 'id')} instead of {expected_count}", content, reply
        )
    return reply


def choose_esearch_shape(reply: bytes) -> "Shape":
    """Return the known shape of ESearch replies in the format of this one."""
    from entrez_kit.services.known_shapes import JsonShape, XmlShape, is_json, require_texts

    if not is_json(reply):
        return XmlShape("ESearch", "esearch.dtd", required={"eSearchResult": "Count"})
    fields = {
        "header": require_texts("type version"),
        "esearchresult": {
            **require_texts("count retmax retstart querykey webenv querytranslation ERROR"),
            "idlist": [str],
            "translationset": [require_texts("from to")],
            "translationstack": object,
            "errorlist": {"phrasesnotfound": [str], "fieldsnotfound": [str]},
            "warninglist": {"phrasesignored": [str], "quotedphrasesnotfound": [str], "outputmessages": [str]},
        },
    }
    return JsonShape("ESearch", fields, required="esearchresult.count")


def _parse_xml(content: bytes) -> ESearchReply:
    root = parse_reply(content, "esearch", "eSearchResult")
    translation = get_text(root, "QueryTranslation") or ""
    warnings = [
        _build_warning(kind, (entry.text or "").strip(), translation)
        for name in ("ErrorList", "WarningList")
        for entry in root.iterfind(f"{name}/*")
        if (kind := str(entry.tag).lower().removesuffix("s")) in WARNING_CODES and (entry.text or "").strip()
    ]
    return ESearchReply(
        count=_to_integer(root.findtext("Count")),
        ids=[(element.text or "").strip() for element in root.iterfind("IdList/Id")],
        retmax=read_whole_number(root.findtext("RetMax")),
        retstart=read_whole_number(root.findtext("RetStart")),
        query_translation=translation,
        web_env=get_text(root, "WebEnv"),
        query_key=get_text(root, "QueryKey"),
        warnings=warnings,
    )


def _parse_json(content: bytes) -> ESearchReply:
    try:
        result = json.loads(content)["esearchresult"]
        if not isinstance(result, dict):
            raise TypeError("esearchresult is not an object")
    except (ValueError, KeyError, TypeError) as exc:
        raise malformed_error("esearch", f"not an ESearch document ({type(exc).__name__})") from None
    translation = str(result.get("querytranslation") or "")
    warnings = []
    for name in ("errorlist", "warninglist"):
        lists = result.get(name)
        for key, entries in (lists if isinstance(lists, dict) else {}).items():
            kind = key.lower()
            for plural, single in (("phrases", "phrase"), ("fields", "field"), ("messages", "message")):
                kind = kind.replace(plural, single)  # phrasesnotfound in JSON is phrasenotfound in XML
            if kind in WARNING_CODES:
                warnings += [_build_warning(kind, text, translation) for text in _to_texts(entries)]
    return ESearchReply(
        count=_to_integer(result.get("count")),
        ids=_to_texts(result.get("idlist")),
        retmax=read_whole_number(str(result.get("retmax"))),
        retstart=read_whole_number(str(result.get("retstart"))),
        query_translation=translation,
        web_env=result.get("webenv") or None,
        query_key=str(result["querykey"]) if result.get("querykey") else None,
        warnings=warnings,
    )


def _build_warning(kind: str, text: str, translation: str) -> SearchWarning:
    """Return an entry with the fate of its phrase or field, so that its message agrees with the translation."""
    code = WARNING_CODES[kind]
    if code == "field_not_found":
        is_kept = f"[{text}]".casefold() in translation.casefold() and not _is_as_sent(translation)
        return SearchWarning(code, text, "kept" if is_kept else "dropped")
    if code not in ("phrase_not_found", "quoted_phrase_not_found"):
        return SearchWarning(code, text)
    searched, phrase = _pad_words(translation), _pad_words(text.partition("[")[0])
    without = searched.replace(phrase, " ")
    if code == "quoted_phrase_not_found" and all(f" {word} " in without for word in phrase.split()):
        return SearchWarning(code, text, "split")
    if code == "phrase_not_found" and without != searched and _is_as_sent(translation):
        return SearchWarning(code, text)
    return SearchWarning(code, text, "kept" if without != searched else "dropped")


@lru_cache(maxsize=4)  # a reply may have thousands of phrases and one translation
def _is_as_sent(translation: str) -> bool:
    """Return whether a translation is the query as it was sent, which shows no fate: a translated term has a field.

    PubMed returns the query as it was sent if it drops an unknown word.
    """
    from entrez_kit.query.parser import fold_tree, parse

    as_sent: list[bool] = []
    fold_tree(
        parse(translation).root,
        lambda operand: as_sent.append(operand.tag is None and not operand.is_history),
        lambda parts, is_inner: None,
    )
    return any(as_sent)


@lru_cache(maxsize=4)
def _pad_words(text: str) -> str:
    """Return the words of a text with spaces around each, so that a search finds whole words only."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _to_texts(value: Any) -> list[str]:
    """Return a list of texts; NCBI collapses a list of one to a scalar."""
    if value is None or value == "":
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _to_integer(value: Any) -> int:
    number = read_whole_number(str(value))
    if number is None:
        raise malformed_error("esearch", f"the count {value!r} is not a number")
    return number


# ECitMatch, ESpell and EPost


def check_citations(content: bytes, bdata: str) -> bytes:
    """Return a reply of ECitMatch, which must have a line for each citation of a request.

    Raises:
        UpstreamError: its last line is cut.
        IncompleteReply: it has fewer lines.
    """
    if not content.endswith((b"\n", b"\r")):
        raise malformed_error("ecitmatch", "the last line is truncated", "truncated")
    received, requested = len(content.split(b"\n")) - 1, len([line for line in bdata.splitlines() if line.strip()])
    if received < requested:
        problem = f"{format_count(received, 'line')} for {format_count(requested, 'citation')}"
        raise incomplete_reply_error("ecitmatch", problem, content, content)
    return content


@dataclass(frozen=True, slots=True)
class ESpellReply:
    """The query and NCBI's correction of it; ``corrected`` is empty if NCBI has no suggestion."""

    query: str
    corrected: str


def parse_espell(content: bytes) -> ESpellReply:
    """Parse an ESpell reply.

    Raises:
        UpstreamError: the reply is not an ESpell result.
    """
    root = parse_reply(content, "espell", "eSpellResult")
    _log_drift(choose_espell_shape, content)
    return ESpellReply(query=get_text(root, "Query") or "", corrected=get_text(root, "CorrectedQuery") or "")


def choose_espell_shape(_: bytes = b"") -> "Shape":
    """Return the known shape of ESpell replies."""
    from entrez_kit.services.known_shapes import XmlShape

    return XmlShape("ESpell", "eSpell.dtd", required={"eSpellResult": "Query CorrectedQuery"})


@dataclass(frozen=True, slots=True)
class EPostReply:
    """The set of ids on the history server; it does not contain ``invalid_ids``."""

    web_env: str
    query_key: int
    invalid_ids: list[str] = field(default_factory=list)


def parse_epost(content: bytes) -> EPostReply:
    """Parse an EPost reply.

    Raises:
        UpstreamError: the reply is not an EPost result, or its query key or WebEnv is invalid.
    """
    root = parse_reply(content, "epost", "ePostResult")
    _log_drift(choose_epost_shape, content)
    key = read_whole_number(root.findtext("QueryKey"))
    environment = get_text(root, "WebEnv") or ""
    if not key:
        raise malformed_error("epost", "no valid query key")
    if not WEB_ENV.fullmatch(environment):
        raise malformed_error("epost", "no valid WebEnv")
    invalid = [text for element in root.iterfind("InvalidIdList/Id") if (text := (element.text or "").strip())]
    return EPostReply(environment, key, invalid)


def choose_epost_shape(_: bytes = b"") -> "Shape":
    """Return the known shape of EPost replies."""
    from entrez_kit.services.known_shapes import XmlShape

    return XmlShape("EPost", "epost.dtd", required={"ePostResult": "QueryKey WebEnv"})
