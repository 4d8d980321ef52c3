"""What turns say, indexed for checking: the words of each in sentences, its tool calls and results as data.

Law: words and data are kept apart.  What a tool returned, or what a call contained, is nobody's word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from contextmgr.checks.sentences import Sentence, sentences
from contextmgr.checks.words import plain
from contextmgr.turns import Status, Turn, is_thinking

_OPAQUE = frozenset({"data", "signature", "encrypted_content", "encrypted_index", "id", "tool_use_id", "type"})
_MATCHES = 8
_STOPS = frozenset(".!?…。！？")
_BEGINS = re.compile(r"(?:^|[\n.!?…。！？])[\s\"'”’)\]*_#>+|\[•-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?[*_\"'“(]*$")
_BREAKS = re.compile(r"[\s*_\"'”’)\]]*(?:\n|$)|[*_\"'”’)\]]*[.!?…。！？]")


class Match(NamedTuple):
    """A sentence that shares words with a statement: ``share`` is the part of the statement's words it holds."""

    sentence: Sentence
    turn: int
    share: float
    closeness: float


class Source:
    """One turn: its sentences and which word stands in which, computed when first needed."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    @property
    def number(self) -> int:
        """The turn's number."""
        return self.turn.number

    @property
    def is_user(self) -> bool:
        """Whether the user (or the operator) speaks."""
        return self.turn.role == "user"

    @cached_property
    def words(self) -> str:
        """What was said in words."""
        return self.turn.text

    @cached_property
    def plain(self) -> str:
        """What was said in words, as searched."""
        return plain(self.words)

    @cached_property
    def squeezed(self) -> str:
        """The same with every stretch of blanks as one, and without marks of emphasis: where quotes are searched."""
        return squeezed(self.words)

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        """The sentences of the words, in order."""
        return sentences(self.words)

    @cached_property
    def raw_data(self) -> str:
        """Calls, results and documents as one text."""
        return "\n".join(_data(self.turn))

    @cached_property
    def data(self) -> str:
        """The same as searched."""
        return plain(self.raw_data)

    @cached_property
    def squeezed_data(self) -> str:
        """The data as quotes are searched in."""
        return squeezed(self.raw_data)

    def data_share(self, bag: frozenset[str]) -> float:
        """Share of some words that the data hold."""
        return sum(w in self.data for w in bag) / len(bag)

    def is_sentence(self, text: str) -> bool:
        """Whether a text stands in the words as whole sentences, not cut out of one."""
        at = self.words.find(text)
        while at >= 0:
            if _BEGINS.search(self.words, max(0, at - 40), at) and (
                text.rstrip()[-1:] in _STOPS or _BREAKS.match(self.words, at + len(text))
            ):
                return True
            at = self.words.find(text, at + 1)
        return False

    @cached_property
    def index(self) -> Mapping[str, Sequence[int]]:
        """For each content word the positions of the sentences that hold it."""
        found: dict[str, list[int]] = {}
        for at, sentence in enumerate(self.sentences):
            for word in sentence.bag:
                found.setdefault(word, []).append(at)
        return found


class Sources(Mapping[int, Turn]):
    """Turns by number that remember what was computed about them: make one for all items of a range.

    Turns that were withdrawn or erased are left out: nothing may be taken from them any more.
    """

    def __init__(self, turns: Mapping[int, Turn]) -> None:
        self._turns = {n: t for n, t in turns.items() if t.withdrawn is None and t.status is not Status.ERASED}
        self._sources: dict[int, Source] = {}

    def __getitem__(self, number: int) -> Turn:
        return self._turns[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._turns)

    def __len__(self) -> int:
        return len(self._turns)

    def source(self, number: int) -> Source:
        """The index of one turn.  Raises ``KeyError`` for a turn that is not there."""
        if number not in self._sources:
            self._sources[number] = Source(self._turns[number])
        return self._sources[number]


def matches(bag: frozenset[str], sources: Iterable[Source], most: int = _MATCHES) -> list[Match]:
    """The sentences that share most of a statement's words, best first; the shorter of two that share as many."""
    found: list[Match] = []
    for source in sources:
        counts = Counter(at for word in bag for at in source.index.get(word, ()))
        for at, shared in counts.most_common(most):
            sentence = source.sentences[at]
            union = len(bag) + len(sentence.bag) - shared
            found.append(Match(sentence, source.number, shared / len(bag), shared / union))
    return sorted(found, key=lambda m: (-m.share, -m.closeness, m.turn, m.sentence.start))[:most]


def squeezed(text: str) -> str:
    """A text as quotes are searched in."""
    return " ".join(plain(text).replace("*", "").replace("`", "").replace("'", '"').split())


def _data(turn: Turn) -> Iterator[str]:
    for block in turn.blocks:
        if block.get("type") != "text" and not is_thinking(block):
            yield from _strings(block)
    for result in turn.results:
        yield from _strings(result.body.get("content"))


def _strings(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        yield f"{key}: {value}" if key and "\n" not in value else value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in _OPAQUE or (name == "data" and value.get("type") == "text"):
                yield from _strings(inner, str(name))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner, key)
    elif value is not None:
        yield f"{key}: {value}"
