"""What requests cost under prompt caching: one meter for every policy, so that their costs compare.

The rules are those of docs/accounting.md.  A cache entry is a prefix of blocks (tools, system, messages, in this
order) that ended at a cache mark of an earlier request.  Everything here is exact given the token counts; no clock
is read: the caller says when each request started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from contextmgr import jsontext
from contextmgr.models import ModelEntry
from contextmgr.turns import is_blank, is_thinking

LOOK_BACK = 20  # positions a read looks back from a mark, the mark's own included
HOUR = 3600.0  # seconds an unused entry lives when its mark said ttl "1h"

Part = Mapping[str, Any]

_PER_TOKEN = 1e-6  # prices are dollars per million tokens
_ONE_POSITION = frozenset({"tool_use", "tool_result"})  # a run of these is one position
_MESSAGE_SETTINGS = ("tool_choice", "thinking", "output_config")  # a change loses the messages only
_PRUNE_ABOVE = 512  # entries; dead ones are dropped past this, so that a long replay stays small


@dataclass(frozen=True, slots=True)
class Charge:
    """One request's input in tokens, by price, and its cost in dollars; output is not in it."""

    written: int
    read: int
    uncached: int
    cost: float

    @property
    def total(self) -> int:
        """All input tokens of the request."""
        return self.written + self.read + self.uncached


class Meter:
    """Charges requests in the order they were sent, remembering what the cache holds.

    ``tokens`` sizes one block, tool or system block; it is asked once per distinct value.  ``ttl_seconds`` is the
    lifetime of entries whose mark does not say "1h".  ``key`` identifies a block's content and must ignore
    ``cache_control``; the default hashes its JSON, `identity_key` does so once per
    object.  One meter is one conversation's cache, not thread-safe.
    """

    def __init__(
        self,
        model: ModelEntry,
        tokens: Callable[[Part], int],
        *,
        ttl_seconds: float = 300.0,
        key: Callable[[Part], bytes] | None = None,
    ) -> None:
        self.model = model
        self._tokens = tokens
        self._ttl_seconds = ttl_seconds
        self._key = key or content_key
        self._sizes: dict[bytes, int] = {}
        self._entries: dict[bytes, _Entry] = {}

    def charge(self, params: Part, now: float) -> Charge:
        """Charge one request as sent.  ``now`` is its start in seconds, on any clock, never going back."""
        path = self._path(params)
        total = path[-1].tokens if path else 0
        marks = [i for i, step in enumerate(path) if step.lifetime and step.tokens >= self.model.cache_minimum]
        hit = max((self._look_back(path, mark, now) for mark in marks), default=-1)
        self._remember(path, [*marks, hit] if hit >= 0 else marks, now)
        read = path[hit].tokens if hit >= 0 else 0
        end = path[marks[-1]].tokens if marks else 0
        hour = max((path[mark].tokens for mark in marks if path[mark].lifetime == HOUR), default=0)
        written_1h = max(hour - read, 0)
        return self._priced(total, read, written_1h, end - read - written_1h)

    def output_cost(self, tokens: int, prompt_tokens: int = 0) -> float:
        """Dollars for ``tokens`` of output; ``prompt_tokens`` selects the price list where there are two."""
        return tokens * self.model.prices(prompt_tokens).output_price * _PER_TOKEN

    def _priced(self, total: int, read: int, written_1h: int, written_5m: int) -> Charge:
        prices = self.model.prices(total)
        uncached = total - read - written_1h - written_5m
        dollars = (
            uncached * prices.input_price
            + read * prices.read_price
            + written_5m * prices.write_5m_price
            + written_1h * prices.write_1h_price
        )
        return Charge(written_5m + written_1h, read, uncached, dollars * _PER_TOKEN)

    def _path(self, params: Part) -> list[_Step]:
        """The request's blocks as steps, each knowing the whole prefix that ends with it."""
        steps: list[_Step] = []
        prefix = str(params.get("model")).encode()
        tokens, position, previous = 0, 0, ("", "")
        for tag, block in _walk(params):
            key = self._key(block)
            size = self._sizes.get(key)
            if size is None:
                size = self._sizes[key] = self._tokens(block)
            kind = (tag, str(block.get("type")))
            if kind != previous or kind[1] not in _ONE_POSITION:
                position += 1
            previous = kind
            tokens += size
            prefix = blake2b(b"%b\0%b\0%b" % (prefix, tag.encode(), key), digest_size=16).digest()
            steps.append(_Step(prefix, tokens, position, self._lifetime(block.get("cache_control"))))
        if params.get("cache_control") and (last := _last_markable(params)) is not None:
            steps[last] = steps[last]._replace(lifetime=self._lifetime(params["cache_control"]))
        return steps

    def _lifetime(self, mark: Part | None) -> float:
        if not mark:
            return 0.0
        return HOUR if mark.get("ttl") == "1h" else self._ttl_seconds

    def _look_back(self, path: list[_Step], mark: int, now: float) -> int:
        """Index of the longest live entry within reach of the mark, or -1."""
        oldest = path[mark].position - LOOK_BACK + 1
        for index in range(mark, -1, -1):
            if path[index].position < oldest:
                break
            entry = self._entries.get(path[index].prefix)
            if entry is not None and now < entry.dies:
                return index
        return -1

    def _remember(self, path: list[_Step], used: Iterable[int], now: float) -> None:
        """Write or refresh the entries at ``used``; a live entry keeps the lifetime it was written with."""
        for index in used:
            step = path[index]
            old = self._entries.get(step.prefix)
            lifetime = old.lifetime if old is not None and now < old.dies else step.lifetime
            self._entries[step.prefix] = _Entry(lifetime, now + lifetime)
        if len(self._entries) > _PRUNE_ABOVE:
            self._entries = {prefix: entry for prefix, entry in self._entries.items() if now < entry.dies}


class _Entry(NamedTuple):
    lifetime: float
    dies: float


class _Step(NamedTuple):
    """One block: hash of the prefix that ends with it, tokens up to here, its position, its mark's lifetime or 0."""

    prefix: bytes
    tokens: int
    position: int
    lifetime: float


def content_key(block: Part) -> bytes:
    """A digest of a block's value without its ``cache_control``; equal values have equal digests."""
    if "cache_control" in block:
        block = {name: value for name, value in block.items() if name != "cache_control"}
    return blake2b(jsontext.canonical(block).encode("ascii"), digest_size=16).digest()


def identity_key() -> Callable[[Part], bytes]:
    """A faster ``key`` for callers that send the same block objects again and never change them.

    Each object is hashed once and held, so that its identity stays its own; blocks made anew for every request
    would only pile up here.
    """
    seen: dict[int, tuple[Part, bytes]] = {}

    def key(block: Part) -> bytes:
        known = seen.get(id(block))
        if known is None:
            known = seen[id(block)] = (block, content_key(block))
        return known[1]

    return key


def _walk(params: Part) -> Iterator[tuple[str, Part]]:
    """Blocks in cache order, each with a tag for its place: section, role, and what else must be equal there.

    Neighbouring messages of one role have equal tags: the API merges them.
    """
    for tool in params.get("tools") or ():
        yield "tools", tool
    for block in _blocks(params.get("system")):
        yield "system", block
    settings = jsontext.canonical({name: params.get(name) for name in _MESSAGE_SETTINGS})
    for message in params.get("messages") or ():
        for block in _blocks(message["content"]):
            yield f"{settings} {message['role']}", block


def _blocks(content: str | Iterable[Part] | None) -> Iterable[Part]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},) if content else ()
    return content or ()


def _last_markable(params: Part) -> int | None:
    fits = [i for i, (_, block) in enumerate(_walk(params)) if not is_thinking(block) and not is_blank(block)]
    return fits[-1] if fits else None
