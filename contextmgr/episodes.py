"""Where a conversation goes over to something else, and the pieces its turns are summarised in.

Laws: episodes and pieces follow one another, cover every turn given and never split one; an episode begins at a user
turn.  Whether it does, is decided from that turn and what came before, so turns that are appended change no border,
and no piece but the last.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from contextmgr.features import total
from contextmgr.terms import terms
from contextmgr.turns import Turn

Why = Literal["begin", "time gap", "change of subject", "completed task"]

GAP = timedelta(hours=2)
FAMILIAR = 0.25
"""Share of a user turn's weight in words below which, if the episode has not used them, the subject has changed."""
FAMILIAR_WHEN_DONE = 0.35
"""The same where the task before it was completed."""
MIN_TERMS = 6
"""Different words a user turn must have for its subject to be judged, and it must follow an answer."""
REMEMBERED = 4
"""Exchanges back that an episode's words are remembered."""
_READ = 4_000  # characters of one text that are looked at

_DONE_COMMAND = re.compile(
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:commit|push|merge|tag)\b|\bgh\s+(?:pr|release|issue)\s+(?:create|merge|close|comment)\b"
    r"|\bnpm\s+publish\b|\bjj\s+(?:describe|git push)\b",
)
_EDITING_TOOLS = re.compile("edit|write|patch|create", re.IGNORECASE)
_LIST_TOOLS = re.compile(r"todo|task|plan", re.IGNORECASE)
_MIN_SHARE, _BORDER_SHARE, _SMALL_SHARE = 0.4, 0.5, 0.25


@dataclass(frozen=True, slots=True)
class Episode:
    """Turns ``first..last``, consecutive exchanges on one subject; ``why`` says what let it begin there."""

    first: int
    last: int
    why: Why


def episodes(
    turns: Sequence[Turn],
    *,
    gap: timedelta = GAP,
    familiar: float = FAMILIAR,
    familiar_when_done: float = FAMILIAR_WHEN_DONE,
) -> list[Episode]:
    """The episodes of these turns, in order; [] for no turns.

    A new one begins at a user turn said ``gap`` or more after the turn before it; at one whose words the episode has
    hardly used (share of their weight at most ``familiar``, 0 to 1); and at one that follows a completed task (work
    committed, a task list finished) and is not plainly about it (at most ``familiar_when_done``).
    """
    reader = _Reader(gap, familiar, familiar_when_done)
    starts = [(turn.number, why) for turn in turns if (why := reader.read(turn)) is not None]
    lasts = _lasts([number for number, _ in starts], turns)
    return [Episode(first, last, why) for (first, why), last in zip(starts, lasts, strict=True)]


def segments(turns: Sequence[Turn], *, tokens: int, gap: timedelta = GAP) -> list[tuple[int, int]]:
    """First and last turn number of each piece of about ``tokens`` source tokens (unweighted, results included).

    A piece is cut at the last border of an episode in it, else of an exchange, that leaves it at least about half
    full; an exchange that is larger is cut between its turns.  A piece is larger than ``tokens`` only by a turn that
    is so itself, or that joins a piece less than a quarter full.  The last piece may still grow.
    """
    begins = {e.first for e in episodes(turns, gap=gap)}
    cutter = _Cutter(tokens)
    for turn in turns:
        cutter.add(turn, 2 if turn.number in begins else int(turn.role == "user"))
    starts = cutter.starts
    return list(zip(starts, _lasts(starts, turns), strict=True))


def source_tokens(turn: Turn) -> int:
    """Unweighted tokens of a turn with its results, without thinking."""
    return sum(total([turn.features, *(result.features for result in turn.results)]))


def _lasts(starts: Sequence[int], turns: Sequence[Turn]) -> list[int]:
    """The last number of each stretch that begins at one of ``starts``."""
    before = dict(zip((t.number for t in turns[1:]), (t.number for t in turns), strict=False))
    return [before[start] for start in starts[1:]] + [t.number for t in turns[-1:]]


class _Cutter:
    """Closes a piece when the next turn does not fit; what is behind the cut is the beginning of the next piece."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.starts: list[int] = []
        self._piece: list[tuple[int, int, int]] = []  # number, tokens, rank of the border before the turn
        self._size = 0

    def add(self, turn: Turn, rank: int) -> None:
        """Take the next turn; ``rank`` of the border before it: 0 none, 1 an exchange's, 2 an episode's."""
        size = source_tokens(turn)
        while self._size + size > self.tokens and self._size >= _SMALL_SHARE * self.tokens and self._piece:
            self._close(rank)
        if not self._piece:
            self.starts.append(turn.number)
        self._piece.append((turn.number, size, rank))
        self._size += size

    def _close(self, rank: int) -> None:
        at = self._cut(rank)
        self._size -= sum(size for _, size, _ in self._piece[:at])
        del self._piece[:at]
        self.starts += [number for number, _, _ in self._piece[:1]]

    def _cut(self, rank: int) -> int:
        """How many turns of the piece are before the cut: all of them, or as many as end at the best border."""
        best, at = rank, len(self._piece)
        size = self._size
        for position in range(len(self._piece) - 1, 0, -1):
            number_size, border = self._piece[position][1], self._piece[position][2]
            size -= number_size
            if border > best and size >= (_MIN_SHARE if border == 2 else _BORDER_SHARE) * self.tokens:
                best, at = border, position
        return at


@dataclass(slots=True)
class _Reader:
    """Reads turns in order and says where an episode begins, from what it has read so far."""

    gap: timedelta
    familiar: float
    familiar_when_done: float
    exchanges: int = 0
    spread: Counter[str] = field(default_factory=Counter)  # in how many exchanges a word was used
    recent: deque[set[str]] = field(default_factory=lambda: deque([set()], maxlen=REMEMBERED))
    latest: datetime | None = None
    started: bool = False
    answered: bool = False  # whether the turn before ended an exchange
    done: bool = False

    def read(self, turn: Turn) -> Why | None:
        """Why an episode begins at this turn, or None."""
        why = self._judge(turn)
        if turn.role == "user":
            self.exchanges += 1
            self.done = False
            if why is not None:
                self.recent.clear()
            self.recent.append(set())
        self._learn(turn)
        return why

    def _judge(self, turn: Turn) -> Why | None:
        if not self.started:
            return "begin"
        if turn.role != "user":
            return None
        if turn.said_at is not None and self.latest is not None and turn.said_at - self.latest >= self.gap:
            return "time gap"
        words = set(_words(turn)) if self.answered else set[str]()
        if len(words) < MIN_TERMS:
            return None
        share = self._share(words)
        if share <= self.familiar:
            return "change of subject"
        return "completed task" if self.done and share <= self.familiar_when_done else None

    def _share(self, words: set[str]) -> float:
        """How much of the words' weight the episode has used: the rarer a word so far, the heavier."""
        known = set().union(*self.recent)
        weights = {w: math.log(1 + (1 + self.exchanges) / (0.5 + self.spread[w])) for w in words}
        return sum(weights[w] for w in words & known) / sum(weights.values())

    def _learn(self, turn: Turn) -> None:
        used = set(_words(turn)) - self.recent[-1]
        self.recent[-1] |= used
        self.spread.update(used)
        self.started, self.answered = True, turn.ends_exchange
        self.latest = max((at for at in _times(turn, self.latest) if at is not None), default=None)
        self.done = _is_done(turn, self.done)


def _times(turn: Turn, latest: datetime | None) -> Iterator[datetime | None]:
    yield latest
    yield turn.said_at
    yield from (result.said_at for result in turn.results)


def _words(turn: Turn) -> Iterable[str]:
    yield from terms(turn.text[:_READ])
    for call in turn.calls:
        given = call.get("input")
        if isinstance(given, dict):
            yield from (w for v in given.values() if isinstance(v, str) and len(v) < 300 for w in terms(v))


def _is_done(turn: Turn, done: bool) -> bool:
    """Whether a task is completed after this turn: its work was committed or its list ticked off, and no more done."""
    in_place = turn.in_place
    for position, call in enumerate(turn.calls):
        given = call.get("input")
        succeeded = position in in_place and not in_place[position].is_error
        if not isinstance(given, dict) or not succeeded:
            continue
        name = str(call.get("name"))
        if any(isinstance(v, str) and _DONE_COMMAND.search(v[:_READ]) for v in given.values()):
            done = True
        elif _LIST_TOOLS.search(name):
            done = _is_list_done(given, done)
        elif _EDITING_TOOLS.search(name):
            done = False
    return done


def _is_list_done(given: dict[str, object], done: bool) -> bool:
    """Whether a call that keeps a task list ticks off everything on it."""
    states = [
        str(item.get("status")) for v in given.values() if isinstance(v, list) for item in v if isinstance(item, dict)
    ]
    if not states:
        return done
    return all(state in {"completed", "done", "cancelled"} for state in states)
