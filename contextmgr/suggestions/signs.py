"""The signs by which a standing instruction is told from a request of the moment, with their weights.

The weights were set by hand from what the words mean, in whole and half steps, not fitted: the labelled examples are
far too few for that.  English is covered most; German, French and Spanish by their explicit phrases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from contextmgr.pins import PinKind
from contextmgr.suggestions.sentences import Unit


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign: what it is called, its weight, and the pattern; ``of`` says which part of a unit it looks at."""

    reason: str
    weight: float
    pattern: str
    of: Literal["text", "heading"] = "text"

    def found(self, unit: Unit) -> bool:
        """Whether the unit shows it."""
        return _compiled(self.pattern).search(unit.heading if self.of == "heading" else unit.text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_CLAUSE = r"(?i:(?:^|[,;:(–—!.]\s*|\b(?:and|but|or|so|please|pls|also|then|just|ok|yes|no|to)[, ]+))"
_MUST = r"(?:must|shall|has to|have to|needs? to|may (?:not|only)|(?:can|may) never|cannot|can't|can not)"
_PRONOUN = r"(?:it|this|that|these|those|them|him|her|me|us|anything|anyth|so|bother|worry|forget|think|know|get|see|understand|have|believe|care|remember|mind|feel|seem|want|need|like)\b"
_NEGATED = r"(?:don['’]?t|do not|dont|never)"

SIGNS: tuple[Sign, ...] = (
    Sign(
        "from now on",
        3.5,
        r"(?i)\b(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|moving forward|henceforth|hereafter"
        r"|in (?:the )?future,|for the rest of (?:this|the|our)|for the remainder of|until (?:i|we) (?:say|tell|lift|agree)"
        r"|unless (?:i|we|the user) (?:explicitly |specifically )?(?:say|ask|tell|approve|request|agree)s?)\b",
    ),
    Sign(
        "no exceptions",
        3.5,
        r"(?i)(?:\bnon[- ]?negotiable|\bno exceptions?\b|\bwithout exception|\bunder no circumstances|\bat all times\b"
        r"|\b(?:hard|strict|golden|absolute|standing|house|general|fixed) (?:rule|requirement|constraint|limit)s?\b"
        r"|\bas a (?:general )?(?:rule|convention|policy)\b|\bby convention\b)",
    ),
    Sign(
        "says what is policy",
        2.5,
        r"(?i)\b(?:our|the|my|company|team|house) (?:overriding |general |coding |naming |overall )?"
        r"(?:policy|convention|standard|style guide|directive|principle|rule)s? (?:is|are|says?|requires?|forbids?)\b",
    ),
    Sign(
        "always or never do",
        2.8,
        _CLAUSE
        + r"(?i:(?:always|never)(?: ever| again)?) (?!(?i:mind|seems?|had|happen|the\b|a\b))(?i:[a-z]{2,})(?<!ed)",
    ),
    Sign("must always or never", 2.8, r"(?i)\b(?:must|should|shall|may|can|to|you|will) (?:always|never|under no)\b"),
    Sign(
        "all of a kind must",
        2.8,
        r"(?i)\b(?:all|every|each|any|no|both) [^.?!,;]{2,70}?\b(?:" + _MUST + r"|must|are to|is to)\b",
    ),
    Sign(
        "all of a kind should", 2.2, r"(?i)\b(?:all|every|each|any|no) [^.?!,;]{2,70}?\b(?:should|needs?|requires?)\b"
    ),
    Sign("must", 2.2, r"(?i)\bmust(?: not|n't)? (?!have\b|be (?:a|an|the|some|something|because|due)\b|'ve)[a-z]+"),
    Sign(
        "is required or forbidden",
        2.2,
        r"(?i)\b(?:is|are) (?:strictly |absolutely )?(?:required|mandatory|forbidden|prohibited|not allowed|not permitted|off[- ]limits|out of scope)\b",
    ),
    Sign(
        "forbids",
        2.1,
        _CLAUSE
        + r"(?i:"
        + _NEGATED
        + r") (?!"
        + _PRONOUN
        + r")(?i:[a-z]{2,}) (?!(?i:it|this|that|them|these|those)(?:\s*(?:[.,;!?]|$|yet|now|and|but|let)))",
    ),
    Sign(
        "forbids",
        2.1,
        _CLAUSE
        + r"(?i:no) (?i:(?:more )?[a-z][\w-]+(?: [a-z][\w-]+)?(?:s|ing|ion|ity))\s*(?:!|\.?$|[,;] (?:use|only|just|but))",
    ),
    Sign(
        "avoid",
        2.2,
        _CLAUSE
        + r"(?i:avoid|refrain from|steer clear of|stay away from|stop) (?i:[a-z]+ing|any|all|using|the use|our)\b",
    ),
    Sign(
        "prefers",
        2.5,
        r"(?i)\b(?:i(?:'d|’d| would| do|) (?:always |generally |usually |really |strongly |much )?prefer(?:red)?|my preference is|i(?:'d| would) rather (?:you|we|have|not))\b(?! if\b)",
    ),
    Sign(
        "habit or dislike of the user",
        2.3,
        r"(?i)\bi (?:always|never|only|generally|usually|typically|don['’]?t|do not) (?:ever )?(?:want|like|use|eat|drink|work|take|accept|allow|tolerate|buy|fly|travel)(?:e?d)?\b(?! to (?:know|understand|see|make sure)| it\b| that\b| this\b)",
    ),
    Sign(
        "wants all of a kind",
        2.3,
        r"(?i)\bi (?:want|need|expect|would like|'d like) (?:you to (?:always|never|only)|all|every|each|everything|any)\b",
    ),
    Sign(
        "keeps something",
        2.3,
        r"(?i)\b(?:keep|maintain|preserve|retain|ensure|guarantee|stay|remain)\b[^.?!]{0,40}\b(?:compatib\w*|compliant|invariants?|in sync|aligned|consistent\w*|reproducible|deterministic|intact|unchanged)",
    ),
    Sign(
        "leaves something out for good",
        2.0,
        r"(?i)\b(?:we|i) (?:don['’]?t|do not|dont|no longer|won['’]?t) (?:need|want|support|care about|use|have to support) (?!to\b|it\b|that\b|this\b|any of|you\b|more\b)[a-z]",
    ),
    Sign(
        "keeps to something",
        1.8,
        _CLAUSE
        + r"(?i:stick (?:to|with)|adhere to|follow|comply with|conform to|respect|honou?r|obey|limit yourself to|restrict yourself to) (?!(?i:it|this|that|up)\b)",
    ),
    Sign(
        "names or format",
        1.8,
        r"(?i)\b(?:call (?:ours|them all|it) |name (?:them|all|every|each)|write all|format (?:all|every|each|dates|numbers)|use\b[^.?!]{2,60}\b(?:instead of|rather than|not|everywhere|throughout|consistently|only|no|for all|for every|in all|in every|to be consistent))\b",
    ),
    Sign(
        "gives a role",
        2.6,
        r"(?i)^(?:you are (?:the|a|an|my|our) |your (?:role|job) is |act as (?:the|a|an|my) |you (?:must|may only|may not|will only|will never|should (?:always|never|only)|are (?:not )?allowed))",
    ),
    Sign(
        "only",
        1.6,
        r"(?i)(?:^|[,;:] )(?:only|exclusively|[a-z]+ only[.!]|use only|only (?:use|ever|touch|change|edit|write))\b",
    ),
    Sign(
        "to be remembered",
        2.2,
        r"(?i)(?:^|[,;:.] )(?:please )?(?:remember (?:to|that|this)|make (?:it )?a (?:habit|rule)|keep (?:this |it )?in mind (?:to|at all)|take note)\b",
    ),
    Sign(
        "every time",
        1.8,
        r"(?i)\b(?:every ?time|each time|whenever|any ?time|when(?:ever)? (?:i|you|we) (?:ask|write|add|create|change|commit|make|answer|respond|reply|suggest|generate|give|show|describe|discuss))\b",
    ),
    Sign(
        "everywhere",
        1.2,
        r"(?i)\b(?:everywhere|throughout|across (?:all|the (?:whole|entire))|in all (?:of )?(?:the|our|my)|for all (?:of )?(?:the|our|my)|in every|for every|in (?:this|the|our) (?:whole |entire )?(?:repo(?:sitory)?|project|code ?base|workspace|organi[sz]ation))\b",
    ),
    Sign(
        "for consistency",
        1.2,
        r"(?i)\b(?:to be consistent|for consistency|stay consistent|common (?:denominator|standard)|as standards?|convention)\b",
    ),
    Sign(
        "limit",
        1.6,
        r"(?i)\b(?:no (?:more|less|fewer|later|earlier) than|at most|not (?:exceed|be more than|go over)|maximum of|stay (?:under|within|below)|(?:my|our|the) (?:budget|deadline|limit|cap|maximum) (?:is|of))\b",
    ),
    Sign("emphasis", 1.0, r"\b(?:MUST|NEVER|ALWAYS|DO NOT|DON'T|NOT|ONLY|ALL|EVERY|IMPORTANT|CRITICAL)\b(?=.*[a-z])"),
    Sign(
        "emphasis",
        1.0,
        r"(?i)(?:^|[,;:] )(?:important|critical|note|rule|reminder|constraint|requirement)(?:ly)?\s*[:!]|\b(?:it is|it's) (?:important|critical|crucial|essential) (?:that|to)\b",
    ),
    Sign(
        "secret",
        1.2,
        r"(?i)\b(?:confidential|(?:is|are) (?:a )?(?:secret|private)|public repo(?:sitory)?|(?:not|never|n['’]t) (?:\w+ )?(?:share|mention|disclose|reveal|leak|publish))\b",
    ),
    Sign(
        "under a heading of rules",
        1.4,
        r"(?i)\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|principles?|polic(?:y|ies)|invariants?|acceptance|role|prohibit\w*|to enforce|do nots?|must(?:s| nots?)?|non-goals?|preferences?)\b",
        "heading",
    ),
    Sign(
        "permission",
        2.3,
        r"(?i)\b(?:you (?:have|'ve got) (?:my )?(?:permission|approval)|(?:i|we) (?:hereby )?(?:approve|authori[sz]e) |approved[:,] |you(?:'re| are) (?:authori[sz]ed|cleared) to)\b",
    ),
    Sign(
        "decides",
        2.1,
        r"(?i)\b(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled) (?:on|to|that)|decision:|final decision|(?:we|i) (?:will|'ll) (?:always|never|only)|it(?:'s| is) (?:decided|settled|final))\b",
    ),
    # German, French, Spanish: the explicit phrases
    Sign(
        "from now on (de)",
        3.5,
        r"(?i)\b(?:ab (?:jetzt|sofort|nun|heute)|von nun an|künftig|in zukunft|fortan|bis auf weiteres)\b",
    ),
    Sign(
        "no exceptions (de)",
        3.5,
        r"(?i)\b(?:nicht verhandelbar|ohne ausnahme|ausnahmslos|auf keinen fall|unter keinen umständen|grundsätzlich|zwingend|keinesfalls)\b",
    ),
    Sign(
        "must always or never (de)",
        2.8,
        r"(?i)(?:\b(?:muss|müssen|darf|dürfen|soll|sollen|bitte|sollst|musst|darfst)\b[^.?!]{0,60}\b(?:immer|nie|niemals|stets|nicht|kein\w*|alle\w*|jede\w*)\b|\b(?:alle|jede[rs]?|sämtliche)\b[^.?!]{2,70}\b(?:muss|müssen|sollen|dürfen)\b|^(?:immer|niemals|nie|stets)\b)",
    ),
    Sign(
        "prefers (de)",
        2.3,
        r"(?i)\b(?:ich (?:bevorzuge|möchte (?:immer|nie|keine?n?|lieber))|mir ist (?:wichtig|lieber))\b",
    ),
    Sign(
        "from now on (fr)",
        3.5,
        r"(?i)\b(?:à partir de maintenant|désormais|dorénavant|à l['’]avenir|jusqu['’]à nouvel ordre)\b",
    ),
    Sign(
        "no exceptions (fr)",
        3.5,
        r"(?i)\b(?:non négociable|sans (?:aucune )?exception|en aucun cas|sous aucun prétexte|impérativement|obligatoirement)\b",
    ),
    Sign(
        "must always or never (fr)",
        2.8,
        r"(?i)(?:\b(?:doi(?:t|vent|s)|devez|il faut|faut)\b[^.?!]{0,60}\b(?:toujours|jamais|tous|toutes|chaque|uniquement)\b|\b(?:tous les|toutes les|chaque)\b[^.?!]{2,70}\b(?:doi(?:t|vent))\b|\b(?:utilise[rz]?|écri[srvez]+|mets|mettez|garde[rz]?|réponds|répondez) toujours\b|\bne \w+(?: \w+)? jamais\b|\bn['’]\w+ jamais\b)",
    ),
    Sign(
        "prefers (fr)",
        2.3,
        r"(?i)\bje (?:préfère(?:rais)?|veux (?:toujours|que tou)|ne veux (?:pas|jamais) (?:de|d['’]))",
    ),
    Sign(
        "from now on (es)",
        3.5,
        r"(?i)\b(?:a partir de (?:ahora|hoy)|de ahora en adelante|en adelante|en lo sucesivo|hasta nuevo aviso)\b",
    ),
    Sign(
        "no exceptions (es)",
        3.5,
        r"(?i)\b(?:no es negociable|innegociable|sin excepci(?:ón|ones)|bajo ning(?:ún|una) (?:concepto|circunstancia)|en ningún caso|obligatoriamente)\b",
    ),
    Sign(
        "must always or never (es)",
        2.8,
        r"(?i)(?:\b(?:deb(?:e|en|es)|tien(?:e|en|es) que|hay que)\b[^.?!]{0,60}\b(?:siempre|nunca|jamás|todos|todas|cada|solo|sólo)\b|\b(?:todos los|todas las|cada)\b[^.?!]{2,70}\b(?:deb(?:e|en)|tienen? que)\b|^¡?(?:usa|utiliza|escribe|responde|mantén|no) (?:siempre|nunca)\b|^¡?(?:siempre|nunca|jamás)\b)",
    ),
    Sign("prefers (es)", 2.3, r"(?i)\b(?:prefiero|preferiría|quiero que (?:siempre|nunca|todos|todas))\b"),
)

_ASKS = (
    r"(?i)^(?:(?:and|but|so|ok|okay|hm+|also|now|then|wait|yeah|yes|no|question|q|ah|oh|hey|well)\b[:,]? *)*"
    r"(?:can|could|would|will|should|shall|do|does|did|is|are|was|were|am|isn't|aren't|don't (?:we|you|i|they)|doesn't|didn't"
    r"|have|has|had|what|why|how|where|when (?:do|does|did|is|are|will)|which|who|whose|any (?:idea|chance|reason|way)|wouldn't|couldn't|shouldn't|warum|wie|was|pourquoi|comment|por qué|cómo)\b(?! not\b)"
)
_POLITE = r"(?i)^(?:(?:and|so|ok|also|please)[, ]+)*(?:can|could|would|will) you (?:please )?(?:always|never|make sure|ensure|remember|keep|use|stick|avoid|stop|not)\b"

DOUBTS: tuple[Sign, ...] = (
    Sign("a question", -2.5, r"(?:\?|？)[\"')\]]*$|(?i:\b(?:right|or not|correct|no)\?)"),
    Sign("asks", -2.0, _ASKS),
    Sign("a polite request after all", 2.2, _POLITE),
    Sign(
        "hedged",
        -1.0,
        r"(?i)\b(?:maybe|perhaps|i guess|i suppose|might|not sure|wondering|i wonder|i assume|i'm assuming|or is it|what if|in theory|could be|seems?|looks like|probably|if possible|apparently)\b",
    ),
    Sign(
        "told, not asked for",
        -1.3,
        r"(?i)\b(?:was|were|did|had|got|saw|noticed|happened|found|didn['’]t|wasn['’]t|couldn['’]t|tried|used to|i(?:'ve|’ve)? (?:just|already)|it (?:always|never|does|still)|they (?:always|never)|keeps? \w+ing)\b",
    ),
    Sign(
        "for the moment",
        -1.2,
        r"(?i)\b(?:for now|right now|this time|at the moment|today|yet|for the moment|first|next|again|once more|temporarily|the last|let['’]s see)\b",
    ),
    Sign(
        "one job",
        -1.2,
        r"(?i)^(?:(?:ok|okay|yes|yeah|alright|no|now|and|also|then|please|so|just|great|cool|lets?|let['’]s)[,.! ]+)*(?:lets?|let['’]s|commit|push|run|check|look|fix|review|rebase|merge|open|delete|remove|undo|revert|show|explain|investigate|try|spawn|find|debug|summari[sz]e|tell|give|list|compare|start|continue|implement|create)\b",
    ),
    Sign(
        "points at one thing",
        -0.6,
        r"(?i)\b(?:this (?:line|file|function|test|commit|branch|bug|error|comment|issue|pr|one|change|button|script)|line \d+|lines \d+|#\d+|PR \d+|https?://)",
    ),
    Sign(
        "a conjecture",
        -0.8,
        r"(?i)\b(?:if (?:we|i|you|it|the) \w+|would (?:be|have|need|make)|couldn['’]t we|suppose)\b",
    ),
    Sign(
        "describes code",
        -1.0,
        r"(?:\b\w*[a-z][A-Z]\w*\b[^.?!]*){3}|(?:\b\w+_\w+\b[^.?!]*){3}|(?:\w+\([^)]*\)[^.?!]*){2}",
    ),
    Sign(
        "it says how things are",
        -1.5,
        r"(?i)\b(?:(?:is|are|was|be|been|gets?) (?:always|never)|(?:it|this|that|there|which|who|he|she|they|we|that one) (?:\w+ )?(?:always|never|must|should never|must never) (?:be |have )?(?:happen|seem|show|list|work|us(?:e|ing)|been|be)\w*|always (?:seems?|have|has)|never (?:called|used|seen|been|works?|happens?|worked|saw|mind|heard))\b",
    ),
    Sign("long-winded", -0.7, r"(?s)^.{420,}"),
    Sign("too short", -1.2, r"^\W*(?:\S+\s*){1,2}$"),
)

REINFORCES = re.compile(
    r"[ \t]+(?:(?:this|that|it)(?:'s| is) (?:non[- ]?negotiable|a (?:hard|strict|absolute) \w+|mandatory|not optional|final|critical|very important|important)"
    r"|no exceptions?|without exception|period|full stop|ever|das ist nicht verhandelbar|c['’]est non négociable|no es negociable|esto no es negociable)[.!]+",
    re.IGNORECASE,
)

KINDS: tuple[tuple[PinKind, str], ...] = (
    (PinKind.APPROVAL, r"(?i)\b(?:permission|approv(?:e|ed|al)|authori[sz]ed?|cleared to)\b"),
    (
        PinKind.DECISION,
        r"(?i)\b(?:decided|decision|agreed|settled|(?:we|i) (?:don['’]?t|do not|no longer) (?:need|want|support|care)|prefer|rather|let['’]s|instead)\b",
    ),
)
