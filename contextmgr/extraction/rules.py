"""Facts without a model: sentences in which users state something outright, by plain patterns.

Law: precision before recall.  A sentence is taken only where its form says that it states a fact, a standing wish, a
choice or a correction, and its value has something to hold on to; what is asked, hedged, told or supposed is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from contextmgr.checks.words import content, flow
from contextmgr.extraction.checking import Said, key_of
from contextmgr.extraction.dating import relatives
from contextmgr.extraction.forms import FORMS, HEDGED, Form
from contextmgr.extraction.forms_elsewhere import FORMS_ELSEWHERE
from contextmgr.extraction.proposals import Proposal
from contextmgr.facts import FactKind

LONGEST = 300
"""Characters of a sentence that is read; a longer one tells a story."""
DOCUMENT = 8_000
"""Characters from which what a turn says is a document that was pasted rather than something told."""
LONGEST_VALUE = 120
"""Characters of a value."""
_KEY_WORDS = 4
_UNNAMED = frozenset({"always", "decided", "agreed", "over", "than", "rather", "instead"})
_SOME_DAY = date(2026, 1, 1)  # any: only whether a day is told

_TELLING = re.compile(r"[A-ZÀ-ÖØ-Þ]|\d|@|/")
_STOPPED = re.compile(
    r"\s*(?:[;:–—]\s|\s-\s|\s\().*$"
    r"|\s+(?:and|but|so|because|since|although|though|while|which|who|where|when|if|und|aber|weil|da|et|mais|car|y"
    r"|pero|porque)\s+"
    r"(?:i|i['’]\w+|my|we|we['’]\w+|our|it|he|she|they|there|that|you|your|please|can|could|would|is|are|was|not"
    r"|ich|wir|mein\w*|unser\w*"
    r"|das|es|je|nous|on|mon|ma|yo|mi|nuestr\w+|es)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_COMMA = re.compile(r",\s.*$", re.DOTALL)
_COMMA_IN_PLACE = re.compile(r",\s+(?![A-ZÀ-ÖØ-Þ\d](?!['’ ](?:[a-z]|$)|\s)).*$", re.DOTALL)
_LIMITING = re.compile(
    r"^\W*(?:to|for|from|with|at|in|on|by)\b|\b(?:except|unless|only|not|never|if|until|without|but|instead"
    r"|\w+n['’]t|außer|nicht|nur|sauf|pas"
    r"|excepto|salvo|aber|mais|pero)\b",
    re.IGNORECASE,
)
"""What follows a value and takes part of it back, or belongs to it: then it is not understood."""
_PLACE = re.compile(r"address|home|city|town|adresse|dirección", re.IGNORECASE)
_POINTS = re.compile(
    r"^(?:it|that|this|these|those|them|him|her|one|ones|option|the (?:first|second|third|last|latter|former|other"
    r"|same|one|new|old)|both|neither"
    r"|your?s?|what|whatever|das|dies\w*|es|ça|cela|eso|esto|esa|ese)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:not|no longer|never|still|too|very|so|really|quite|pretty|getting|being|going|also|just|always|already"
    r"|at|kein\w*|nicht|pas|muy|très|sehr)\b",
    re.IGNORECASE,
)
_ENDING = " .,;:!…\"'“”*_"


def rules(said: Said) -> Iterator[Proposal]:
    """What the sentences of a user turn state, in order; each still has to be checked."""
    if sum(map(len, said.own.parts)) > DOCUMENT:
        return
    for sentence in said.own.sentences():
        if len(sentence) > LONGEST or sentence.rstrip("\"'”’)*_ ").endswith(("?", "？")) or HEDGED.search(sentence):
            continue
        plain = " ".join(sentence.split())
        found = next((p for form in (*FORMS, *FORMS_ELSEWHERE) if (p := _read(form, plain)) is not None), None)
        if found is not None:
            kind, key, value, corrects = found
            yield Proposal(key=key, value=value, kind=kind, turn=said.turn.number, quote=sentence, corrects=corrects)


def _read(form: Form, sentence: str) -> tuple[FactKind, str, str, str | None] | None:
    match = form.pattern.match(sentence)
    if match is None:
        return None
    parts = {name: text for name, text in match.groupdict().items() if text}
    value = parts["value"].strip() if form.whole else _cut(parts["value"], form.name or parts.get("key", ""))
    if not value or len(value) > LONGEST_VALUE * (1 + form.whole) or _POINTS.match(value):
        return None
    if form.telling and (_EMPTY.match(value) or not (_TELLING.search(value) or relatives(value, _SOME_DAY))):
        return None
    if form.accepts is not None and not form.accepts.search(value):
        return None
    kind = FactKind.CORRECTION if "takes_back" in parts else form.kind
    old = parts.get("old")
    key = form.name or _name(form, parts, value)
    return (kind, key, value, old.strip(_ENDING) if old else None) if key else None


def _cut(value: str, matter: str) -> str:
    """The value without the clauses that follow it, "" where they limit it; a place may go on after a comma."""
    comma = _COMMA_IN_PLACE if _PLACE.search(matter) else _COMMA
    kept = comma.sub("", _STOPPED.sub("", value))
    return "" if _LIMITING.search(value[len(kept) :]) else kept.strip(_ENDING)


def _name(form: Form, parts: dict[str, str], value: str) -> str:
    """A key made of the matter that was named, or else of the first telling words of the value."""
    named = parts.get("key")
    if named is not None:
        known = form.names.get(named.lower().strip()) if form.names else named
        return key_of(f"{form.prefix}{known}") if known else ""
    words = [w.lower() for w in re.findall(r"[^\W_]+", value) if content(flow(w)) or w.isdigit()]
    told = [w for w in words if w not in _UNNAMED][:_KEY_WORDS]
    return key_of(form.prefix + "_".join(sorted(told) if form.unordered else told)) if told else ""
