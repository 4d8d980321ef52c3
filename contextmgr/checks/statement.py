"""One sentence of an item, and the sentences of turns that it was put together from.

Laws: what speaks for the user is looked for in the user's own words only; what is told of the assistant, in the
assistant's turns only.  A sentence is a source by the words it shares, names and numbers aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from contextmgr.checks.atoms import Atom, atoms
from contextmgr.checks.claims import Claim, Speaker
from contextmgr.checks.identifiers import occurs
from contextmgr.checks.polarity import Cue, cues
from contextmgr.checks.sentences import Sentence
from contextmgr.checks.sources import Match, Source, matches
from contextmgr.checks.words import content, flow

LEAST = 0.34
"""Share of a statement's words below which a sentence is no source of it."""
BESIDE = 2
"""How many sentences before and after one belong to its passage."""
_EQUALS = 0.9
_AS_CLOSE = 0.6
_MOST_GROUPS = 4


@dataclass(frozen=True)
class Statement:
    """A sentence of an item, what it claims about who said it, and the turns that may bear it out.

    ``sources`` speak for it, ``context`` are sentences of the assistant that the user said yes to.  A match with one
    of these has turn 0.
    """

    text: str
    claim: Claim
    sources: Sequence[Source]
    context: Sequence[Sentence] = ()

    @property
    def from_user(self) -> bool:
        """Whether only the user's words count."""
        return self.claim.speaker is Speaker.USER

    @property
    def where(self) -> str:
        """The turns that count, for a reason."""
        numbers = ", ".join(str(s.number) for s in self.sources)
        words = "the user's words in " if self.from_user else ""
        return f"{words}turn{'s' if len(self.sources) > 1 else ''} {numbers}"

    @cached_property
    def flow(self) -> list[str]:
        """Its words without those of the claim."""
        return flow(self.claim.rest)

    @cached_property
    def bag(self) -> frozenset[str]:
        """Its content words."""
        return content(self.flow)

    @cached_property
    def cues(self) -> Sequence[Cue]:
        """Its negations."""
        return cues(self.flow)

    @cached_property
    def atoms(self) -> Sequence[Atom]:
        """Its numbers, dates and names."""
        return atoms(self.text)

    @cached_property
    def core(self) -> frozenset[str]:
        """Its content words that are no part of a name."""
        names = (a.text for a in self.atoms if a.kind == "identifier" and not a.loose)
        return self.bag - frozenset[str]().union(*map(content, map(flow, names)))

    @cached_property
    def matches(self) -> Sequence[Match]:
        """The sentences nearest to it, best first."""
        if not self.bag:
            return ()
        found = matches(self.bag, self.sources)
        agreed = [_match(self.bag, sentence, 0) for sentence in self.context]
        return sorted([*found, *(m for m in agreed if m.share)], key=lambda m: (-m.share, -m.closeness))

    @cached_property
    def cover(self) -> Sequence[Sequence[Match]]:
        """The sentences it was put together from: groups of equals, each group with words that those before lack.

        In a group comes first what has most of its names and numbers.
        """
        groups: list[list[Match]] = []
        missing = self.bag
        while missing and len(groups) < _MOST_GROUPS:
            gains = [(len(missing & m.sentence.bag), m) for m in self.matches]
            best, closest = max(((g, m.closeness) for g, m in gains), default=(0, 0.0))
            if not best or (groups and best < max(2, 0.3 * len(missing))):
                break
            group = [m for g, m in gains if g >= _EQUALS * best and m.closeness >= _AS_CLOSE * closest]
            groups.append(sorted(group, key=lambda m: -sum(holds(m.sentence, a) for a in self.atoms)))
            missing = (missing - groups[-1][0].sentence.bag) & (self.core or self.bag)
        return groups

    @cached_property
    def share(self) -> float:
        """Share of its words in the sentence nearest to it."""
        return self.matches[0].share if self.matches else 0.0

    @cached_property
    def core_share(self) -> float:
        """Share of its words, names aside, in the sentence it was taken from first."""
        return len(self.core & self.cover[0][0].sentence.bag) / len(self.core) if self.cover and self.core else 0.0

    @cached_property
    def passage(self) -> Sequence[Match]:
        """The sentences it was put together from, with those that stand right beside them."""
        tops = [g[0] for g in self.cover]
        places = {(m.turn, m.sentence.number + step) for m in tops for step in range(-BESIDE, BESIDE + 1)}
        found = list(tops)
        for source in self.sources:
            beside = (
                source.sentences[n]
                for turn, n in sorted(places)
                if turn == source.number and 0 <= n < len(source.sentences)
            )
            found += [_match(self.bag, s, source.number) for s in beside if all(s is not m.sentence for m in tops)]
        return found

    @cached_property
    def near_share(self) -> float:
        """Share of its words in the passage around the first sentence it was taken from."""
        if not self.cover:
            return 0.0
        top = self.cover[0][0]
        same = (m for m in self.passage if m.turn == top.turn)
        return self._held([m for m in same if abs(m.sentence.number - top.sentence.number) <= BESIDE])

    @cached_property
    def covered(self) -> float:
        """Share of its words in all sentences it was put together from."""
        return self._held([g[0] for g in self.cover])

    def _held(self, found: Sequence[Match]) -> float:
        held = frozenset[str]().union(*(m.sentence.bag for m in found))
        return len(self.bag & held) / len(self.bag) if self.bag else 1.0


def _match(bag: frozenset[str], sentence: Sentence, turn: int) -> Match:
    shared = len(bag & sentence.bag)
    return Match(sentence, turn, shared / max(1, len(bag)), shared / max(1, len(bag | sentence.bag)))


def holds(sentence: Sentence, atom: Atom) -> bool:
    """Whether a sentence holds a name, number or date, in whatever form; a number also as part of a name (``v3``)."""
    if isinstance(atom.value, str):
        return occurs(atom.value, sentence.plain)
    return any(atom.agrees(a) for a in sentence.atoms) or atom.is_in_name(sentence.atoms)
