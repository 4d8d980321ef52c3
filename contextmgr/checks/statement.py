"""One sentence of an item held against the turns it may be taken from.

Laws: what speaks for the user is looked for in the user's own words only; what is told of the assistant, in the
assistant's turns only; numbers, dates and names count where the sentence that says the rest says them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from contextmgr.checks.atoms import Atom, atoms
from contextmgr.checks.claims import Claim, Speaker
from contextmgr.checks.identifiers import places
from contextmgr.checks.numbers import Number, written
from contextmgr.checks.polarity import added, lost, turned
from contextmgr.checks.sentences import Sentence, quotes
from contextmgr.checks.sources import Match, Source, matches, squeezed
from contextmgr.checks.words import content, cues, flow, plain, stem

USER_SHARE = 0.6
"""Share of a wish's words that one sentence of the user has to hold."""
TOLD_SHARE = 0.4
"""Share of any other statement's words that the turns have to hold in one sentence, or all over."""
LAW_SHARE = 0.7
"""The same where the statement says what must or must never be done."""
ALIGNED = 0.7
"""From here on a sentence is what the statement was taken from: where the two differ, the statement is wrong."""
NEARLY = 0.6
"""Share of the best sentence's overlap that another one needs to be a source beside it."""
_LAW = re.compile(
    r"\b(?:must|shall|never|always|required|mandatory|forbidden|prohibited|not allowed|only ever|muss|müssen|darf|nie|immer"
    r"|doit|doivent|jamais|toujours|interdit|debe|deben|nunca|siempre|prohibido)\b|必须|必須|禁止|반드시|금지",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A sentence of an item, what it claims about who said it, and the turns that may bear it out.

    ``sources`` speak for it, ``context`` are sentences of the assistant that the user said yes to.
    """

    text: str
    claim: Claim
    sources: Sequence[Source]
    context: Sequence[Sentence] = ()

    @cached_property
    def flow(self) -> list[str]:
        """Its words without those of the claim."""
        return flow(self.claim.rest)

    @cached_property
    def bag(self) -> frozenset[str]:
        """Its content words."""
        return content(self.flow)

    @property
    def from_user(self) -> bool:
        """Whether only the user's words count."""
        return self.claim.speaker is Speaker.USER

    @cached_property
    def matches(self) -> Sequence[Match]:
        """The sentences nearest to it, best first."""
        if not self.bag:
            return ()
        found = matches(self.bag, self.sources)
        for sentence in self.context:
            shared = len(self.bag & sentence.bag)
            if shared:
                union = len(self.bag | sentence.bag)
                found.append(Match(sentence, 0, shared / len(self.bag), shared / union))
        if self.claim.agreed:
            found = [m for m in found if not m.sentence.is_question or m.turn == 0]
        return sorted(found, key=lambda m: (-m.share, -m.closeness))

    @cached_property
    def cover(self) -> Sequence[Sequence[Match]]:
        """The sentences it was put together from: groups of equals, each group with words that those before lack."""
        groups: list[list[Match]] = []
        missing = self.bag
        while missing and len(groups) < 4:
            gains = [(len(missing & m.sentence.bag), m) for m in self.matches]
            best = max((g for g, _ in gains), default=0)
            if not best or (groups and best < max(2, 0.3 * len(missing))):
                break
            group = [m for g, m in gains if g >= 0.9 * best]
            groups.append(group)
            missing -= group[0].sentence.bag
        return groups

    @cached_property
    def share(self) -> float:
        """Share of its words in the sentence nearest to it."""
        return self.matches[0].share if self.matches else 0.0

    @cached_property
    def covered(self) -> float:
        """Share of its words in all sentences it was put together from."""
        held = frozenset[str]().union(*(g[0].sentence.bag for g in self.cover)) if self.cover else frozenset()
        return len(self.bag & held) / len(self.bag) if self.bag else 1.0

    def reasons(self) -> Iterator[str]:
        """Why it does not hold; nothing when it does."""
        if any(s.is_sentence(self.text) for s in self.sources):
            return
        where = self.where
        wrong_quote = next((q for q in quotes(self.text) if not self.has_quote(q)), None)
        if wrong_quote is not None:
            yield f"quote {wrong_quote!r} is not in {where}"
        for atom in atoms(self.text):
            yield from self.atom_reasons(atom)
        yield from self.word_reasons()
        yield from self.polarity_reasons()

    @property
    def where(self) -> str:
        """The turns that count, for a reason."""
        numbers = ", ".join(str(s.number) for s in self.sources)
        words = "the user's words in " if self.from_user else ""
        return f"{words}turn{'s' if len(self.sources) > 1 else ''} {numbers}"

    def has_quote(self, quote: str) -> bool:
        """Whether the turns hold a quote, blanks and emphasis aside."""
        pieces = [squeezed(p).strip(" .,;:!?-") for p in re.split(r"\.\.\.|…|\[\.\.\.\]", quote)]
        return any(all(self._holds(s, p) for p in pieces if p) for s in self.sources) or any(
            all(p in squeezed(c.text) for p in pieces if p) for c in self.context
        )

    def _holds(self, source: Source, piece: str) -> bool:
        if next(places(piece, source.squeezed), None) is not None:
            return True
        return not self.from_user and next(places(piece, " ".join(source.data.split())), None) is not None

    def word_reasons(self) -> Iterator[str]:
        """Its words are not those of the turns."""
        if self.from_user:
            if not self.bag:
                return
            few = len(self.bag) <= 2
            if self.share < (1.0 if few else USER_SHARE) and not (self.covered >= 0.8 and self.share >= 0.4):
                yield f"{self._unknown()} not said by the user: {self.share:.0%} of the words in {self.where}"
        elif self.bag and max(self.share, self._in_data()) < (LAW_SHARE if _LAW.search(self.text) else TOLD_SHARE):
            if self.covered < 0.8:
                yield f"{self._unknown()} not in {self.where}"

    def _unknown(self) -> str:
        held = self.matches[0].sentence.bag if self.matches else frozenset()
        return "words " + ", ".join(repr(w) for w in sorted(self.bag - held)[:4])

    def _in_data(self) -> float:
        return max((sum(w in s.data for w in self.bag) / len(self.bag) for s in self.sources), default=0.0)

    def polarity_reasons(self) -> Iterator[str]:
        """It denies what the turns affirm, affirms what they deny, or says the opposite of a word of theirs."""
        mine = cues(self.flow)
        near = [m for m in self.matches if m.share >= max(0.34, NEARLY * self.share)]
        if mine and not self._answered(mine, near):
            yield f"negation {mine[0].word!r} (of {mine[0].head!r}) is not in {self.where}"
        for group in self.cover:
            if group[0].share < 0.34:
                continue
            faults = [self._fault(m, mine) for m in group]
            if all(faults):
                yield faults[0]
                return

    def _answered(self, mine: Sequence[object], near: Sequence[Match]) -> bool:
        own = cues(self.flow)
        if any(added(own, m.sentence.cues) is None for m in near):
            return True
        parts = [c for g in self.cover for c in g[0].sentence.cues]
        if len(self.cover) > 1 and added(own, parts) is None:
            return True
        return not self.from_user and self.share < ALIGNED and self._denied_in_data(own)

    def _denied_in_data(self, own: Sequence[object]) -> bool:
        heads = [c.head for c in cues(self.flow)]
        return all(any(h and any(cues(flow(x)) for x in _lines(s.data, h)) for s in self.sources) for h in heads)

    def _fault(self, match: Match, mine: Sequence[object]) -> str:
        gone = lost(self.bag, cues(self.flow), match.sentence.cues)
        if gone is not None:
            return f"turn {match.turn} says {gone.word!r} of {gone.head!r}, the item does not"
        pair = turned(self.bag, match.sentence.bag)
        return f"{pair[0]!r} where turn {match.turn} says {pair[1]!r}" if pair is not None else ""

    def atom_reasons(self, atom: Atom) -> Iterator[str]:
        """A number, date or name that the turns do not hold, or not where they say the rest."""
        if any(_has(m.sentence, atom) for g in self.cover for m in g):
            return
        holders = [s for s in self.sources if self._in_words(s, atom)]
        best = max((m.share for m in self._holding(atom, holders)), default=-1.0)
        if best >= NEARLY * self.share and (best > 0 or not self.bag):
            return
        if self._is_known(atom):
            return
        in_data = not self.from_user and any(self._in_data_near(s, atom) for s in self.sources)
        if not holders and not in_data:
            yield f"{atom.kind} {atom.text} is not in {self.where}"
        elif self._has_other(atom):
            yield f"{atom.kind} {atom.text} is not what {self.where} say there"
        elif atom.kind != "identifier" and not in_data and best <= 0:
            yield f"{atom.kind} {atom.text} is in {self.where}, but not about this"

    def _in_words(self, source: Source, atom: Atom) -> bool:
        if isinstance(atom.value, str):
            return next(places(atom.value, source.plain), None) is not None
        return any(_has(s, atom) for s in source.sentences)

    def _holding(self, atom: Atom, holders: Sequence[Source]) -> Iterator[Match]:
        for source in holders:
            for sentence in source.sentences:
                if _has(sentence, atom):
                    shared = len(self.bag & sentence.bag)
                    yield Match(sentence, source.number, shared / len(self.bag) if self.bag else 1.0, 0.0)

    def _is_known(self, atom: Atom) -> bool:
        """Whether an atom needs no telling: the day a cited turn was said on, or an ordinary word written large."""
        if atom.kind == "date":
            return any(_said_on(s, atom) for s in self.sources)
        if atom.loose:
            bag = content(flow(atom.text))
            return all(any(w in s.index or (not self.from_user and w in s.data) for s in self.sources) for w in bag)
        return False

    def _in_data_near(self, source: Source, atom: Atom) -> bool:
        """Whether calls or results hold it; a number only on a line with a word of the statement."""
        if isinstance(atom.value, str):
            return next(places(atom.value, source.data), None) is not None
        forms = written(atom.value) if isinstance(atom.value, Number) else _date_forms(atom)
        for form in forms:
            for at in places(form, source.data):
                line = _line(source.data, at)
                if atom.kind != "number" or not self.bag or any(w in line for w in self.bag):
                    return True
        return False

    def _has_other(self, atom: Atom) -> bool:
        """Whether the sentence it was taken from has another atom of this class in its place."""
        mine = [a for a in atoms(self.text) if a.kind == atom.kind]
        for match in self.cover[0] if self.cover else ():
            if match.share >= ALIGNED:
                theirs = [a for a in match.sentence.atoms if a.kind == atom.kind]
                if any(not any(m.agrees(t) or t.agrees(m) for m in mine) for t in theirs):
                    return True
        return False


def _has(sentence: Sentence, atom: Atom) -> bool:
    if isinstance(atom.value, str):
        return next(places(atom.value, sentence.plain), None) is not None
    return any(atom.agrees(a) for a in sentence.atoms) or (atom.kind == "number" and _in_name(sentence, atom))


def _in_name(sentence: Sentence, atom: Atom) -> bool:
    """Whether a number stands inside of a name of the sentence, as the 3 of ``v3``."""
    digits = {float(d) for a in sentence.atoms if a.kind == "identifier" for d in re.findall(r"\d{1,15}", a.text)}
    return isinstance(atom.value, Number) and not atom.value.values.isdisjoint(digits)


def _said_on(source: Source, atom: Atom) -> bool:
    at = source.turn.said_at
    if at is None or isinstance(atom.value, (str, int, Number)):
        return False
    told = atom.value
    return (told.year in (None, at.year)) and (told.month, told.day) == (at.month, at.day)


def _date_forms(atom: Atom) -> tuple[str, ...]:
    value = atom.value
    if isinstance(value, int):
        return (f"{value // 3600:02d}:{value // 60 % 60:02d}",)
    if isinstance(value, tuple) and not isinstance(value, Number) and value.month and value.day:
        year = f"{value.year}-" if value.year else ""
        return (f"{year}{value.month:02d}-{value.day:02d}", plain(atom.text))
    return (plain(atom.text),)


def _lines(text: str, word: str, most: int = 20) -> Iterator[str]:
    at = text.find(word)
    while at >= 0 and most:
        yield _line(text, at)
        at, most = text.find(word, at + 1), most - 1


def _line(text: str, at: int, reach: int = 300) -> str:
    start = max(text.rfind("\n", 0, at) + 1, at - reach)
    end = text.find("\n", at)
    return text[start : min(end if end >= 0 else len(text), at + reach)]


__all__ = ["Statement", "stem"]
