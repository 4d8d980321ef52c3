"""Facts, notes, recall and audit as rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from contextmgr import jsontext
from contextmgr.facts import Fact, FactKind, FactScope, Note
from contextmgr.micros import from_micros, to_micros
from contextmgr.scope import Scope
from contextmgr.store.state_base import AuditRecord

Row = Mapping[str, Any]


class Run(Protocol):
    """Runs a named statement within a scope."""

    def __call__(self, name: str, conversation: str | None = None, values: Row | None = None) -> Any: ...


class StateRows:
    """`StateTables` over compiled statements; ``key`` gives the key of a conversation's rows."""

    __slots__ = ("_key", "_run", "_scope")

    def __init__(self, run: Run, key: Callable[[str], str | None], scope: Scope) -> None:
        self._run = run
        self._key = key
        self._scope = scope

    def next_change(self, conversation: str) -> int:
        """The number of the next change."""
        return self.size(conversation)[0] + 1

    def size(self, conversation: str) -> tuple[int, bool]:
        """The number of the last change, and whether anything was recalled."""
        row = self._run("state_size", conversation).fetchone()
        return int(row["change"]), bool(row["recalled"])

    def add_fact(self, fact: Fact) -> None:
        """Store a fact."""
        self._run("insert_fact", fact.conversation, _fact_row(fact, self._owner(fact.conversation, fact.scope)))

    def supersede(self, fact_id: str, by: str) -> None:
        """Note what took a fact's place."""
        self._run("supersede_fact", None, {"id": fact_id, "new_superseded_by": by})

    def fact(self, fact_id: str) -> Fact | None:
        """One fact of this scope, or None."""
        row = self._run("fact", None, {"id": fact_id}).fetchone()
        if row is None or row["owner"] != self._owner(row["conversation"], FactScope(row["scope"])):
            return None
        return read_fact(row)

    def current(self, conversation: str, scope: FactScope, key: str) -> Fact | None:
        """The value in force of a key."""
        values = {"owner": self._owner(conversation, scope), "key": key}
        row = self._run("current_fact", None, values).fetchone()
        return read_fact(row) if row else None

    def facts(self, conversation: str, scope: FactScope, most: int) -> list[Fact]:
        """Values in force."""
        values = {"owner": self._owner(conversation, scope), "most": most}
        return [read_fact(r) for r in self._run("current_facts", None, values).fetchall()]

    def said(self, conversation: str, most: int) -> list[Fact]:
        """Values in force that were said in a conversation."""
        return [read_fact(r) for r in self._run("said_facts", conversation, {"most": most}).fetchall()]

    def history(self, conversation: str, scope: FactScope, key: str) -> list[Fact]:
        """Every value of a key."""
        values = {"owner": self._owner(conversation, scope), "key": key}
        return [read_fact(r) for r in self._run("fact_history", None, values).fetchall()]

    def notes(self, conversation: str) -> list[Note]:
        """The scratchpad."""
        return [_note(r) for r in self._run("notes", conversation).fetchall()]

    def put_note(self, conversation: str, note: Note) -> None:
        """Set a section."""
        self.drop_note(conversation, note.section)
        turns = jsontext.dumps(note.turns)
        values = {"section": note.section, "text": note.text, "turns": turns, "change": note.change}
        self._run("insert_note", conversation, values | {"at": to_micros(note.at)})

    def drop_note(self, conversation: str, section: str) -> bool:
        """Take a section away."""
        return bool(self._run("delete_note", conversation, {"section": section}).rowcount)

    def recall(self, conversation: str, fact_ids: Sequence[str]) -> None:
        """Note which facts a conversation begins with."""
        for fact_id in fact_ids:
            self._run("insert_recalled", conversation, {"fact": fact_id})

    def recalled(self, conversation: str) -> list[Fact]:
        """Those facts, or what took their place."""
        found: dict[str, Fact] = {}
        for row in self._run("recalled", conversation).fetchall():
            fact = self.fact(row["fact"])
            if fact is not None and fact.superseded_by is not None:
                fact = self.current(fact.conversation, fact.scope, fact.key)
            if fact is not None and fact.is_current:
                found[fact.id] = fact
        return sorted(found.values(), key=lambda f: (f.key, f.id))

    def audit(self, record: AuditRecord) -> None:
        """Put down a search or recall."""
        owner = {"user": self._scope.user, "project": self._scope.project}
        values = {
            "conversation": record.conversation,
            "n": record.turn,
            "action": record.action,
            "query": None if record.query is None else jsontext.dumps(record.query),
            "found": jsontext.dumps(list(record.found)),
            "error": record.error,
            "at": to_micros(record.at),
        }
        self._run("insert_audit", record.conversation, owner | values)

    def audits(self, most: int, conversation: str | None = None) -> list[AuditRecord]:
        """What was put down."""
        if conversation is not None:
            found = self._run("conversation_audits", conversation, {"most": most}).fetchall()
        else:
            owner = {"user": self._scope.user, "project": self._scope.project}
            found = self._run("audits", None, owner | {"most": most}).fetchall()
        return [_audit(r) for r in found]

    def _owner(self, conversation: str, scope: FactScope) -> str | None:
        """The key of what a fact holds for; like a conversation's key, no other scope can spell it."""
        if scope is FactScope.CONVERSATION:
            return self._key(conversation)
        parts = [self._scope.tenant, self._scope.user]
        if scope is FactScope.PROJECT:
            parts.append(self._scope.project)
        text = jsontext.dumps([scope.value, *parts])
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _fact_row(fact: Fact, owner: str | None) -> dict[str, Any]:
    return {
        "id": fact.id,
        "owner": owner,
        "conversation": fact.conversation,
        "scope": fact.scope.value,
        "key": fact.key,
        "value": jsontext.dumps(fact.value),
        "kind": fact.kind.value,
        "author": fact.author,
        "n": fact.turn,
        "quote": fact.quote,
        "via": fact.via,
        "change": fact.change,
        "valid_from": to_micros(fact.valid_from),
        "superseded_by": fact.superseded_by,
        "erased": int(fact.erased),
    }


def read_fact(row: Row) -> Fact:
    """A fact from its row."""
    return Fact(
        id=row["id"],
        key=row["key"],
        value=jsontext.loads(row["value"]),
        author=row["author"],
        conversation=row["conversation"],
        kind=FactKind(row["kind"]),
        scope=FactScope(row["scope"]),
        turn=row["n"],
        quote=row["quote"],
        via=row["via"],
        change=row["change"],
        valid_from=from_micros(row["valid_from"]),
        superseded_by=row["superseded_by"],
        erased=bool(row["erased"]),
    )


def _note(row: Row) -> Note:
    return Note(
        section=row["section"],
        text=row["text"],
        change=row["change"],
        turns=tuple(jsontext.loads(row["turns"])),
        at=from_micros(row["at"]),
    )


def _audit(row: Row) -> AuditRecord:
    return AuditRecord(
        action=row["action"],
        conversation=row["conversation"],
        turn=row["n"],
        query=None if row["query"] is None else jsontext.loads(row["query"]),
        found=tuple(jsontext.loads(row["found"])),
        error=row["error"],
        user=row["user"],
        project=row["project"],
        number=row["seq"],
        at=from_micros(row["at"]),
    )
