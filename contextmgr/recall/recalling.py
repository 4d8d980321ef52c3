"""Answering the calls of the recall tools, and putting each one down in the audit log.

Laws: nothing reads outside of the session's scope; every call is audited, refused ones too, by ids, turns and scores
and never by text; the answers to one assistant turn's calls stay within one cap, whichever process gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from contextmgr import jsontext
from contextmgr.errors import FactError, InputError, NotFoundError
from contextmgr.keeping import Keeping
from contextmgr.recall import listing, paging, searching, writing
from contextmgr.recall.access import OUTSIDE, Access, Asking
from contextmgr.recall.answers import Answer, Draft, fitted
from contextmgr.recall.arguments import ArgumentError, shown
from contextmgr.recall.caps import CAPS, MAX_QUERY, Caps
from contextmgr.recall.definitions import NAMES, definitions
from contextmgr.recall.links import ChatUrl, check_chat_url
from contextmgr.recording import no_conversation
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope, Visibility, check_name
from contextmgr.store import Store, Transaction
from contextmgr.store.state_base import AuditRecord
from contextmgr.tokens import Count
from contextmgr.toolnames import NOTE, READ, RECALLING, RECENT, REMEMBER, SEARCH
from contextmgr.turns import Block, to_block

_AUDITED = (50, 5_000)  # newest calls of a conversation among which those of the same turn are looked for
_READING: Mapping[str, Callable[[Access, Asking, object], Draft]] = {
    SEARCH: searching.search,
    RECENT: listing.recent,
    READ: paging.read,
}
_WRITING: Mapping[str, Callable[[Keeping, Transaction, Asking, object], Draft]] = {
    NOTE: writing.note,
    REMEMBER: writing.remember,
}
_ASKED = frozenset(
    (*searching.FIELDS, *listing.FIELDS, *paging.FIELDS, *writing.NOTE_FIELDS, *writing.REMEMBER_FIELDS)
) - {"text", "value"}  # arguments that are a question; any other may be content
_TELLING = (ArgumentError, FactError, NotFoundError)  # what a model is told as an error of its own


@dataclass(frozen=True, slots=True)
class Recall:
    """The recall tools of one session, whose scope is ``scope``.

    ``searcher`` makes the search of a scope; ``projects`` are further ones of the same tenant and user that may be
    read; ``chat_url`` makes links.  Raises `InputError` for a project or link that cannot be one.
    """

    store: Store
    scope: Scope
    keeping: Keeping
    count: Count
    clock: Callable[[], datetime]
    searcher: Callable[[Scope], Searcher]
    chat_url: ChatUrl | None = None
    projects: Sequence[str] = ()
    caps: Caps = CAPS

    def __post_init__(self) -> None:
        check_chat_url(self.chat_url)
        for project in self.projects:
            check_name("project", project)

    @staticmethod
    def definitions(*, writing: bool = True) -> list[dict[str, Any]]:
        """The tool definitions, always the same bytes; ``writing=False`` leaves out `note` and `remember`."""
        return definitions(writing=writing)

    @staticmethod
    def is_recall(name: str) -> bool:
        """Whether a tool is one of these."""
        return name in NAMES

    def handle(self, conversation: str | None, block: object) -> Block:
        """Answer a ``tool_use`` block with a ``tool_result`` block, as JSON text; what the model did wrong is an answer
        with ``is_error``.

        Raises `InputError` for what is no ``tool_use`` block, `NotFoundError` for a conversation that is not in this
        scope.
        """
        call = to_block(block)
        if call["type"] != "tool_use" or not isinstance(call.get("id"), str) or not isinstance(call.get("name"), str):
            raise InputError(f"handle() takes a 'tool_use' block with an id and a name, not {call!r:.200}")
        answer = self.answer(conversation, call["name"], call.get("input"), call_id=call["id"])
        content = [{"type": "text", "text": answer.text}]
        error = {"is_error": True} if answer.is_error else {}
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content, **error}

    def answer(self, conversation: str | None, name: str, arguments: object, *, call_id: str | None = None) -> Answer:
        """Answer a call by name, with its id if it has one.  Raises `NotFoundError` as `handle` does."""
        asking = self._asking(conversation, call_id)
        try:
            return self._answer(asking, name, arguments)
        except _TELLING as error:
            told = jsontext.sendable(str(error))
            with self.store.writing(self.scope) as tx:
                tx.state.audit(self._record(asking, name, arguments, error=told))
            return Answer(told, is_error=True)

    def _answer(self, asking: Asking, name: str, arguments: object) -> Answer:
        if name not in NAMES:
            raise ArgumentError(f"there is no tool {shown(name)} here; the recall tools are {', '.join(NAMES)}")
        reading = _READING.get(name)
        draft = reading(self._access(), asking, arguments) if reading is not None else None
        with self.store.writing(self.scope) as tx:
            if draft is None:
                draft = _WRITING[name](self.keeping, tx, asking, arguments)
            # Here, where nobody else can write, so that calls that run side by side share one cap.
            room = self._room(tx, asking) if name in RECALLING else self.caps.call
            text, found = fitted(draft, room, self.count)
            tokens = self.count(text)
            if tokens > room:
                raise ArgumentError(f"the answer would take {tokens:,} tokens; there is room for {room:,}")
            tx.state.audit(
                self._record(asking, name, arguments, found=[*found, {"tokens": tokens, "call": asking.call}])
            )
        return Answer(text)

    def _room(self, tx: Transaction, asking: Asking) -> int:
        """Tokens that the answer may have."""
        if asking.conversation is None:
            return self.caps.call
        calls: dict[object, int] = {}
        for place, record in enumerate(_of_turn(tx, asking.conversation, asking.turn)):
            spent = record.found[-1] if record.found else {}
            if record.action in RECALLING and "tokens" in spent:
                calls[spent.get("call") or place] = int(spent["tokens"])
        calls.pop(asking.call, None)  # the same call again takes its own place
        left = self.caps.turn - sum(calls.values())
        if left < min(self.caps.result, self.caps.turn):
            raise ArgumentError(
                f"recall has brought {sum(calls.values()):,} tokens into this turn; the limit is {self.caps.turn:,}; "
                "answer with what is there, or go on in the next turn"
            )
        return min(self.caps.call, left)

    def _access(self) -> Access:
        return Access(
            store=self.store,
            scope=self.scope,
            count=self.count,
            searcher=self.searcher,
            projects=tuple(dict.fromkeys(self.projects)),
            chat_url=self.chat_url,
            caps=self.caps,
        )

    def _asking(self, conversation: str | None, call_id: str | None) -> Asking:
        if conversation is None:
            return Asking(zone=OUTSIDE, call=call_id)
        with self.store.reading(self.scope) as tx:
            record = tx.conversation(conversation)
            if record is None:
                raise no_conversation(conversation)
            turn = tx.turn(conversation, record.open_turn) if record.open_turn is not None else None
        holds = turn is not None and call_id is not None and any(c.get("id") == call_id for c in turn.calls)
        return Asking(
            conversation=conversation,
            zone=ZoneInfo(record.zone),
            turn=turn.number if turn is not None else record.last_turn,
            via=turn.number if turn is not None and holds else None,
            call=call_id,
            private=record.visibility is Visibility.INCOGNITO,
        )

    def _record(
        self,
        asking: Asking,
        name: str,
        arguments: object,
        *,
        found: Sequence[Mapping[str, Any]] = (),
        error: str | None = None,
    ) -> AuditRecord:
        """What the audit says of a call; an incognito conversation leaves no question behind."""
        return AuditRecord(
            action=name if name in NAMES else "unknown tool",
            conversation=asking.conversation,
            turn=asking.turn,
            query=None if asking.private else _question(arguments),
            found=found,
            error=None if asking.private and error else error,
            user=self.scope.user,
            project=self.scope.project,
            at=self.clock(),
        )


def _of_turn(tx: Transaction, conversation: str, turn: int | None) -> list[AuditRecord]:
    """What was put down of calls from one turn."""
    records: list[AuditRecord] = []
    for most in _AUDITED:
        records = tx.state.audits(most, conversation)
        if len(records) < most or records[-1].turn != turn:
            break
    return [r for r in records if r.turn == turn]


def _question(arguments: object) -> str | None:
    """What a call asked for, without what it wanted to be kept."""
    if not isinstance(arguments, Mapping):
        return None
    if isinstance(arguments.get("query"), str):
        return str(arguments["query"])[:MAX_QUERY]
    asked = {str(k): v for k, v in arguments.items() if k in _ASKED}
    try:
        return jsontext.dumps(asked)[:MAX_QUERY]
    except (TypeError, ValueError, RecursionError):
        return None
