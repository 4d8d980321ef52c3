"""Rebuilds a conversation from its pieces in file order, and keeps the laws of `contextmgr.transcripts.session`.

A round is one reply, the results of its calls and what was said before the next reply.  Pieces find their round by
message id or call id, so lines written out of order still end where the model saw them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from contextmgr.errors import TurnError
from contextmgr.transcripts.fields import items, mapping
from contextmgr.transcripts.session import Event, Replied, Returned, Said, Session, names_called
from contextmgr.turns import Block, Usage, is_thinking, pair, to_blocks

MAX_NAME_CHARS = 128
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NOT_SAID = frozenset({"tool_use", "server_tool_use", "tool_result"})
_WITH_SOURCE = frozenset({"image", "document"})


def clean_name(name: object) -> str:
    """A tool name or call id the API accepts: letters, digits, ``_`` and ``-``, at most 128 of them."""
    return _NOT_IN_NAMES.sub("_", name)[:MAX_NAME_CHARS] if isinstance(name, str) and name else "unnamed"


@dataclass(slots=True)
class _Round:
    reply: Replied
    ids: list[Block] = field(default_factory=list)  # per call: "id" as recorded, "clean" as kept
    taken: set[int] = field(default_factory=set)
    returned: list[Returned] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        """Whether the reply asks for nothing and nothing was said after it: the next one continues it."""
        return not self.ids and not self.said and self.reply.stop_reason != "pause_turn"

    def events(self, *, is_last: bool) -> Iterator[Event]:
        """The round in order, with a notice where a reply would otherwise follow calls without results."""
        yield self.reply
        yield from self.returned
        yield from self.said
        missing = len(self.ids) - len(self.taken)
        if missing and not self.said and not is_last:
            notice = f"[The recording holds no result for {missing} of the calls above.]"
            yield Said(blocks=({"type": "text", "text": notice},), at=self.reply.at, human=False)


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Collects one conversation.  What cannot be used is dropped and counted in ``skipped``; nothing raises."""

    system: str | None = None
    tools: tuple[dict[str, object], ...] = ()
    title: str | None = None
    sidechain: bool = False
    compactions: int = 0
    skipped: int = 0
    _opening: list[Said] = field(default_factory=list)
    _rounds: list[_Round] = field(default_factory=list)
    _by_message: dict[str, _Round] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or replied yet."""
        return not self._opening and not self._rounds

    def said(
        self, content: object, *, at: datetime | None = None, source: str | None = None, human: bool = True
    ) -> None:
        """Record a user message: a string or blocks; blocks no user can send are dropped."""
        blocks = [b for b in self._blocks(content) if self._keep(b["type"] not in _NOT_SAID and not is_thinking(b))]
        try:
            said = Said(blocks=tuple(blocks), at=at, source=source, human=human)
        except TurnError:
            self.skipped += 1
        else:
            (self._rounds[-1].said if self._rounds else self._opening).append(said)

    def replied(
        self,
        content: object,
        *,
        message_id: str | None = None,
        stop_reason: str | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        at: datetime | None = None,
    ) -> None:
        """Record an assistant message, or the next piece of the one with the same ``message_id``."""
        pieces = [(b.get("id"), piece) for b in self._blocks(content) for piece in self._reply_block(b)]
        if not pieces and content not in ([], ""):
            self.skipped += 1
            return
        one = self._round_of(message_id, at)
        if one is not self._rounds[-1]:
            pieces = [p for p in pieces if p[1] not in one.reply.blocks]  # a resumed client copied the line
        one.ids += [{"id": raw, "clean": piece["id"]} for raw, piece in pieces if piece["type"] == "tool_use"]
        one.reply = replace(
            one.reply,
            blocks=one.reply.blocks + tuple(piece for _, piece in pieces),
            stop_reason=stop_reason or one.reply.stop_reason,
            model=model or one.reply.model,
            usage=usage or one.reply.usage,
        )

    def returned(self, content: object, *, at: datetime | None = None) -> None:
        """Record tool results, each beside its call; results that answer no open call are dropped."""
        for block in self._blocks(content):
            one = self._answer(block)
            if one is None:
                self.skipped += 1
            elif one.returned and one.returned[-1].at == at:
                one.returned[-1] = replace(one.returned[-1], blocks=(*one.returned[-1].blocks, block))
            else:
                one.returned.append(Returned(blocks=(block,), at=at))

    def user_message(self, content: object, *, at: datetime | None, source: str | None, human: bool = True) -> None:
        """Record a user message of the Messages API: its tool results first, then what else it says."""
        results = [b for b in items(content) if mapping(b).get("type") == "tool_result"]
        rest = [b for b in items(content) if mapping(b).get("type") != "tool_result"] if results else content
        self.returned(results, at=at)
        if rest or not results:
            self.said(rest, at=at, source=source, human=human)

    def note_usage(self, usage: Usage | None) -> None:
        """Give the last reply the usage that was recorded after it, unless it has one."""
        if self._rounds and self._rounds[-1].reply.usage is None:
            self._rounds[-1].reply = replace(self._rounds[-1].reply, usage=usage)

    def open_ids(self) -> list[Any]:
        """Recorded ids of the last reply's calls that have no result yet, in call order."""
        last = self._rounds[-1:]
        return [c["id"] for one in last for i, c in enumerate(one.ids) if i not in one.taken]

    def session(self, *, file: str, format: str, index: int) -> Session | None:
        """The finished conversation, or None when nothing of it could be kept."""
        events = tuple(self._events())
        if not events:
            return None
        return Session(
            file=file,
            format=format,
            index=index,
            events=events,
            system=self.system,
            tools=self.tools,
            tool_names=names_called(events),
            client_compactions=self.compactions,
            skipped=self.skipped,
            title=self.title,
            sidechain=self.sidechain,
        )

    def _keep(self, is_usable: bool) -> bool:
        self.skipped += not is_usable
        return is_usable

    def _blocks(self, content: object) -> list[Block]:
        kept: list[Block] = []
        for raw in [content] if isinstance(content, (str, Mapping)) else items(content):
            try:
                blocks = to_blocks(raw if isinstance(raw, str) else [raw])
            except TurnError:
                self.skipped += 1
            else:
                kept += [b for b in blocks if self._keep(_has_its_source(b))]
        return kept

    def _reply_block(self, block: Block) -> tuple[Block, ...]:
        """The block with names the API accepts, or nothing when no model can say it."""
        if block["type"] == "tool_use":
            block = {**block, "id": clean_name(block.get("id")), "name": clean_name(block.get("name"))}
        try:
            return Replied(blocks=(block,)).blocks
        except TurnError:
            self.skipped += 1
            return ()

    def _round_of(self, message_id: str | None, at: datetime | None) -> _Round:
        known = self._by_message.get(message_id) if message_id else None
        if known is None:
            known = _Round(Replied(blocks=(), at=at, message_id=message_id))
            self._rounds.append(known)
            if message_id:
                self._by_message[message_id] = known
        return known

    def _answer(self, block: Block) -> _Round | None:
        """The newest round with an open call of this id; the call is taken and its cleaned id copied."""
        for one in reversed(self._rounds):
            position = pair(one.ids, one.taken, block.get("tool_use_id", ""))
            if position is None:
                continue
            block["tool_use_id"] = one.ids[position]["clean"]
            try:
                Returned(blocks=(block,))
            except TurnError:
                return None
            one.taken.add(position)
            return one
        return None

    def _events(self) -> Iterator[Event]:
        opening, rounds = self._opening, self._rounds
        if not opening:  # replies before the first thing said answer nothing we know of
            start = next((i for i, one in enumerate(rounds) if one.said), len(rounds) - 1)
            self.skipped += start + 1
            opening, rounds = (rounds[start].said if rounds else []), rounds[start + 1 :]
        joined = _joined(rounds)
        yield from opening
        for number, one in enumerate(joined, 1):
            yield from one.events(is_last=number == len(joined))


def _has_its_source(block: Block) -> bool:
    return block["type"] not in _WITH_SOURCE or isinstance(block.get("source"), Mapping)


def _joined(rounds: Iterable[_Round]) -> list[_Round]:
    """Rounds with a reply that directly continues the one before made part of it: the API takes them as one."""
    joined: list[_Round] = []
    for one in rounds:
        if joined and joined[-1].goes_on:
            before = joined.pop().reply
            one.reply = replace(one.reply, blocks=before.blocks + one.reply.blocks, at=before.at or one.reply.at)
        joined.append(one)
    return joined
