"""The manager: opening and closing, scopes, and an operator's pins for a project."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contextmgr import (
    AssembledRequest,
    Conversation,
    InputError,
    Manager,
    NotFoundError,
    PinError,
    ProfileError,
    ScopeError,
    StoreError,
    load_profile,
)
from contextmgr.store.sqlite import SqliteStore

MODEL = "claude-sonnet-5-5"


@pytest.fixture
def manager() -> Iterator[Manager]:
    with Manager("sqlite://") as opened:
        yield opened


def ask(chat: Conversation, said: str = "Go on.") -> AssembledRequest:
    chat.add_user(said)
    return chat.assemble(model=MODEL, max_tokens=500)


def test_a_conversation_begins_once(manager: Manager) -> None:
    first = manager.conversation("c", tenant="t", title="one", zone="Asia/Tokyo")
    first.add_user("hello")
    again = manager.conversation("c", tenant="t", title="two", zone="UTC")
    assert again.history.count() == 1
    assert [(r.title, r.zone) for r in manager.conversations(tenant="t")] == [("one", "Asia/Tokyo")]


def test_conversations_of_a_scope_last_used_first(manager: Manager) -> None:
    for name in ("a", "b", "c"):
        manager.conversation(name, tenant="t", user="u")
    manager.conversation("b", tenant="t", user="u").add_user("x")
    assert [c.id for c in manager.conversations(tenant="t", user="u", most=1)] == ["b"]
    assert manager.conversations(tenant="t") == []


@pytest.mark.parametrize("tenant", ["", "  ", "*", "%", None, 7, "a\x00b", "x" * 513])
def test_a_tenant_must_be_named(manager: Manager, tenant: object) -> None:
    with pytest.raises(ScopeError, match="tenant"):
        manager.conversation("c", tenant=tenant)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["user", "project"])
def test_there_is_no_wildcard(manager: Manager, part: str) -> None:
    with pytest.raises(ScopeError, match="there is no 'any'"):
        manager.conversation("c", tenant="t", **{part: "*"})  # type: ignore[arg-type]


def test_there_is_no_default_tenant(manager: Manager) -> None:
    with pytest.raises(TypeError, match="tenant"):
        manager.conversation("c")  # type: ignore[call-arg]


def test_one_id_in_many_scopes_is_many_conversations(manager: Manager) -> None:
    scopes = [{}, {"user": "u"}, {"project": "p"}, {"user": "u", "project": "p"}, {"user": "p", "project": "u"}]
    for i, scope in enumerate(scopes):
        for _ in range(i + 1):
            manager.conversation("c", tenant="t", **scope).add_user("x")
    assert [manager.conversation("c", tenant="t", **s).history.count() for s in scopes] == [1, 2, 3, 4, 5]


def test_a_foreign_pin_looks_like_an_unknown_one(manager: Manager) -> None:
    mine = manager.conversation("c", tenant="t", user="u")
    mine.add_user("Only on Mondays.", pin=True)
    theirs = manager.conversation("c", tenant="t", user="v")
    errors = []
    for pin in (mine.pins.list()[0].id, "pin_0000000000000000"):
        with pytest.raises(NotFoundError) as caught:
            theirs.pins.revoke(pin, "mine now")
        errors.append(str(caught.value).replace(pin, "PIN"))
    assert len(set(errors)) == 1
    assert len(mine.pins.list()) == 1


def test_closing_twice_is_fine_using_it_then_is_not(tmp_path: Path) -> None:
    manager = Manager(tmp_path / "a.db")
    chat = manager.conversation("c", tenant="t")
    manager.close()
    manager.close()
    with pytest.raises(StoreError, match="closed"):
        chat.add_user("x")


def test_dropping_it_unclosed_warns() -> None:
    manager = Manager("sqlite://")
    with pytest.warns(ResourceWarning, match="context manager"):
        del manager


@pytest.mark.parametrize("argument", [{"profile": "nothing"}, {"profile": 12}, {"zone": "Mars/Olympus"}])
def test_unusable_arguments_open_nothing(tmp_path: Path, argument: dict[str, object]) -> None:
    with pytest.raises((ProfileError, InputError)):
        Manager(tmp_path / "a.db", **argument)  # type: ignore[arg-type]
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_int_is_an_input_budget() -> None:
    with Manager("sqlite://", profile=9_000) as manager:
        assert manager.profile == load_profile("coding-agent").with_budget(9_000)


def test_a_store_of_ones_own(tmp_path: Path) -> None:
    with Manager(SqliteStore(tmp_path / "a.db")) as manager:
        assert manager.conversation("c", tenant="t").add_user("x").number == 1


def test_the_clock_is_read_only_for_what_is_new(tmp_path: Path) -> None:
    read: list[datetime] = []

    def clock() -> datetime:
        read.append(datetime(2026, 8, 17, tzinfo=UTC) + timedelta(minutes=len(read)))
        return read[-1]

    with Manager(tmp_path / "a.db", clock=clock) as manager:
        chat = manager.conversation("c", tenant="t")
        turn = chat.add_user("x")
        request = chat.assemble(model=MODEL, max_tokens=500)
        assert turn.said_at in read
        so_far = len(read)
        assert chat.assemble(model=MODEL, max_tokens=500) == request
        assert len(read) == so_far


def test_a_pin_of_the_project_stands_in_every_conversation_of_it(manager: Manager) -> None:
    pins = manager.project_pins(tenant="t", project="p")
    pin = pins.add("Never touch production.")
    here = [ask(manager.conversation("c", tenant="t", user=u, project="p")) for u in ("u", "v", None)]
    assert [[p.pin for p in r.proof.pins if p.pin == pin.id] for r in here] == [[pin.id]] * 3
    for scope in ({"tenant": "t"}, {"tenant": "t", "project": "q"}, {"tenant": "s", "project": "p"}):
        assert "production" not in str(ask(manager.conversation("c", **scope)).params)  # type: ignore[arg-type]


def test_a_pin_of_the_project_arrives_in_mid_epoch_as_its_own_block(manager: Manager) -> None:
    chat = manager.conversation("c", tenant="t", project="p")
    before = ask(chat)
    manager.project_pins(tenant="t", project="p").add("Never touch production.")
    after = ask(chat)
    assert after.report.epoch == before.report.epoch
    texts = [b["text"] for b in after.params["messages"][-1]["content"]]  # type: ignore[index, union-attr]
    assert "Never touch production." in texts


def test_pins_of_a_project_are_replaced_and_revoked(manager: Manager) -> None:
    pins = manager.project_pins(tenant="t", project="p")
    first = pins.add("Use tabs.")
    second = pins.add("Use spaces.", replaces=first.id)
    assert [p.id for p in pins.list()] == [second.id]
    pins.revoke(second.id, "a formatter does it")
    assert [(p.status, p.reason) for p in pins.list(every=True)] == [
        ("replaced", None),
        ("revoked", "a formatter does it"),
    ]
    with pytest.raises(PinError, match="revoked already"):
        pins.revoke(second.id, "again")


def test_a_conversation_cannot_end_a_pin_of_its_project(manager: Manager) -> None:
    pin = manager.project_pins(tenant="t", project="p").add("Use tabs.")
    with pytest.raises(NotFoundError):
        manager.conversation("c", tenant="t", project="p").pins.revoke(pin.id, "no")


def test_the_same_text_is_pinned_once_per_project(manager: Manager) -> None:
    pins = manager.project_pins(tenant="t", project="p")
    pins.add("Use tabs.")
    with pytest.raises(PinError, match="pinned already"):
        pins.add("Use tabs.")
