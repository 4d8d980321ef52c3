"""Whether a proposed fact is what a user turn says, by plain rules.

Laws: the quote stands in the user's own words; every number, date, name, identifier and negation of the value stands
in the sentence quoted, or, after a bare yes, in the proposal that it answers; a day is right by our own reckoning; a
secret is never a fact.  What fails is dropped, nothing is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, tzinfo

from contextmgr.checks import Sources, check_item
from contextmgr.checks.consent import agreed_to, is_bare_yes
from contextmgr.checks.dates import MONTH, WEEKDAY
from contextmgr.checks.sources import Source
from contextmgr.checks.stems import stem
from contextmgr.checks.vocabulary import NEGATIONS, STOP
from contextmgr.checks.words import content, flow, plain
from contextmgr.extraction.dating import dated, is_vague, iso, readings
from contextmgr.extraction.own_words import OwnWords
from contextmgr.extraction.proposals import Proposal
from contextmgr.ranking import fold
from contextmgr.sources.cleaning import is_clean
from contextmgr.summaries import Item, ItemKind
from contextmgr.turns import Turn

MAX_VALUE = 400
"""Characters of a value."""
MAX_KEY = 60
"""Characters of a key."""
MAX_QUOTE = 1_000
"""Characters of a quote: more is a document."""

_SECRET = re.compile(
    r"passw|passcode|passphrase|\bpwd\b|kennwort|contrasena|mot de passe|\bsecret|\btoken\b|credential|\bapi key"
    r"|access key"
    r"|private key|\bpin(?: code| number| is|$)|\bcvv\b|\bcvc\b|security code|card (?:number|no)\b|\biban\b"
    r"|(?:bank )?account (?:number|no)\b|routing number|\bssn\b|social security|kontonummer|kartennummer"
    r"|numero de carte"
)
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_SUPPOSED = re.compile(
    r"\b(?:what if|suppose|supposing|imagine|hypothetical\w*|pretend|for example|for instance|e\.g|let['’]?s say"
    r"|just kidding"
    r"|in (?:this|the|my|our) (?:story|novel|poem|game|scene|script)"
    r"|j/k|(?:only|just) joking|zum beispiel|z\.\s?b\.|angenommen|par exemple|supposons|por ejemplo|supongamos)\b",
    re.IGNORECASE,
)
_FOR_OTHERS = re.compile(
    r"^\W*(?:please )?(?:write(?! (?:this |that |it )?down)|draft|compose|translate|rewrite|proofread"
    r"|act as|play|schreib\w*|übersetz\w*|traduis\w*|traduce|escribe)\b[^:\n]*:",
    re.IGNORECASE,
)
"""A text that was ordered, or a part to be played, rather than something told."""
_TAKEN_BACK = re.compile(
    r"^\W*(?:(?:i['’]m |i was |only |just )*(?:kidding|joking)|j/?k\b|forget (?:that|it|what i)|never ?mind"
    r"|(?:scratch|strike|ignore|disregard) (?:that|it|this)|vergiss (?:das|es)|(?:kleiner |nur ein )?scherz"
    r"|oublie[sz]? (?:ça|cela)|je plaisante|olvídalo|es broma)",
    re.IGNORECASE,
)
"""How a sentence begins that takes back the one before it."""
_TURNS_ROUND = re.compile(
    r"\b(?:hardly|barely|scarcely|unless|untrue|not true|isn['’]t true|(?:is|was) (?:wrong|false)|used to|formerly"
    r"|kaum|früher mal|à peine|apenas)\b",
    re.IGNORECASE,
)
"""Words that make something else of a statement, as a negation does."""
_QUESTION = re.compile(r"[?？][\"'”’)\]*_ ]*$")
_NAME = re.compile(r"(?<![\w.@/-])[^\W\d_a-zß-ÿ][\w'’-]*")
_ACTS = tuple(
    frozenset(map(stem, group.split()))
    for group in (
        "delete remove drop wipe erase destroy purge discard",
        "push publish release deploy",
        "merge rebase squash",
        "pay refund charge buy purchase",
        "cancel terminate",
        "transfer revoke grant overwrite reset revert",
        "approve approved approval confirm confirmed allow allowed permit permission consent agree agreed",
        "skip bypass ignore disable deactivate",
    )
)
"""Acts that are hard to take back, and consent: a key names one only where the user did, by a word of its group."""
_SUBJECTS = frozenset({"the", "user", "user's", "i", "a", "an", "they", "their", "we", "our", "my"})


@dataclass(frozen=True, slots=True)
class Said:
    """A user turn, its own words, and the assistant turn right before it, if there is one."""

    turn: Turn
    own: OwnWords
    before: Turn | None = None

    def day(self, zone: tzinfo) -> date | None:
        """The day it was said on, in the conversation's time zone."""
        return self.turn.said_at.astimezone(zone).date() if self.turn.said_at is not None else None

    def agreed(self) -> str:
        """What a bare yes in it agrees to; "" for any other turn."""
        if self.before is None or not is_bare_yes(self.turn.text):
            return ""
        return " ".join(s.text for s in agreed_to([Source(self.before), Source(self.turn)]))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The proposal as it may be stored, its quote whole sentences; or None, and the reason, without what was said."""

    fact: Proposal | None
    reason: str = ""


def verdict(proposal: Proposal, said: Mapping[int, Said], zone: tzinfo) -> Verdict:
    """Hold a proposal against the user turns of the range."""
    source = said.get(proposal.turn)
    if source is None:
        return Verdict(None, "no user turn of the range")
    quote = source.own.around(proposal.quote)
    if quote is None:
        return Verdict(None, "the quote is not in the user's own words")
    fact = replace(proposal, key=key_of(proposal.key), value=" ".join(proposal.value.split()), quote=quote)
    day = source.day(zone)
    told = fact.value if day is None else dated(fact.value, day)
    if told is None or is_vague(told) or (day is None and dated(told, date.min.replace(year=2)) != told):
        return Verdict(None, "a day that cannot be told")
    fact = replace(fact, value=told)
    reason = next(_reasons(fact, source, day), "")
    return Verdict(None, reason) if reason else Verdict(fact)


def key_of(text: str) -> str:
    """A key as it is stored: small letters without accents, digits and "_", at most `MAX_KEY` characters."""
    return re.sub(r"\W+", "_", fold(text)).strip("_")[:MAX_KEY].strip("_")


def is_secret(key: str, value: str, quote: str) -> bool:
    """Whether a fact would keep a password, key, token, card or account number."""
    named = f"{key.replace('_', ' ')}: {value}"
    if _SECRET.search(fold(key.replace("_", " "))) or _SECRET.search(fold(quote)):
        return True
    return not all(map(is_clean, (value, quote, named))) or any(
        p.search(t) for p in (_CARD, _IBAN) for t in (value, quote)
    )


def _reasons(fact: Proposal, source: Said, day: date | None) -> Iterator[str]:
    if not fact.key or not any(c.isalnum() for c in fact.value):
        yield "nothing is said"
    if len(fact.value) > MAX_VALUE or len(fact.quote) > MAX_QUOTE:
        yield "too long"
    before, after = source.own.beside(fact.quote)
    if is_secret(fact.key, fact.value, fact.quote) or (
        any(map(str.isdigit, fact.value)) and _SECRET.search(fold(before))
    ):
        yield "a secret"
    if _QUESTION.search(fact.quote):
        yield "a question"
    if _SUPPOSED.search(fact.quote) or _FOR_OTHERS.match(fact.quote):
        yield "only supposed"
    if _TAKEN_BACK.match(after):
        yield "taken back"
    if any(plain(m.group()) not in plain(fact.value) for m in _TURNS_ROUND.finditer(fact.quote)):
        yield "a word that turns it round is left out"
    agreed = source.agreed()
    if not agreed and not content(flow(fact.quote)) and not any(c.isdigit() for c in fact.quote):
        yield "the quote says nothing by itself"
    basis = f"{fact.quote} {agreed}".strip()
    yield from _strange_names(fact, basis)
    yield from _key_claims(fact, basis)
    told = [basis, iso(basis), *(readings(basis, day) if day else ())]  # as said, for a day of every year
    if not any(_is_borne_out(fact, text, source, agreed) for text in dict.fromkeys(told)):
        yield "the value is not what the quote says"


def _is_borne_out(fact: Proposal, text: str, source: Said, agreed: str) -> bool:
    """Whether the checks of summaries find the value in a text, taken as all that the user said, on no known day."""
    number = source.turn.number
    said = replace(source.turn, blocks=({"type": "text", "text": text},), said_at=None)
    value = fact.value if text == fact.quote else iso(fact.value)
    if agreed and source.before is not None:
        cited = (number - 1, number)
        turns = {number - 1: replace(source.before, said_at=None), number: replace(source.turn, said_at=None)}
        if check_item(Item(text=value, kind=ItemKind.DECISION, turns=cited), Sources(turns)).ok:
            return True
    return check_item(Item(text=value, kind=ItemKind.CONSTRAINT, turns=(number,)), Sources({number: said})).ok


def _strange_names(fact: Proposal, basis: str) -> Iterator[str]:
    """A word written large in the value, a name perhaps, that the user did not say."""
    said = plain(basis)
    for match in _NAME.finditer(fact.value):
        word = plain(match.group()).removesuffix("'s")
        known = word in _SUBJECTS or word in MONTH or word in WEEKDAY or word in said
        begins = not fact.value[: match.start()].strip()
        if not known and not (begins and (word in STOP | NEGATIONS or stem(word) in content(flow(basis)))):
            yield "a name that the quote does not hold"


def _key_claims(fact: Proposal, basis: str) -> Iterator[str]:
    """A key that says more than the words do: a number, a negation, or an act that is hard to take back."""
    words = fact.key.split("_")
    said = plain(basis)
    if any(re.search(r"\d", w) and w not in said for w in words):
        yield "a number in the key that the quote does not hold"
    told = flow(basis)
    if not NEGATIONS.isdisjoint(words) and not any(t.startswith("\x00") for t in told):
        yield "a negation in the key that the quote does not hold"
    bag, stems = content(told), {stem(w) for w in words}
    if any(not stems.isdisjoint(group) and bag.isdisjoint(group) for group in _ACTS):
        yield "an act in the key that the quote does not hold"
