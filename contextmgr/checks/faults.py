"""What is wrong with a statement: each rule by itself, and the reasons as they are reported.

Laws: a number, date or name counts where the sentence that says the rest says it too, or, if no sentence does, where
calls and results have it; a negation belongs to its words; quotes are word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextmgr.checks import data
from contextmgr.checks.atoms import Atom
from contextmgr.checks.consent import consents, settles
from contextmgr.checks.dates import Day
from contextmgr.checks.identifiers import occurs
from contextmgr.checks.polarity import added, lost, turned
from contextmgr.checks.sentences import quotes
from contextmgr.checks.sources import Match, Source, squeezed
from contextmgr.checks.statement import LEAST, Statement, holds
from contextmgr.checks.stems import stem
from contextmgr.checks.vocabulary import WEIGHTY
from contextmgr.checks.words import content, flow

USER_SHARE = 0.6
"""Share of a wish's words that one sentence of the user has to hold."""
TOLD_SHARE = 0.4
"""Share of any other statement's words that the turns have to hold in one sentence, or all over."""
LAW_SHARE = 0.7
"""The same where the statement says what must or must never be done."""
FEW = 3
"""Content words: a consent in so few has to be worded as one, or as a request."""
SPREAD_SHARE = 0.75
"""Share that several sentences together have to hold where no single one holds enough."""
ALIGNED = 0.7
"""From here on a sentence is what the statement was taken from: where the two differ, the statement is wrong."""
WHOLE = 0.95
"""From here on nothing of the statement is left for another sentence to say."""
HALF = 0.5
"""The same for opposites, and for numbers and dates, of which long turns hold too many."""
SAME = 0.8
"""Words in common, of all words of both, from which on two sentences are one in other words."""
NEARLY = 0.6
"""Share of the best sentence's overlap that another one needs to be a source beside it."""
_LAW = re.compile(
    r"\b(?:must|shall|never|always|required|mandatory|forbidden|prohibited|not allowed|muss|müssen|darf|nie|immer"
    r"|doit|doivent|jamais|toujours|interdit|debe|deben|nunca|siempre|prohibido)\b|必须|必須|禁止|반드시|금지",
    re.IGNORECASE,
)

_WEIGHTY = tuple(frozenset(map(stem, group)) for group in WEIGHTY)


def faults(statement: Statement) -> Iterator[str]:
    """Why a statement does not hold; nothing when it does.  What a turn says in so many words always holds."""
    if any(s.is_sentence(statement.text) for s in statement.sources):
        return
    yield from _quotes(statement)
    for atom in statement.atoms:
        yield from _atom(statement, atom)
    yield from _bare(statement)
    yield from _words(statement)
    yield from _settled(statement)
    yield from _weight(statement)
    yield from _polarity(statement)


def _quotes(statement: Statement) -> Iterator[str]:
    for quote in quotes(statement.text):
        pieces = [squeezed(p).strip(" .,;:!?-") for p in re.split(r"\.\.\.|…", quote)]
        said = [s.squeezed for s in statement.sources] + [squeezed(c.text) for c in statement.context]
        if not statement.from_user:
            said += [s.squeezed_data for s in statement.sources]
        if not any(all(occurs(p, text) for p in pieces if p) for text in said):
            yield f"quote {quote!r} is not in {statement.where}"


def _words(statement: Statement) -> Iterator[str]:
    """Its words are not those of the turns."""
    bag, share = statement.bag, statement.share
    if not bag or (share >= LEAST and max(statement.covered, statement.near_share) >= SPREAD_SHARE):
        return
    if statement.from_user:
        least = 1.0 if len(bag) <= 2 else USER_SHARE
    else:
        least = LAW_SHARE if _LAW.search(statement.text) else TOLD_SHARE
        share = max(share, *(s.data_share(bag) for s in statement.sources))
    if share < least:
        held = statement.matches[0].sentence.bag if statement.matches else frozenset()
        unknown = ", ".join(repr(w) for w in sorted(bag - held)[:4])
        yield f"only {share:.0%} of the words are in {statement.where}: {unknown} not"


def _settled(statement: Statement) -> Iterator[str]:
    """It tells of a consent, a choice or a rule where the user asked a question, or only spoke of the matter."""
    agreed = statement.claim.agreed
    if not statement.claim.is_settled or statement.context:
        return
    said = [m.sentence for m in statement.passage if m.share]
    if said and all(s.is_question and (agreed or not s.is_request) for s in said):
        yield f"told as settled, but only asked in {statement.where}"
    elif agreed and said and len(statement.bag) <= FEW and not any(settles(s.text) for s in said):
        yield f"told as settled, but only mentioned in {statement.where}"


def _bare(statement: Statement) -> Iterator[str]:
    """It says nothing but that the user said or agreed; then these words, or a yes, have to be the user's."""
    if not statement.from_user or statement.bag or statement.atoms or quotes(statement.text):
        return
    words = squeezed(statement.claim.rest).strip(" .,;:!?-")
    said = [s.squeezed for s in statement.sources]
    if not (any(occurs(words, s) for s in said) if words else any(consents(s) for s in said)):
        yield f"nothing of it is in {statement.where}"


def _weight(statement: Statement) -> Iterator[str]:
    """An act that is hard to take back, or a limit, told of the user, who did not name it."""
    if not statement.from_user:
        return
    agreed = frozenset[str]().union(*(c.bag for c in statement.context))
    for group in _WEIGHTY:
        told = sorted(statement.bag & group)
        if told and not any(w in s.index or w in agreed for w in group for s in statement.sources):
            yield f"{told[0]!r} is not in {statement.where}"


def _polarity(statement: Statement) -> Iterator[str]:
    """It denies what the turns affirm, affirms what they deny, or says the opposite of a word of theirs."""
    if statement.cues and not _is_answered(statement):
        cue = statement.cues[0]
        yield f"negation {cue.word!r} (of {cue.head!r}) is not in {statement.where}"
    for group in statement.cover:
        found = [_turned(statement, m) for m in group]
        if group[0].share >= LEAST and all(found):
            yield found[0]
            return
    yield from _denied_beside(statement)


def _is_answered(statement: Statement) -> bool:
    """Whether the turns deny what the statement denies: in one sentence, in its passage, or in tool output."""
    near = [m for m in statement.matches if m.share >= max(LEAST, NEARLY * statement.share)]
    if any(added(statement.cues, m.sentence.cues) is None for m in near):
        return True
    is_whole = len(statement.cover) == 1 and statement.core_share >= WHOLE
    if not is_whole and added(statement.cues, [c for m in statement.passage for c in m.sentence.cues]) is None:
        return True
    if statement.from_user or statement.share >= ALIGNED:
        return False
    return all(any(data.denies(s.data, c.head) for s in statement.sources) for c in statement.cues)


def _denied_beside(statement: Statement) -> Iterator[str]:
    """A word that the statement affirms, and that the passage it comes from says with a negation only."""
    rest = statement.core - frozenset[str]().union(*(g[0].sentence.bag for g in statement.cover))
    for word in sorted(rest):
        holders = [m for m in statement.passage if word in m.sentence.bag]
        denials = [c for m in holders for c in m.sentence.cues if c.is_about(word)]
        if holders and len(denials) >= len(holders) and added(denials[:1], statement.cues) is not None:
            yield f"turn {holders[0].turn} says {denials[0].word!r} of {word!r}, the item does not"
            return


def _turned(statement: Statement, match: Match) -> str:
    where = f"turn {match.turn}" if match.turn else "what was agreed to"
    # Words that the source says both ways, and negations of nothing in particular, count where the sentences are one.
    ignored = match.sentence.affirmed | {""} if match.closeness < SAME else frozenset[str]()
    gone = lost(statement.bag, statement.cues, match.sentence.cues, ignored)
    if gone is not None:
        return f"{where} says {gone.word!r} of {gone.head!r}, the item does not"
    pair = turned(statement.bag, match.sentence.bag) if match.share >= HALF else None
    return f"{pair[0]!r} where {where} says {pair[1]!r}" if pair is not None else ""


def _atom(statement: Statement, atom: Atom) -> Iterator[str]:
    """A number, date or name that the turns do not hold, or not where they say the rest."""
    if statement.cover and holds(statement.cover[0][0].sentence, atom):
        return
    beside = any(holds(m.sentence, atom) for m in statement.passage)
    if beside and (len(statement.cover) > 1 or statement.core_share < WHOLE):
        return
    other = statement.core_share >= (ALIGNED if atom.kind == "identifier" else HALF) and _has_other(statement, atom)
    if not (other and "/" in atom.text) and _is_known(statement, atom):
        return
    if other:
        yield f"{atom.kind} {atom.text} stands in place of another one in {statement.where}"
        return
    best = max((share for s in statement.sources for share in _shares(statement, s, atom)), default=-1.0)
    if beside or best > NEARLY * statement.share:
        return
    in_data = not statement.from_user and any(data.holds(s.data, atom, statement.bag) for s in statement.sources)
    if best < 0 and not in_data:
        yield f"{atom.kind} {atom.text} is not in {statement.where}"
    elif best <= 0 and not in_data and statement.bag:
        yield f"{atom.kind} {atom.text} is in {statement.where}, but not about this"


def _has_other(statement: Statement, atom: Atom) -> bool:
    """Whether the sentence the statement was taken from has another number, date or name in the place of this one."""
    mine = [a for a in statement.atoms if a.kind == atom.kind]
    theirs = [a for a in statement.cover[0][0].sentence.atoms if a.kind == atom.kind and ("/" in a.text or not a.loose)]
    return any(not any(m.agrees(t) or t.agrees(m) for m in mine) for t in theirs)


def _shares(statement: Statement, source: Source, atom: Atom) -> Iterator[float]:
    """Of each sentence that holds the atom, the share of the statement's words it holds."""
    for sentence in source.sentences:
        if holds(sentence, atom):
            yield len(statement.core & sentence.bag) / len(statement.core) if statement.core else 1.0


def _is_known(statement: Statement, atom: Atom) -> bool:
    """Whether an atom needs no telling: the day a cited turn was said on, or ordinary words written large."""
    if isinstance(atom.value, Day):
        return any(_dates(s, atom.value) for s in statement.sources)
    if not atom.loose:
        return False
    bag: Sequence[str] = sorted(content(flow(atom.text)))
    return all(any(w in s.index or (not statement.from_user and w in s.data) for s in statement.sources) for w in bag)


def _dates(source: Source, day: Day) -> bool:
    """Whether a turn was said on that day, or names it without the year in that year."""
    at = source.turn.said_at
    if at is None or day.year not in (None, at.year) or day.month is None:
        return False
    return (day.month, day.day) == (at.month, at.day) or any(
        isinstance(a.value, Day) and day._replace(year=None).agrees(a.value) and a.value.year is None
        for s in source.sentences
        for a in s.atoms
    )
