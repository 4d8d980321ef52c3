"""What every store has to do, as tests over the `Store` protocol."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType

from contextmgr.errors import StoreError
from contextmgr.features import Features
from contextmgr.pins import PinStatus
from contextmgr.scope import Visibility
from contextmgr.store import ConversationRecord, Store, Transaction
from contextmgr.tasks import TaskDocument
from contextmgr.testing.state_contract import StateContract
from contextmgr.testing.values import (
    AWKWARD,
    NEIGHBOURS,
    NOW,
    SCOPE,
    assistant_turn,
    epoch,
    pin,
    request,
    tool_result,
    user_turn,
    view_row,
)
from contextmgr.turns import Status


class Refused:
    """``with Refused(error):`` asserts that the block raises ``error``."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def __enter__(self) -> None:
        """Nothing is set up."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        assert error is not None, f"{self._error.__name__} was not raised"
        return isinstance(error, self._error)


def fill(tx: Transaction, conversation: str) -> None:
    """Give a conversation one of everything: turn 1 is pinned and copied, turn 2 has results."""
    if tx.conversation(conversation) is None:
        tx.create_conversation(ConversationRecord(id=conversation, created_at=NOW, updated_at=NOW))
    tx.add_turn(conversation, user_turn(1, "rule p", metadata={"k": 1}), "k1")
    tx.add_turn(conversation, assistant_turn(2, calls=1), "k2")
    tx.add_result(conversation, 2, 0, tool_result(0, late=True))
    tx.add_pin(conversation, pin("p"))
    tx.set_task(conversation, TaskDocument(name="brief", text="x"), NOW)
    tx.add_epoch(conversation, epoch(1))
    tx.add_rows(conversation, 1, [view_row(0), view_row(1, ref="p")])
    tx.add_request(conversation, request(1))
    tx.set_calibration(conversation, "claude-x", "{}")


class _Base:
    """What the tests stand on."""

    durable: bool = True
    """Whether `open_store` with the same folder finds what an earlier store there kept."""

    def open_store(self, folder: Path) -> Store:
        """Open the store under test; ``folder`` is empty at first and its own for each test."""
        raise NotImplementedError("open the store to be tested here")

    @contextmanager
    def begun(self, folder: Path, name: str = "c") -> Iterator[Store]:
        """A store that holds an empty conversation ``name`` in `SCOPE`."""
        store = self.open_store(folder)
        try:
            with store.writing(SCOPE) as tx:
                tx.create_conversation(ConversationRecord(id=name, created_at=NOW, updated_at=NOW))
            yield store
        finally:
            store.close()

    @contextmanager
    def writing(self, folder: Path) -> Iterator[Transaction]:
        """A write transaction in a store that holds an empty conversation ``c``."""
        with self.begun(folder) as store, store.writing(SCOPE) as tx:
            yield tx


class StoreContract(_Base, StateContract):
    """Tests over the `Store` protocol.  Subclass it as ``Test...`` and give `open_store`.

    ``durable = False`` leaves out what needs a second opening, for stores in memory.
    """

    def test_a_conversation_comes_back_whole(self, tmp_path: Path) -> None:
        """Every field of a conversation's row."""
        record = ConversationRecord(
            id="*é", title="a\x00b", zone="Asia/Tokyo", visibility=Visibility.INCOGNITO,
            last_turn=3, open_turn=2, version=2**40, created_at=NOW, updated_at=NOW + timedelta(microseconds=1),
        )  # fmt: skip
        with self.writing(tmp_path) as tx:
            tx.create_conversation(record)
            assert tx.conversation("*é") == record
            assert tx.conversation("unknown") is None

    def test_no_scope_sees_another(self, tmp_path: Path) -> None:
        """A foreign conversation looks like an unknown one, and the same id is free there."""
        with self.begun(tmp_path) as store:
            for scope in NEIGHBOURS:
                with store.writing(scope) as tx:
                    assert tx.conversation("c") is None
                    assert tx.conversations(10) == []
                    with Refused(LookupError):
                        tx.next_turn("c", NOW)
                    tx.create_conversation(ConversationRecord(id="c", created_at=NOW, updated_at=NOW))
                    tx.add_turn("c", user_turn(1, "theirs"), None)
                    tx.add_pin("c", pin(f"p{NEIGHBOURS.index(scope)}"))
            with store.reading(SCOPE) as tx:
                assert tx.turns("c", 1, 9) == []
                assert tx.pins("c") == []
                assert all(tx.pin("c", f"p{i}") is None for i in range(len(NEIGHBOURS)))

    def test_conversations_are_listed_last_used_first(self, tmp_path: Path) -> None:
        """At most as many as asked for."""
        with self.writing(tmp_path) as tx:
            for i in (3, 1, 2):
                at = NOW + timedelta(hours=i)
                tx.create_conversation(ConversationRecord(id=f"c{i}", created_at=NOW, updated_at=at))
            assert [c.id for c in tx.conversations(3)] == ["c3", "c2", "c1"]

    def test_numbers_count_from_one(self, tmp_path: Path) -> None:
        """Each number is given once, with the turn that is open."""
        with self.writing(tmp_path) as tx:
            assert tx.next_turn("c", NOW) == (1, None)
            tx.set_open("c", 1)
            assert tx.next_turn("c", NOW) == (2, 1)

    def test_threads_get_numbers_without_gap_or_repeat(self, tmp_path: Path) -> None:
        """Four threads take 25 numbers each."""
        taken: list[int] = []
        with self.begun(tmp_path) as store:

            def take() -> None:
                for _ in range(25):
                    with store.writing(SCOPE) as tx:
                        taken.append(tx.next_turn("c", NOW)[0])

            threads = [threading.Thread(target=take) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sorted(taken) == list(range(1, 101))

    def test_turns_come_back_exactly(self, tmp_path: Path) -> None:
        """Bytes, key order, NUL and surrogates, numbers, usage and metadata."""
        turns = [
            user_turn(1, "a\x00b\udc97", metadata={"k": [1, {"z": 2.5, "a": None}]}),
            assistant_turn(2, calls=2, results=[tool_result(1, "\ud83d"), tool_result(0, late=True)]),
            assistant_turn(3),
        ]
        with self.writing(tmp_path) as tx:
            for turn in turns:
                tx.add_turn("c", turn, None)
                for order, result in enumerate(turn.results):
                    tx.add_result("c", turn.number, order, result)
            assert tx.turns("c", 1, 9) == turns
            assert [list(t.blocks[-1]) for t in tx.turns("c", 3, 3)] == [list(AWKWARD)]
            assert tx.turn("c", 2) == turns[1]
            assert tx.turn("c", 9) is None

    def test_ranges_of_turns(self, tmp_path: Path) -> None:
        """Both ends are included; the newest come in ascending order."""
        with self.writing(tmp_path) as tx:
            for n in range(1, 8):
                tx.add_turn("c", user_turn(n), None)
            assert [t.number for t in tx.turns("c", 2, 4)] == [2, 3, 4]
            assert [t.number for t in tx.turns_before("c", 6, 3)] == [4, 5, 6]
            assert tx.turns("c", 5, 4) == []

    def test_a_key_names_one_turn_of_one_conversation(self, tmp_path: Path) -> None:
        """A second turn under the same key is refused, and so is the whole transaction."""
        with self.begun(tmp_path) as store:
            with store.writing(SCOPE) as tx:
                tx.add_turn("c", user_turn(1), "k")
                tx.add_turn("other", user_turn(1), "k")
                assert tx.turn_by_key("c", "k") == user_turn(1)
                assert tx.turn_by_key("c", "K") is None
            with Refused(StoreError), store.writing(SCOPE) as tx:
                tx.add_turn("c", user_turn(2), None)
                tx.add_turn("c", user_turn(3), "k")
            with store.reading(SCOPE) as tx:
                assert [t.number for t in tx.turns("c", 1, 9)] == [1]

    def test_the_newest_user_turn_is_a_visible_one(self, tmp_path: Path) -> None:
        """Withdrawn and erased turns do not count."""
        with self.writing(tmp_path) as tx:
            for turn in (user_turn(1), assistant_turn(2), user_turn(3), user_turn(4), assistant_turn(5)):
                tx.add_turn("c", turn, None)
            tx.set_withdrawn("c", 4, "wrong")
            tx.erase_turn("c", 3)
            assert tx.newest_user("c", 5) == user_turn(1)
            assert tx.has_user("c", 1)
            assert not tx.has_user("c", 0)

    def test_status_and_withdrawal_are_records(self, tmp_path: Path) -> None:
        """They change nothing else of the turn, and a withdrawal can be taken back."""
        with self.writing(tmp_path) as tx:
            tx.add_turn("c", user_turn(1), None)
            tx.set_status("c", 1, Status.INTERRUPTED)
            tx.set_withdrawn("c", 1, "why")
            turn = tx.turn("c", 1)
            assert turn is not None
            assert (turn.status, turn.withdrawn, turn.blocks) == (Status.INTERRUPTED, "why", user_turn(1).blocks)
            tx.set_withdrawn("c", 1, None)
            assert tx.newest_user("c", 1) is not None

    def test_a_late_result_is_due_once(self, tmp_path: Path) -> None:
        """It stays stored after it was shown."""
        with self.writing(tmp_path) as tx:
            tx.add_turn("c", assistant_turn(1, calls=2), None)
            tx.add_result("c", 1, 0, tool_result(0))
            tx.add_result("c", 1, 1, tool_result(1, late=True))
            assert [(r.turn, r.order, r.result) for r in tx.late_results("c", 9)] == [(1, 1, tool_result(1, late=True))]
            tx.mark_shown("c", 1, 1)
            assert tx.late_results("c", 9) == []
            turn = tx.turn("c", 1)
            assert turn is not None
            assert len(turn.results) == 2

    def test_pins_come_back_in_the_order_they_were_made(self, tmp_path: Path) -> None:
        """Ended ones with their reason; only active or newer ones are live."""
        with self.writing(tmp_path) as tx:
            for p in (pin("b", order=1), pin("a", order=2), pin("c", turn=9, order=3)):
                tx.add_pin("c", p)
            tx.end_pin("b", PinStatus.REPLACED, "a", None)
            tx.end_pin("c", PinStatus.REVOKED, None, "no longer")
            assert [(p.id, p.status, p.replaced_by, p.reason) for p in tx.pins("c")] == [
                ("b", PinStatus.REPLACED, "a", None),
                ("a", PinStatus.ACTIVE, None, None),
                ("c", PinStatus.REVOKED, None, "no longer"),
            ]
            assert tx.pin("c", "a") == pin("a", order=2)
            assert [p.id for p in tx.live_pins("c", 2)] == ["a", "c"]

    def test_project_pins_belong_to_the_project(self, tmp_path: Path) -> None:
        """Every user of the project sees them, nobody else, and no conversation owns them."""
        with self.begun(tmp_path) as store:
            with store.writing(SCOPE) as tx:
                tx.add_pin(None, pin("p", turn=None))
                assert tx.pins("c") == []
                assert tx.pin("c", "p") is None
                assert tx.pin(None, "p") == pin("p", turn=None)
            seen = []
            for scope in NEIGHBOURS:
                with store.reading(scope) as tx:
                    seen.append([p.id for p in tx.project_pins()])
            assert seen == [[], ["p"], ["p"], []]

    def test_task_documents(self, tmp_path: Path) -> None:
        """Set, changed, listed by name, dropped."""
        first, second = TaskDocument(name="b", text="x"), TaskDocument(name="a", text="y", features=Features(prose=1))
        with self.writing(tmp_path) as tx:
            for document in (first, second, TaskDocument(name="b", text="z")):
                tx.set_task("c", document, NOW)
            assert tx.tasks("c") == [second, TaskDocument(name="b", text="z")]
            assert (tx.drop_task("c", "b"), tx.drop_task("c", "b")) == (True, False)

    def test_epochs_rows_and_requests_come_back_exactly(self, tmp_path: Path) -> None:
        """What a request showed, so that its bytes can be given again."""
        rows = [view_row(0), view_row(1, ref="p")]
        with self.writing(tmp_path) as tx:
            for number in (1, 2):
                tx.add_epoch("c", epoch(number))
                tx.add_request("c", request(number, anchored=number == 2))
            tx.add_rows("c", 1, rows)
            assert (tx.epoch("c", 1), tx.last_epoch("c"), tx.epoch("c", 3)) == (epoch(1), epoch(2), None)
            assert (tx.rows("c", 1), tx.rows("c", 2)) == (rows, [])
            assert (tx.request("c", 1), tx.last_request("c")) == (request(1), request(2, anchored=True))
            assert list((tx.last_request("c") or request(0)).report) == ["z", "a"]

    def test_what_is_learned_later_is_added(self, tmp_path: Path) -> None:
        """The first reason an epoch ended stays; a request's true input and the calibration are kept."""
        with self.writing(tmp_path) as tx:
            tx.add_epoch("c", epoch(1))
            tx.add_request("c", request(1))
            for reason in ("erased", "withdrawn"):
                tx.break_epoch("c", 1, reason)
            tx.set_true_input("c", 1, 2**40)
            for body in ("x", "y"):
                tx.set_calibration("c", "claude-x", body)
            assert (tx.epoch("c", 1) or epoch(9)).broken == "erased"
            assert (tx.request("c", 1) or request(9)).true_input == 2**40
            assert (tx.calibration("c", "claude-x"), tx.calibration("c", "claude-y")) == ("y", None)

    def test_a_version_is_won_once(self, tmp_path: Path) -> None:
        """A commit that was decided on an older state fails."""
        with self.writing(tmp_path) as tx:
            assert [tx.win_version("c", 0), tx.win_version("c", 0), tx.win_version("c", 1)] == [True, False, True]
            tx.raise_version("c")
            assert not tx.win_version("c", 2)

    def test_a_failed_transaction_leaves_nothing(self, tmp_path: Path) -> None:
        """All or nothing, and the store goes on."""
        with self.begun(tmp_path) as store:
            with Refused(KeyError), store.writing(SCOPE) as tx:
                tx.next_turn("c", NOW)
                tx.add_turn("c", user_turn(1), None)
                raise KeyError
            with store.writing(SCOPE) as tx:
                assert (tx.next_turn("c", NOW), tx.turn("c", 1)) == ((1, None), None)

    def test_erasing_a_turn_reaches_its_copies(self, tmp_path: Path) -> None:
        """Blocks, results, pins, proofs, prefaces and rows are blank, its epoch is over, its number stays."""
        with self.writing(tmp_path) as tx:
            fill(tx, "c")
            tx.erase_turn("c", 1)
            tx.erase_turn("c", 1)
            turn, (kept, *_), shown = tx.turn("c", 1), tx.pins("c"), tx.epoch("c", 1) or epoch(9)
            assert turn is not None
            assert (turn.status, turn.blocks, turn.sha256, dict(turn.metadata)) == (Status.ERASED, (), "", {})
            assert tx.turn_by_key("c", "k1") is None
            assert (kept.text, kept.sha256, kept.is_active) == ("", "", False)
            assert (shown.broken, [p.block for p in shown.preface]) == ("erased", [{}])
            assert [bool(r.block) for r in tx.rows("c", 1)] == [True, False]
            assert (tx.request("c", 1) or request(9)).proof == ()
            assert tx.turn("c", 2) is not None

    def test_erasing_a_turn_with_results_erases_them(self, tmp_path: Path) -> None:
        """And the forms and notes that copied them."""
        with self.writing(tmp_path) as tx:
            fill(tx, "c")
            tx.erase_turn("c", 2)
            turn = tx.turn("c", 2)
            assert turn is not None
            assert (turn.results, turn.usage, turn.model) == ((), None, None)
            assert [bool(r.block) for r in tx.rows("c", 1)] == [False, False]
            assert tx.late_results("c", 9) == []

    def test_erasing_a_conversation_leaves_the_others(self, tmp_path: Path) -> None:
        """Nothing of it is left; a conversation of the same id elsewhere, and one beside it, are untouched."""
        with self.begun(tmp_path) as store:
            with store.writing(NEIGHBOURS[0]) as tx:
                fill(tx, "c")
            with store.writing(SCOPE) as tx:
                fill(tx, "c")
                tx.erase_conversation("c")
                tx.erase_conversation("c")
                assert (tx.conversation("c"), tx.turns("c", 0, 99), tx.pins("c"), tx.tasks("c")) == (None, [], [], [])
                assert (tx.epoch("c", 1), tx.rows("c", 1), tx.last_request("c")) == (None, [], None)
                assert tx.calibration("c", "claude-x") is None
            with store.reading(NEIGHBOURS[0]) as tx:
                assert len(tx.turns("c", 1, 9)) == 2
                assert tx.epoch("c", 1) == epoch(1)
            store.scrub()

    def test_what_was_kept_is_there_when_opened_again(self, tmp_path: Path) -> None:
        """Opening an existing store changes nothing in it."""
        if not self.durable:
            return
        with self.begun(tmp_path) as store, store.writing(SCOPE) as tx:
            tx.add_turn("c", user_turn(1), None)
        again = self.open_store(tmp_path)
        with again.reading(SCOPE) as tx:
            assert tx.turns("c", 1, 9) == [user_turn(1)]
        again.close()

    def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        """Closing twice is fine; using it then is not."""
        store = self.open_store(tmp_path)
        store.close()
        store.close()
        with Refused(StoreError), store.reading(SCOPE) as tx:
            tx.conversation("c")
