"""For those who write a store: a class of tests that every `Store` has to pass, and the values it uses.

    from contextmgr.testing import StoreContract

    class TestMyStore(StoreContract):
        def open_store(self, folder):
            return MyStore(folder / "data")

pytest collects the inherited tests; nothing here imports it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from contextmgr import jsontext
from contextmgr.errors import StoreError
from contextmgr.features import Features
from contextmgr.heads import Head
from contextmgr.pins import Pin, PinKind, PinStatus
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord, Store, Transaction
from contextmgr.tasks import TaskDocument
from contextmgr.turns import Block, Status, ToolResult, Turn, Usage
from contextmgr.views import Anchor, Epoch, Form, Part, PrefaceBlock, RequestRecord, RowKind, ViewRow, Why

NOW = datetime(2026, 8, 17, 9, 30, 0, 123456, tzinfo=UTC)
SCOPE = Scope(tenant="acme", user="ada", project="dal")
NEIGHBOURS = (
    Scope(tenant="other", user="ada", project="dal"),
    Scope(tenant="acme", user="bob", project="dal"),
    Scope(tenant="acme", user=None, project="dal"),
    Scope(tenant="acme", user="ada", project=None),
)
"""Scopes that differ from `SCOPE` in one value each; `SCOPE` and none of them may see the other's data."""
AWKWARD: Block = {
    "type": "text",
    "z": "key order \u00e9 \u4e2d \U0001f426",
    "a": ["\x00", "\udc97", "\ud83d", '"\\\n\u2028'],
    "n": [0, -1, 2**63, 1e-7, 1.5, True, None, {}],
    "text": "<|endoftext|>'; DROP TABLE turn; --",
}
"""A block that comes back exactly, or not at all."""
HEAD = Head("claude-x", ({"type": "text", "text": "You are careful."},), ({"name": "read", "input_schema": {}},), None)


def user_turn(number: int, text: str = "hello", *, metadata: Mapping[str, object] | None = None) -> Turn:
    """A user turn that says ``text``."""
    block = {"type": "text", "text": text}
    return Turn(
        number=number,
        role="user",
        author="user",
        blocks=(block,),
        said_at=NOW,
        metadata=dict(metadata or {}),
        sha256=jsontext.sha256(jsontext.dumps([block])),
        features=Features(prose=len(text)),
    )


def assistant_turn(number: int, *, calls: int = 0, results: Sequence[ToolResult] = ()) -> Turn:
    """An assistant turn with ``calls`` tool calls; open unless every call has its result."""
    blocks: list[Block] = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, dict(AWKWARD)]
    blocks += [{"type": "tool_use", "id": f"t{i}", "name": "read", "input": {"path": f"{i}"}} for i in range(calls)]
    return Turn(
        number=number,
        role="assistant",
        author="model",
        blocks=tuple(blocks),
        results=tuple(results),
        status=Status.OPEN if calls > len(results) else Status.CLOSED,
        stop_reason="tool_use" if calls else "end_turn",
        model="claude-x",
        usage=Usage(input_tokens=1, cache_read_tokens=2, cache_write_tokens=3, output_tokens=4),
        request=7,
        said_at=NOW,
        sendable=False,
        sha256="a" * 64,
        features=Features(1, 2, 3, 4, 5, 6),
        thinking_features=Features(fixed=9),
    )


def tool_result(call: int, text: str = "ok", *, late: bool = False) -> ToolResult:
    """The result of call number ``call``."""
    body = {"type": "tool_result", "tool_use_id": f"t{call}", "content": [{"type": "text", "text": text}]}
    return ToolResult(call=call, body=body, late=late, sha256="b" * 64, features=Features(numeric=3), said_at=NOW)


def pin(name: str, *, turn: int | None = 1, order: int = 0) -> Pin:
    """An active pin of turn ``turn``, or a project pin with None."""
    text = f"rule {name}"
    said = {} if turn is None else {"block": 0, "start": 0, "end": len(text)}
    return Pin(
        id=name,
        text=text,
        sha256=jsontext.sha256(text),
        kind=PinKind.CONSTRAINT,
        author="operator" if turn is None else "user",
        order=order,
        turn=turn,
        project=turn is None,
        tokens=5,
        said_at=NOW,
        **said,
    )


def epoch(number: int, *, broken: str | None = None) -> Epoch:
    """An epoch with a preface that copies turn 1."""
    part = PrefaceBlock(part=Part.PIN, block={"type": "text", "text": "rule p"}, pin="p", turn=1, index=0)
    return Epoch(
        number=number,
        first=1,
        opened_at=2,
        head=HEAD,
        why=Why.FULL,
        preface=(part,),
        tiers={"system": Features(prose=7), "pinned": Features(code=1)},
        hidden=frozenset({3, 5}),
        broken=broken,
        at=NOW,
    )


def view_row(order: int, *, turn: int = 2, ref: str | None = None) -> ViewRow:
    """A row of a view: the masked form of a result, or with ``ref`` an attached pin."""
    if ref is None:
        block = {"type": "tool_result", "content": "[masked]"}
        return ViewRow(order=order, turn=turn, kind=RowKind.FORM, block=block, call=0, form=Form.MASKED)
    return ViewRow(order=order, turn=turn, kind=RowKind.PIN, block={"type": "text", "text": f"rule {ref}"}, ref=ref)


def request(number: int, *, anchored: bool = False) -> RequestRecord:
    """An issued request with a proof of pin ``p``."""
    return RequestRecord(
        number=number,
        epoch=1,
        tail=2,
        rows=1,
        max_tokens=2**40,
        tokens=99,
        features=Features(1, 2, 3),
        previous_tail=1,
        anchor=Anchor(request=number - 1, true_input=88, features=Features(fixed=8)) if anchored else None,
        report={"z": 1, "a": [1.25, "x"]},
        proof=({"pin": "p", "sha256": "c"},),
        at=NOW,
    )


@contextmanager
def refused(error: type[BaseException]) -> Iterator[None]:
    """Assert that the block raises ``error``."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


class _Base:
    """What the tests stand on."""

    durable = True
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


class StoreContract(_Base):
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
                    with refused(LookupError):
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
            with refused(StoreError), store.writing(SCOPE) as tx:
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
            with refused(KeyError), store.writing(SCOPE) as tx:
                tx.next_turn("c", NOW)
                tx.add_turn("c", user_turn(1), None)
                raise KeyError
            with store.writing(SCOPE) as tx:
                assert (tx.next_turn("c", NOW), tx.turn("c", 1)) == ((1, None), None)
