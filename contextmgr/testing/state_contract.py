"""What every store has to do with facts, notes, recall and audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from contextmgr.facts import Fact, FactKind, FactScope, Note
from contextmgr.micros import to_micros
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord, Store, Transaction
from contextmgr.store.state_base import AuditRecord
from contextmgr.testing.values import NEIGHBOURS, NOW, SCOPE


def fact(identity: str, key: str = "k", *, change: int = 1, scope: FactScope = FactScope.CONVERSATION) -> Fact:
    """A fact of conversation ``c`` with every field in use."""
    return Fact(
        id=identity,
        key=key,
        value={"z": [1, None, "é\u2028\U0001f426"], "a": -(2**62)},
        author="model",
        conversation="c",
        kind=FactKind.CORRECTION,
        scope=scope,
        turn=2**40,
        quote='"quoted"\n',
        via=7,
        change=change,
        valid_from=NOW + timedelta(seconds=change),
    )


def _ids(facts: Sequence[Fact]) -> list[str]:
    return [f.id for f in facts]


class StateContract:
    """Tests over `Store` transactions' ``state``; a part of `StoreContract`."""

    def open_store(self, folder: Path) -> Store:
        """Open the store under test."""
        raise NotImplementedError("open the store to be tested here")

    @contextmanager
    def _store(self, folder: Path) -> Iterator[Store]:
        store = self.open_store(folder)
        try:
            with store.writing(SCOPE) as tx:
                for name in ("c", "d"):
                    tx.create_conversation(ConversationRecord(id=name, created_at=NOW, updated_at=NOW))
            yield store
        finally:
            store.close()

    @contextmanager
    def _writing(self, folder: Path) -> Iterator[Transaction]:
        with self._store(folder) as store, store.writing(SCOPE) as tx:
            yield tx

    def test_a_fact_comes_back_whole(self, tmp_path: Path) -> None:
        """Every field."""
        with self._writing(tmp_path) as tx:
            tx.state.add_fact(fact("f"))
            assert tx.state.fact("f") == fact("f")
            assert tx.state.current("c", FactScope.CONVERSATION, "k") == fact("f")
            assert tx.state.current("d", FactScope.CONVERSATION, "k") is None
            assert tx.state.fact("unknown") is None

    def test_a_superseded_fact_is_history(self, tmp_path: Path) -> None:
        """It is in no list of what is in force."""
        with self._writing(tmp_path) as tx:
            for number in (1, 2):
                tx.state.add_fact(fact(f"f{number}", change=number))
            tx.state.supersede("f1", "f2")
            assert _ids(tx.state.history("c", FactScope.CONVERSATION, "k")) == ["f1", "f2"]
            assert _ids(tx.state.facts("c", FactScope.CONVERSATION, 9)) == ["f2"]
            assert _ids(tx.state.said("c", 9)) == ["f2"]

    def test_facts_in_force_are_listed_newest_first(self, tmp_path: Path) -> None:
        """And at most as many as asked for."""
        with self._writing(tmp_path) as tx:
            for number in (1, 2, 3):
                tx.state.add_fact(fact(f"f{number}", f"k{number}", change=number))
            assert _ids(tx.state.facts("c", FactScope.CONVERSATION, 2)) == ["f3", "f2"]
            assert _ids(tx.state.said("c", 2)) == ["f3", "f2"]

    def test_a_wider_fact_holds_where_it_says(self, tmp_path: Path) -> None:
        """A project's for the same tenant, user and project; a user's for the same tenant and user."""
        with self._store(tmp_path) as store:
            with store.writing(SCOPE) as tx:
                tx.state.add_fact(fact("p", scope=FactScope.PROJECT))
                tx.state.add_fact(fact("u", scope=FactScope.USER))
            for scope in (SCOPE, *NEIGHBOURS):
                same_user = (scope.tenant, scope.user) == (SCOPE.tenant, SCOPE.user)
                with store.reading(scope) as tx:
                    assert (tx.state.fact("p") is not None) == (scope == SCOPE)
                    assert (tx.state.current("d", FactScope.USER, "k") is not None) == same_user
                    assert _ids(tx.state.facts("d", FactScope.PROJECT, 9)) == (["p"] if scope == SCOPE else [])

    def test_changes_are_numbered_over_facts_and_notes(self, tmp_path: Path) -> None:
        """From 1 on, for each conversation apart."""
        with self._writing(tmp_path) as tx:
            assert tx.state.next_change("c") == 1
            tx.state.add_fact(fact("f", change=1))
            tx.state.put_note("c", Note(section="plan", text="x", change=2, at=NOW))
            assert (tx.state.next_change("c"), tx.state.next_change("d")) == (3, 1)

    def test_notes_come_back_by_section(self, tmp_path: Path) -> None:
        """A section set again holds the new text alone."""
        notes = [Note(section=s, text=f"é\n{s}", change=i, turns=(4, 0, 9), at=NOW) for i, s in enumerate("ba")]
        with self._writing(tmp_path) as tx:
            tx.state.put_note("c", replace(notes[0], text="old"))
            for note in notes:
                tx.state.put_note("c", note)
            assert tx.state.notes("c") == notes[::-1]
            assert tx.state.notes("d") == []
            assert (tx.state.drop_note("c", "a"), tx.state.drop_note("c", "a")) == (True, False)

    def test_what_was_recalled_is_read_as_it_is_now(self, tmp_path: Path) -> None:
        """A value that was superseded gives way to the one in force."""
        with self._writing(tmp_path) as tx:
            for number in (1, 2):
                tx.state.add_fact(fact(f"f{number}", change=number, scope=FactScope.PROJECT))
            tx.state.supersede("f1", "f2")
            tx.state.recall("d", ["f1"])
            assert _ids(tx.state.recalled("d")) == ["f2"]
            assert tx.state.recalled("c") == []

    def test_erasing_a_turn_blanks_what_it_said(self, tmp_path: Path) -> None:
        """The key stays; no older value is in force again."""
        with self._writing(tmp_path) as tx:
            tx.state.add_fact(replace(fact("f1", change=1), turn=1, via=None))
            tx.state.add_fact(replace(fact("f2", change=2), turn=2, via=None))
            tx.state.supersede("f1", "f2")
            tx.state.put_note("c", Note(section="plan", text="x", change=3, turns=(2,), at=NOW))
            tx.erase_turn("c", 2)
            assert tx.state.said("c", 9) == []
            erased = tx.state.fact("f2")
            assert erased is not None
            assert (erased.erased, erased.value, erased.quote) == (True, None, None)
            assert [n.text for n in tx.state.notes("c")] == [""]

    def test_erasing_a_conversation_takes_its_state_along(self, tmp_path: Path) -> None:
        """Wider facts that it said as well."""
        with self._writing(tmp_path) as tx:
            tx.state.add_fact(fact("f", scope=FactScope.USER))
            tx.state.put_note("c", Note(section="plan", text="x", change=2, at=NOW))
            tx.state.audit(AuditRecord(action="search", conversation="c", query="x", at=NOW))
            tx.erase_conversation("c")
            assert (tx.state.fact("f"), tx.state.notes("c"), tx.state.audits(9)) == (None, [], [])

    def test_the_audit_comes_back_newest_first(self, tmp_path: Path) -> None:
        """With every field, for the scope and for one conversation of it."""
        found: list[dict[str, Any]] = [{"chat": "x", "turns": [1, 2], "score": 0.5}]
        record = AuditRecord(
            action="search", conversation="c", turn=3, query="a\x00\n", found=tuple(found), error="e", at=NOW
        )
        with self._store(tmp_path) as store:
            with store.writing(SCOPE) as tx:
                tx.state.audit(record)
                tx.state.audit(AuditRecord(action="recent", at=NOW))
                assert [r.action for r in tx.state.audits(9)] == ["recent", "search"]
                assert [r.action for r in tx.state.audits(1)] == ["recent"]
                kept = replace(record, number=1, user=SCOPE.user, project=SCOPE.project)
                assert tx.state.audits(9, "c") == [kept]
            for scope in NEIGHBOURS:
                with store.reading(scope) as tx:
                    assert (tx.state.audits(9), tx.state.audits(9, "c")) == ([], [])

    def test_chats_are_walked_by_cursor(self, tmp_path: Path) -> None:
        """Each once, in either order, without those that are hidden, empty or another's."""
        with self._store(tmp_path) as store:
            for scope in (SCOPE, Scope(tenant="other")):
                with store.writing(scope) as tx:
                    for number in range(7):
                        tx.create_conversation(_chat(f"x{number}", NOW + timedelta(seconds=number // 2)))
                    hidden = replace(_chat("hidden", NOW), visibility=Visibility.EXCLUDED)
                    tx.create_conversation(hidden)
            with store.reading(SCOPE) as tx:
                assert _walk(tx, newest=True) == ["x6", "x4", "x5", "x2", "x3", "x0", "x1"]
                assert _walk(tx, newest=False) == ["x0", "x1", "x2", "x3", "x4", "x5", "x6"]
                within = tx.chats(
                    9, before=NOW + timedelta(seconds=2), after=NOW + timedelta(seconds=1), cursor=None, newest=True
                )
                assert [c.id for c in within] == ["x2", "x3"]

    def test_a_title_is_kept_and_one_that_was_made_goes_with_its_turns(self, tmp_path: Path) -> None:
        """A title of the caller's stays."""
        with self._writing(tmp_path) as tx:
            tx.set_title("c", "made of turn 1", made=True)
            tx.set_title("d", "the caller's", made=False)
            for name in ("c", "d"):
                tx.erase_turn(name, 1)
            found = [tx.conversation(name) for name in ("c", "d")]
            assert [c.title for c in found if c is not None] == [None, "the caller's"]


def _chat(name: str, at: datetime) -> ConversationRecord:
    return ConversationRecord(id=name, last_turn=1, created_at=NOW, updated_at=at)


def _walk(tx: Transaction, *, newest: bool) -> list[str]:
    found: list[str] = []
    cursor = None
    while page := tx.chats(2, before=None, after=None, cursor=cursor, newest=newest):
        found += [c.id for c in page]
        last = page[-1]
        cursor = (to_micros(last.updated_at), last.id)
    return found
