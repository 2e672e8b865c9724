"""Detect sentences that deny or question a quotation: "it is not known whether …", "… was not confirmed".

The rules match words, not meaning. A negation, a question word or an expression of doubt before the quotation has an
effect until a mark or a conjunction begins another clause. Words inside the quotation have no effect.
"""

import re
from collections.abc import Sequence
from typing import Final

from entrez_kit.references.claims.passages import FoldedText, Passage

_NOT: Final = r"(?:not|never|no longer|\w{1,9}n't|cannot)"
_BE: Final = (
    r"(?:is|are|was|were|be|been|being|has|have|had|do|does|did|can|could|may|might|will|would|should|must|need)"
)
_VERB: Final = (
    rf"(?:{_BE}|[a-z]{{3,}}(?:ed)|rose|fell|grew|became|shown?|found|began|came|went|led|made|gave|kept|lost|took|held"
    r"|shows|suggests|increases|decreases|reduces|improves|causes|leads|remains|requires|contains|provides|affects"
    r"|occurs|moves|depends|explains|predicts|protects|raises|lowers|prevents|plays|acts|makes|gives|takes|works)"
)
_FINDS: Final = (
    r"(?:f[io]u?nds?|show(?:s|ed|n)?|saw|see|observed?s?|conclude[sd]?|confirm(?:s|ed)?|demonstrate[sd]?|report(?:s|ed)?"
    r"|note[sd]?|suggest(?:s|ed)?|indicate[sd]?|reveal(?:s|ed)?|establish(?:ed)?|learned|argue[sd]?|state[sd]?)"
)
_STATEMENT: Final = r"(?:that|whether|if|how|why|what)"

_DOUBTS: Final = (
    # Questions and conditions
    r"whether(?: or not)?",
    r"(?:only |even |as )?if(?! any\b| anything\b| so\b| possible\b| necessary\b| needed\b)",
    r"unless",
    r"(?:provided|in case|on condition) that",
    rf"(?:ask|asks|asked|wonder\w*|question(?:s|ed)?|unsure|undecided) {_STATEMENT}",
    # Guesses
    r"hypothes[ie]s(?: \w+){0,4}:",
    r"(?:null )?(?:hypothes|speculat|conjectur|assum|presum|suppos|postulat)\w*(?: was| is)?"
    rf"(?=,? {_STATEMENT}\b| of\b| $)",
    r"(?:possibility|suspicion|suspect(?:s|ed)?|belief|notion|myth|misconception|fallacy|rumou?r|fears?)"
    rf"(?= {_STATEMENT}| of)",
    r"(?:once|previously|formerly|long|widely|commonly|often|wrongly|falsely|mistakenly|erroneously|incorrectly)"
    r" (?:thought|believed|held|assumed|claimed|reported|concluded|said|stated|considered)",
    # Insufficient evidence
    r"(?:conflicting|contradictory|contrary|inconsistent|inconclusive|insufficient|limited|little|scant|scarce|sparse"
    r"|weak|equivocal|mixed|poor|lacking|missing|anecdotal)(?: \w+)? (?:evidence|data|results|reports|findings|support"
    r"|proof)",
    r"(?:evidence|data|results|reports|findings|proof|support)(?: \w+)? (?:is|are|was|were|remains?)(?: \w+)?"
    r" (?:conflicting|contradictory|inconsistent|inconclusive|insufficient|limited|scant|scarce|sparse|weak|equivocal"
    r"|mixed|poor|lacking|missing)",
    r"(?:evidence|arguments?|data) against",
    r"(?:remains?|yet) to be \w+",
    # Judgments
    r"(?:un(?:clear|certain|known|determined|proven|proved|resolved|likely|true|founded|settled)|doubtful|questionable"
    r"|debat(?:ed|able)|controversial|disputed|contested|implausible|improbable|impossible|false|incorrect|wrong"
    r"|mistaken|erroneous|absurd)(?: to (?:\w+ ?){1,3}?| as to|,? (?:at present|so far|today|yet),?)?"
    rf"(?=,? {_STATEMENT}\b| (?:to )?$)",
    r"(?:hard|difficult|early|premature|naive|too \w+|little) to \w+",
    rf"(?:debate|controversy|disagreement|uncertainty|question)(?: \w+){{0,2}}?(?= {_STATEMENT}\b)",
    r"contrary to(?: \w+){0,5} (?:that|of)",
    # Verbs that deny
    rf"(?:den(?:y|ies|ied)|disprov\w+|refut\w+|reject(?:s|ed|ing)?|disput(?:e[sd]?|ing)"
    r"|(?<!no )(?<!not )(?<!without )doubt(?:s|ed|ing)?"
    rf"|contradict(?:s|ed|ing)?|challeng(?:e[sd]?|ing)|dismiss(?:es|ed|ing)?|rul(?:e[sd]?|ing) out|retract(?:s|ed|ing)?"
    rf"|withdr(?:aw|ew|awn)|debunk\w*)(?: (?!{_STATEMENT})\w+){{0,6}}(?: {_STATEMENT}(?: of)?\b| of$|$)",
)
_DENIALS: Final = (
    r"no(?! (?:doubt|sooner|matter|less|fewer|wonder)\b|\. ?[0-9])",
    r"not(?! (?:only|merely|just|simply|solely|surprisingly|unexpectedly|uncommonly|infrequently|to mention)\b)",
    r"\w+n't(?! only\b| just\b)",
    r"cannot",
    r"never",
    r"neither",
    r"nor",
    r"none",
    r"nobody",
    r"nothing",
    r"nowhere",
    r"hardly",
    r"scarcely",
    r"rarely",
    r"seldom",
    r"barely",
    r"(?<!\ba )few(?! \w+ (?:days|weeks|months|years|hours|minutes)\b| (?:days|weeks|months|years|hours|minutes)\b)",
    r"fail(?:s|ed|ing|ure)? to",
    r"unable to",
    r"inability to",
    r"far from",
)
_MODIFIERS: Final = (
    r"without(?! (?:a )?doubt\b)",
    r"with no",
    r"lack(?:s|ed|ing)?(?: of)?",
    r"absence of",
    r"absent",
    r"rather than",
    r"instead of",
    r"other than",
    r"except(?: for)?",
    r"excluding",
)
"""Denials of a noun. They have no effect on the verb after it."""


_CUES: Final = re.compile(
    rf"(?<![\w'-])(?:(?P<doubt>{'|'.join(_DOUBTS)})|(?P<modifier>{'|'.join(_MODIFIERS)})"
    rf"|(?P<denial>{'|'.join(_DENIALS)}))(?![\w'])"
)
_INSERTIONS: Final = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|[—–][^—–;:]*[—–]"
    r"|,\s(?:which|who|whose|where|whom|(?:but|though|although|and|if)?\s?not|none of|few of)\b[^,;:]*,"
)
"""Closed insertions, which have no effect beyond their end."""
_ASIDE: Final = re.compile(
    r",\s(?:however|nevertheless|therefore|moreover|indeed|in fact|of course|though|thus),(?=\s*(?:that|whether|$))"
)
"""A word between commas inside a clause."""
_TURN: Final = re.compile(
    r"[;(\[—]|:\s|\s[–-]{1,2}\s"
    r"|,?\s(?:but|whereas|while|yet|although|though|however|nevertheless|nonetheless|because)\b"
    rf"(?! {_STATEMENT}\b| of\b)"
    rf"|\b(?:and|then|thus|so|or)\s(?:(?:we|they|it|he|she|this|others|instead|also|therefore)\s){{0,2}}{_FINDS}\b"
    r"(?= that\b| *$)"
    r"|,\s(?:thus |thereby |therefore )?(?:indicat|suggest|show|imply|mean|demonstrat|confirm|reveal|prov)ing\b"
)
"""A mark or a conjunction that begins another clause in any case."""
_STATES: Final = re.compile(rf"\b{_STATEMENT}\b")
_CONTINUES: Final = re.compile(rf",\s(?:(?:or|nor)\b|(?:and |or )?{_STATEMENT}\b)[^,]*$")
"""A list that continues after a comma."""
_INSERTION: Final = re.compile(rf"(^|\b{_STATEMENT}),\s[^,]*,")
"""An insertion directly after the cue."""
_AND: Final = re.compile(r",\s(?:and|so)\s[^,]*$")
_BARE_AND: Final = re.compile(
    r"(?P<passive>^\s(?:\w+ly\s)?(?:\w+ed|seen|found|shown|known|done|given|taken)\b)?.*\s(?:and|so)\s+$"
)
_OPENER: Final = re.compile(
    r"\W*(?:(?P<clause>although|though|while|whereas|when|whenever|because|since|even|once|where|until)"
    r"|as|given|despite|after|before|to|in|regardless|irrespective|unlike|contrary|if|unless|whether|with|without|for|by"
    r"|on|of|at|under|rather|instead|during|among|from|apart|except|having|not|testing|asking|asked|excluding|lacking"
    r"|absent)\b"
)
"""A word that begins a clause or a phrase before the main clause."""
_VERB_FIRST: Final = re.compile(rf"\W*(?:(?:also|then|only|\w+ly)\s)?{_VERB}\b")
_HAS_VERB: Final = re.compile(rf"\b{_VERB}\b")

_DENIED: Final = re.compile(
    r"[\"”»)\]]{0,4}(?:,?\s(?:however|though|therefore|in fact|indeed),?)?\s{0,3}(?:"
    rf"{_BE}(?:\s(?:also|thus|therefore|still|yet|however|clearly|probably|simply|itself))?"
    r"\s(?:not|never|no longer|hardly|rarely|seldom)\b(?! (?:only|just|merely)\b)"
    r"|\w{1,9}n't\b|cannot\b|never\b|fail(?:s|ed)\b|in (?:no|none|neither)\b|by (?:no|none|neither)\b|nowhere\b"
    r"|remains?\s(?:\w{1,20}ly\s)?(?:un\w{1,20}|controversial|debat\w+|doubtful|questionable|to be|a matter|an open"
    r"|in doubt|open)\b"
    r"|(?:is|are|was|were|(?:has|have|had) been|seems?|appears?|proved|turned out)\s"
    r"(?:to be\s|\w{1,20}ly\s|now\s|only\s|an?\s|later\s){0,2}"
    r"(?:un(?:clear|certain|known|determined|proven|proved|resolved|likely|true|founded|settled|supported|confirmed"
    r"|tested)|false|wrong|incorrect|mistaken|erroneous|refuted|rejected|disproved|disproven|disputed|denied|doubted"
    r"|doubtful|questioned|questionable|controversial|contradicted|retracted|withdrawn|implausible|improbable"
    r"|impossible|debated|challenged|contested|ruled out|debunked|myth|misconception|fallacy|hypothes[ie]s"
    r"|hypothesi[sz]ed|speculation|speculative|conjecture|artefact|artifact|lacking|absent|missing)\b)"
)
"""A predicate after a quotation that denies or questions it."""
_SUBJECT: Final = (
    r"(?:which|(?:but |although |though |yet |and |however,? )?(?:this|that|it|these|none of this)"
    r"|(?:an?|this|that|the) (?:claim|finding|result|observation|effect|conclusion|statement|hypothesis|assumption"
    r"|notion|idea|report))"
)
_DENIED_LATER: Final = re.compile(
    rf"[\"”»)\]]{{0,4}}\s{{0,3}}(?:[,;–—-]{{1,2}}|\()?\s{{0,3}}(?:{_SUBJECT}\b[^,;]{{0,60}}?\b|(?<=\())"
    rf"(?:{_NOT}|fail(?:s|ed) to be|remains? to be|yet to be)\b[^,;]{{0,30}}?\b(?:confirm|replicat|reproduc|support"
    r"|substantiat|corroborat|verif|borne?\b|hold|upheld|establish|prove|true|correct|the case|shown|demonstrat)"
)
"""A clause about the whole statement that denies it: ", which was not confirmed"."""
_EVIDENCE: Final = re.compile(r"\b(?:evidence|data|support|proof|case|arguments?|reports?)\b[^,;:]*$")
_WEAK: Final = re.compile(
    r"\s{0,3}(?:is|are|was|were|remains?)\s(?:\w{1,20}ly\s|too\s|only\s)?(?:weak|thin|poor|scarce|scant|sparse|limited|mixed"
    r"|conflicting|contradictory|inconsistent|inconclusive|insufficient|equivocal|anecdotal)\b"
)
"""A judgment about the evidence for the quotation: "the evidence that … is weak"."""


def find_denial(text: FoldedText, spans: Sequence[Passage], *, is_question: bool = False) -> str | None:
    """Return the words of the paper that deny or question a quotation; None without such words.

    Args:
        text: the text of the paper.
        spans: the quotation: one passage, or several that an ellipsis joins.
        is_question: whether the quotation is a question itself.
    """
    for number, span in enumerate(spans):
        begin = text.find_sentence(span).start
        found = _find_denial_before(text.text, begin, span, spans[:number])
        if found is None and number and _is_in_other_clause(text.text, begin, spans[number - 1], span):
            found = Passage(spans[number - 1].end, span.start)
        if found is not None:
            return _quote(text.text, found)
    found = _find_denial_after(text.text, text.find_sentence(spans[-1]), spans[-1], is_question=is_question)
    return _quote(text.text, found) if found is not None else None


def _quote(text: str, found: Passage) -> str:
    return " ".join(text[found.start : found.end].split()).strip(" ,;:")


def _read_plain(text: str, start: int, end: int) -> str:
    """Return a part of a text in lower case, with plain apostrophes and blanks, and with the same offsets."""
    part = text[start:end].replace("’", "'")
    lower = part.lower()
    return re.sub(r"\s", " ", lower if len(lower) == len(part) else part)


def _find_denial_before(text: str, begin: int, span: Passage, quoted: Sequence[Passage]) -> Passage | None:
    """Return the words before a quotation, from the last cue that has an effect on it."""
    before = _INSERTIONS.sub(lambda match: " " * len(match[0]), _read_plain(text, begin, span.start))
    quote = _read_plain(text, span.start, span.end)
    for cue in reversed(list(_CUES.finditer(before))):
        is_quoted = any(passage.start <= begin + cue.start() < passage.end for passage in quoted)
        if not is_quoted and _reaches(cue, before, quote):
            return Passage(begin + cue.start(), span.start)
    return None


def _reaches(cue: re.Match[str], before: str, quote: str) -> bool:
    """Return true if a cue denies or questions the quotation, false if it belongs to another clause."""
    starts_with_verb = _VERB_FIRST.match(quote) is not None
    between = before[cue.end() :]
    if starts_with_verb or _STATES.search(between):
        between = _ASIDE.sub("", between)
    turn = _TURN.search(between)
    if turn is not None and not (turn.start() <= 1 and "because" in turn[0]):  # "not because …" denies the reason
        return False
    is_statement = cue["doubt"] is not None or _STATES.search(between) is not None
    between = _INSERTION.sub(r"\1", between)
    if "," not in between:
        if cue["modifier"] is not None and between.strip() and starts_with_verb:
            return False
        joined = _BARE_AND.match(between) if between.strip() not in ("and", "so") else None
        is_clause = joined is not None and bool(joined["passive"] or _HAS_VERB.search(quote)) and not starts_with_verb
        return is_statement or not is_clause
    if _CONTINUES.search(between):
        return True
    if cue["modifier"] is not None:
        return False
    if _AND.search(between):
        is_list = between.count(",") > 1 and not _HAS_VERB.search(quote)
        return is_list and not is_statement
    if is_statement:
        opener = _OPENER.match(before)
        return opener is None or (opener["clause"] is None and "," in before[opener.end() : cue.start()])
    return starts_with_verb


def _is_in_other_clause(text: str, begin: int, before: Passage, span: Passage) -> bool:
    """Return true if the omitted words begin another clause, so that the quotation joins two clauses."""
    omitted = _read_plain(text, max(begin, before.end), span.start)
    turns = list(_TURN.finditer(omitted))
    rest = omitted[turns[-1].end() :] if turns else omitted
    has_turn = bool(turns) or begin > before.end
    return has_turn and bool(rest.strip()) and not re.search(r"(?:,|:|\bthat)\s*$", rest)


def _find_denial_after(text: str, sentence: Passage, span: Passage, *, is_question: bool) -> Passage | None:
    """Return the words after a quotation, up to the end of the words that deny it."""
    before, after = _read_plain(text, sentence.start, span.start), _read_plain(text, span.end, sentence.end)
    patterns = [_DENIED, _DENIED_LATER, *([_WEAK] if _EVIDENCE.search(before) else [])]
    if match := next(filter(None, (pattern.match(after) for pattern in patterns)), None):
        return Passage(span.end, span.end + match.end())
    if not is_question and after.rstrip("\"'”’»)] ").endswith("?") and not _TURN.search(after):
        return Passage(span.end, sentence.end)
    return None
