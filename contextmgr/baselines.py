"""Three known ways to keep a conversation inside a budget, to compare with: truncate, summarise, retrieve.

Each is played as well as it is played in practice: calls stay with their results, requests are valid, the newest
exchange is there, and the budget is used.  None of them knows what must not be lost.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

Block = dict[str, Any]
Message = dict[str, Any]
Tokens = Callable[[Sequence[Message]], int]
"""Size of a list of messages in tokens."""

LEFT_OUT = "[Earlier messages are left out.]"
SUMMARY_SHARE = 0.1
"""Of the room: what the summary may take, as products set it that keep a running summary."""
KEPT_SHARE = 0.4
"""Of the room: how much of the newest exchanges stays whole when everything older is summarised."""
RETRIEVED = 6
"""How many old messages the retriever returns."""
EXCERPT = 4_000
"""Characters of a retrieved message that are shown."""

_WORD = re.compile(r"\w{2,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(slots=True)
class PlainHistory:
    """The messages of a conversation so far; each ``starts`` entry is the index where an exchange begins."""

    messages: list[Message] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def user(self, text: str) -> None:
        """A new exchange."""
        self.starts.append(len(self.messages))
        self.messages.append(_message("user", [{"type": "text", "text": text}]))

    def assistant(self, blocks: Sequence[Block]) -> None:
        """The assistant's message."""
        self.messages.append(_message("assistant", blocks))

    def results(self, blocks: Sequence[Block]) -> None:
        """The results of all its calls."""
        self.messages.append(_message("user", blocks))


class Baseline(Protocol):
    """Chooses the messages of the next request."""

    name: str

    def messages(self, history: PlainHistory, room: int, tokens: Tokens) -> list[Message]:
        """The messages to send, ``room`` tokens at most where that can be."""
        ...


class Truncate:
    """Keep the newest messages that fit."""

    name = "truncate"

    def messages(self, history: PlainHistory, room: int, tokens: Tokens) -> list[Message]:
        """The longest end of the history that fits, calls never parted from their results."""
        return _begun(history.messages[_newest_that_fit(history.messages, room, tokens) :])


@dataclass(slots=True)
class SummarizeAll:
    """When the history is full, everything but the newest part becomes one summary, again and again.

    The summariser is extractive, so that no model is needed: the sentences that most of the others resemble, what
    people said and what stands first preferred, in their order.  It quotes where a model would reword.
    """

    name: str = "summarize-all"
    summary: str = ""
    covered: int = 0

    def messages(self, history: PlainHistory, room: int, tokens: Tokens) -> list[Message]:
        """The summary, if there is one, and everything it does not cover."""
        if tokens(self._laid(history)) > room:
            self._summarise(history, room, tokens)
        for start in _starts(history.messages, self.covered + 1):
            if tokens(self._laid(history)) <= room:
                break
            self.covered = start
        return self._laid(history)

    def _laid(self, history: PlainHistory) -> list[Message]:
        rest = history.messages[self.covered :]
        if not self.summary:
            return _begun(rest)
        return merged(
            [
                _message("user", [{"type": "text", "text": f"[Summary of the conversation so far]\n{self.summary}"}]),
                *rest,
            ]
        )

    def _summarise(self, history: PlainHistory, room: int, tokens: Tokens) -> None:
        kept = _newest_that_fit(history.messages, round(room * KEPT_SHARE), tokens)
        first = max(kept, self.covered)
        leaving = history.messages[self.covered : first]
        sentences = [s._replace(weight=1.2) for s in _sentences(self.summary, 1.2)]
        for message in leaving:
            sentences += _weighed(message)
        limit = round(room * SUMMARY_SHARE)
        self.summary = extract(sentences, lambda s: tokens([_message("user", [{"type": "text", "text": s}])]), limit)
        self.covered = first


class RetrieveOnly:
    """The old messages that match the newest question best, by BM25, and the newest two exchanges."""

    name = "retrieve-only"

    def messages(self, history: PlainHistory, room: int, tokens: Tokens) -> list[Message]:
        """What was found, in order, and then the newest exchanges; they give way from their start if too large."""
        start = next((s for s in history.starts[-2:] if tokens(history.messages[s:]) <= room), history.starts[-1])
        newest = history.messages[start:]
        if tokens(newest) > room:
            return _begun(newest[_newest_that_fit(newest, room, tokens) :])
        old = [plain(m) for m in history.messages[:start]]
        found: list[int] = []
        for i in ranked(plain(history.messages[history.starts[-1]]), old)[:RETRIEVED]:
            laid = _with_evidence(sorted([*found, i]), old, newest)
            if tokens(laid) <= room:
                found.append(i)
        return _with_evidence(sorted(found), old, newest)


def _with_evidence(found: Sequence[int], old: Sequence[str], newest: Sequence[Message]) -> list[Message]:
    blocks = [{"type": "text", "text": f"[Earlier, message {i + 1}]\n{old[i][:EXCERPT]}"} for i in found]
    return merged([_message("user", blocks), *newest]) if blocks else list(newest)


def ranked(query: str, documents: Sequence[str]) -> list[int]:
    """Indices of the documents that share a word with the query, best first (BM25, k1 = 1.2, b = 0.75)."""
    bags = [Counter(_words(d)) for d in documents]
    sizes = [sum(b.values()) for b in bags]
    mean = sum(sizes) / max(1, len(sizes)) or 1.0
    scores: dict[int, float] = {}
    for word in set(_words(query)):
        holding = [i for i, b in enumerate(bags) if word in b]
        idf = math.log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        for i in holding:
            tf = bags[i][word]
            scores[i] = scores.get(i, 0.0) + idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * sizes[i] / mean))
    return sorted(scores, key=lambda i: (-scores[i], -i))


class _Sentence(NamedTuple):
    """A sentence, what its centrality is multiplied by, and whether it goes on a line with the one before."""

    text: str
    weight: float
    goes_on: bool = False


def extract(sentences: Sequence[_Sentence], tokens: Callable[[str], int], limit: int) -> str:
    """The most central sentences that fit ``limit`` tokens, in their order; neighbours of one line stay together."""
    bags = [set(_words(s.text)) for s in sentences]
    holding = Counter(word for bag in bags for word in bag)
    count = max(1, len(bags))

    def central(i: int) -> float:
        shared = sum(math.log(1 + count / holding[w]) * (holding[w] - 1) / count for w in bags[i])
        return sentences[i].weight * shared / math.sqrt(1 + len(bags[i]))

    chosen: set[int] = set()
    used = 0
    for i in sorted(range(len(sentences)), key=lambda i: (-central(i), i)):
        size = tokens(sentences[i].text)
        if used + size <= limit:
            chosen.add(i)
            used += size
    out = ""
    for i in sorted(chosen):
        out += (" " if sentences[i].goes_on and i - 1 in chosen else "\n") + sentences[i].text
    return out.lstrip("\n")


def _weighed(message: Message) -> list[_Sentence]:
    """A message's sentences: its words, and the first line of each tool output."""
    out: list[_Sentence] = []
    for block in message["content"]:
        if block["type"] == "text":
            out += _sentences(block["text"], 1.5 if message["role"] == "user" else 1.0)
        elif block["type"] == "tool_result":
            out += _sentences(str(block["content"]).lstrip().partition("\n")[0], 0.3)
    return out


def _sentences(text: str, weight: float) -> list[_Sentence]:
    out: list[_Sentence] = []
    for line in text.splitlines():
        for i, sentence in enumerate(_SENTENCE.split(line.strip())):
            if 1 < len(sentence.split()) <= 60:
                out.append(_Sentence(sentence, weight * (1.0 if out else 1.3), i > 0))
    return out


def plain(message: Message) -> str:
    """A message's words, calls and results as text."""
    return "\n".join(map(_plain_block, message["content"]))


def _plain_block(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
    return str(block.get("content", ""))


def _words(text: str) -> list[str]:
    return [w.casefold() for w in _WORD.findall(text)]


def _newest_that_fit(messages: Sequence[Message], room: int, tokens: Tokens) -> int:
    """Index of the first message of the longest end that fits and does not begin with results."""
    first = len(messages) - 1
    while _has_results(messages[first]):
        first -= 1
    start = first
    while start > 0 and tokens(_begun(messages[start - 1 :])) <= room:
        start -= 1
        if not _has_results(messages[start]):
            first = start
    return first


def _starts(messages: Sequence[Message], at: int) -> list[int]:
    """Where a request may begin, from ``at`` on: not between a call and its result."""
    return [i for i in range(at, len(messages)) if not _has_results(messages[i])]


def _begun(messages: Sequence[Message]) -> list[Message]:
    """The messages, opened by a user message where they begin with the assistant's."""
    if messages and messages[0]["role"] == "assistant":
        return [_message("user", [{"type": "text", "text": LEFT_OUT}]), *messages]
    return list(messages)


def _has_results(message: Message) -> bool:
    return any(b["type"] == "tool_result" for b in message["content"])


def merged(messages: Iterable[Message]) -> list[Message]:
    """Neighbours of one role joined, as the Messages API reads them anyway."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1]["role"] == message["role"]:
            out[-1] = _message(message["role"], [*out[-1]["content"], *message["content"]])
        else:
            out.append(message)
    return out


def _message(role: str, blocks: Sequence[Block]) -> Message:
    return {"role": role, "content": list(blocks)}


def baselines() -> tuple[Baseline, ...]:
    """One of each, with nothing remembered yet."""
    return (Truncate(), SummarizeAll(), RetrieveOnly())
