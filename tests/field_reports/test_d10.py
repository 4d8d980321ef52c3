"""D10: no scope, no data: a missing, blank or foreign name never means "everybody".

Turns, pins, tasks, requests and searching here; recent chats, facts and export come with recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.errors import NotFoundError, PinError, ScopeError
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope
from tests.field_reports.talk import ask, exchange, opened, profile, reply, text, texts_in

SECRET = "gate code for dock 4 is 7731"
HOUSE_RULE = "The operator of project p says: never open dock 9."
NOBODY = [None, "", " ", "*", "%", "?", "\x00", "\ud800", 7, "x" * 600]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    """Tenant t-1 has one conversation with a secret, t-2 one of the same id with 100 turns that are nearly equal."""
    with Manager(tmp_path / "a.db", profile=profile(20_000)) as manager:
        own = manager.conversation("dock", tenant="t-1", project="p")
        own.add_user(SECRET, pin=True)
        own.set_task("brief", SECRET)
        manager.project_pins(tenant="t-1", project="p").add(HOUSE_RULE)
        ask(own)
        other = manager.conversation("dock", tenant="t-2", project="p")
        for i in range(100):
            other.add_user(f"gate code for dock {i} is {i * 71 % 10_000}")
        yield manager


@pytest.mark.parametrize("name", NOBODY)
def test_d10_no_tenant_is_an_error_on_every_way_in(manager: Manager, name: Any) -> None:
    ways: list[Callable[[], object]] = [
        lambda: manager.conversation("dock", tenant=name),
        lambda: manager.conversations(tenant=name),
        lambda: manager.project_pins(tenant=name, project="p"),
        lambda: Scope(tenant=name),
    ]
    for way in ways:
        with pytest.raises(ScopeError, match="tenant"):
            way()


@pytest.mark.parametrize("name", [n for n in NOBODY if n is not None])
def test_d10_a_user_project_or_conversation_is_never_a_wildcard(manager: Manager, name: Any) -> None:
    ways: list[Callable[[], object]] = [
        lambda: manager.conversation("dock", tenant="t-1", user=name),
        lambda: manager.conversation("dock", tenant="t-1", project=name),
        lambda: manager.conversation(name, tenant="t-1"),
        lambda: manager.conversations(tenant="t-1", project=name),
        lambda: manager.project_pins(tenant="t-1", project=name),
    ]
    for way in ways:
        with pytest.raises(ScopeError):
            way()


OTHERS = [
    {"tenant": "t-2"},
    {"tenant": "t-2", "project": "p"},
    {"tenant": "t-1"},
    {"tenant": "t-1", "user": "u", "project": "p"},
    {"tenant": "t-1", "user": "p"},
    {"tenant": "t-", "project": "p"},
    {"tenant": "T-1", "project": "p"},
    {"tenant": "t_1", "project": "p"},
    {"tenant": "t-1", "project": "p "},
]


def everything(chat: Conversation) -> str:
    """All that a scope can read, as one text."""
    seen: list[object] = [chat.history.turns(), chat.pins.list(every=True), chat.suggest_pins()]
    chat.add_user("Which code?")
    seen += [ask(chat), chat.request_at(1) if chat.history.count() == 1 else None]
    return repr(seen)


@pytest.mark.parametrize("scope", OTHERS, ids=str)
def test_d10_no_other_scope_sees_a_thing_under_the_same_id(manager: Manager, scope: dict[str, str]) -> None:
    seen = everything(manager.conversation("dock", **scope))  # type: ignore[arg-type]
    assert "7731" not in seen
    assert "7731" not in repr(manager.conversations(**scope))  # type: ignore[arg-type]
    assert (HOUSE_RULE in seen) == (scope["tenant"] == "t-1" and scope.get("project") == "p")


def test_d10_the_owner_sees_only_its_own(manager: Manager) -> None:
    own = manager.conversation("dock", tenant="t-1", project="p")
    assert [t.text for t in own.history.turns()] == [SECRET]
    assert [c.id for c in manager.conversations(tenant="t-1", project="p")] == ["dock"]
    exchange(own, "Which code?")
    own.add_user("Again?")
    said = " ".join(texts_in(ask(own)))
    assert said.count(SECRET) == 2  # the turn and the task
    assert "gate code for dock 5 " not in said


def errors_of(chat: Conversation, pin: str) -> list[str]:
    """What a scope is told about a pin, a turn and a request, with the id taken out."""
    ways: list[Callable[[], object]] = [
        lambda: chat.pins.revoke(pin, "mine now"),
        lambda: chat.pins.replace(pin, 1),
        lambda: chat.add_user("A rule of mine.", replaces=pin),
        lambda: chat.history.turn(77),
        lambda: chat.request_at(77),
        lambda: chat.erase_turn(77),
        lambda: chat.withdraw(77, "mine now"),
        lambda: chat.drop_task("brief"),
        lambda: chat.add_reply(reply(text("Hi.")), request=77),
    ]
    told = []
    for way in ways:
        with pytest.raises((NotFoundError, PinError)) as caught:
            way()
        told.append(f"{type(caught.value).__name__}: {caught.value}".replace(pin, "PIN"))
    return told


def test_d10_a_foreign_id_answers_exactly_like_an_unknown_one(manager: Manager) -> None:
    (foreign,) = [p for p in manager.conversation("dock", tenant="t-1", project="p").pins.list() if p.turn]
    mine = manager.conversation("dock", tenant="t-3", project="p")
    mine.add_user("Hello.")
    assert errors_of(mine, foreign.id) == errors_of(mine, "pin_0000000000000000")
    assert foreign in manager.conversation("dock", tenant="t-1", project="p").pins.list()


def test_d10_a_pin_of_another_conversation_of_the_same_scope_is_unknown_here(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager:
        one, two = (manager.conversation(name, tenant="t-1") for name in ("one", "two"))
        one.add_user(SECRET, pin=True)
        two.add_user("Hello.")
        with pytest.raises(NotFoundError):
            two.pins.revoke(one.pins.list()[0].id, "no")
        assert len(one.pins.list()) == 1


@pytest.mark.parametrize(("tenant", "project"), [("t-2", "p"), ("t-1", "q")])
def test_d10_an_operators_pin_is_unknown_to_another_project(manager: Manager, tenant: str, project: str) -> None:
    (foreign,) = manager.project_pins(tenant="t-1", project="p").list()
    told = []
    for pin in (foreign.id, "pin_0000000000000000"):
        with pytest.raises(NotFoundError) as caught:
            manager.project_pins(tenant=tenant, project=project).revoke(pin, "mine now")
        told.append(str(caught.value).replace(pin, "PIN"))
    assert told[0] == told[1]
    assert manager.project_pins(tenant="t-1", project="p").list() == (foreign,)


def test_d10_erasing_reaches_only_the_scope_that_asks(manager: Manager) -> None:
    for scope in OTHERS:
        manager.conversation("dock", **scope).erase()  # type: ignore[arg-type]
    own = manager.conversation("dock", tenant="t-1", project="p")
    assert own.history.turn(1).text == SECRET
    assert len(own.pins.list()) == 2


def test_d10_what_one_tenant_teaches_the_size_estimate_stays_with_it(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile(20_000)) as manager:
        chats = [manager.conversation("dock", tenant=t) for t in ("t-1", "t-2", "t-3")]
        for i in range(12):
            chats[0].add_user(f"Question {i}.")
            size = ask(chats[0]).report.tokens
            usage = {"input_tokens": int(size * 1.4), "output_tokens": 5}
            chats[0].add_reply({**reply(text("Yes.")), "usage": usage})
        sizes = []
        for chat in chats[1:]:
            chat.add_user("Question.")
            sizes.append(ask(chat).report.tokens)
        with opened(tmp_path / "b.db") as fresh:
            fresh.add_user("Question.")
            assert {*sizes} == {ask(fresh).report.tokens}


ODD = st.text(alphabet="ab/|:\x1f\\,;. %_'\"-", min_size=1, max_size=4).filter(lambda s: s.strip() and s not in "*%?")


@settings(max_examples=25)
@given(names=st.lists(st.tuples(ODD, st.none() | ODD, st.none() | ODD, ODD), min_size=2, max_size=4, unique=True))
def test_d10_names_never_run_into_each_other(names: list[tuple[str, str | None, str | None, str]]) -> None:
    with Manager("sqlite://", profile=profile(20_000)) as manager:
        for i, (tenant, user, project, name) in enumerate(names):
            manager.conversation(name, tenant=tenant, user=user, project=project).add_user(f"said by {i}", pin=True)
        for i, (tenant, user, project, name) in enumerate(names):
            chat = manager.conversation(name, tenant=tenant, user=user, project=project)
            assert [t.text for t in chat.history.turns()] == [f"said by {i}"]
            assert [p.text for p in chat.pins.list()] == [f"said by {i}"]
        for (tenant, user, project, name), (other, *rest) in product(names, names):
            found = [c.id for c in manager.conversations(tenant=tenant, user=user, project=project)]
            assert (name in found) or (tenant, user, project) != (other, *rest[:2])


def test_d10_searching_finds_the_own_hit_first_whatever_others_say(tmp_path: Path) -> None:
    hits = []
    for foreign in (0, 500):
        with Manager(tmp_path / f"{foreign}.db", background=False) as manager:
            own, other = (manager.conversation("dock", tenant=t) for t in ("t-1", "t-2"))
            for i in range(30):
                own.add_user(SECRET if i == 3 else f"Dock {i} was swept, the gate was shut.")
            for _ in range(foreign):
                other.add_user(f"{SECRET}, said again")
            manager.flush()
            hits.append(own.search("gate code dock 4", k=20))
    assert [(h.turn, h.score) for h in hits[0]] == [(h.turn, h.score) for h in hits[1]]
    assert (hits[1][0].turn, hits[1][0].excerpt) == (4, SECRET)


@pytest.mark.parametrize("scope", OTHERS, ids=str)
def test_d10_searching_crosses_no_scope(manager: Manager, scope: dict[str, str]) -> None:
    manager.flush()
    chat = manager.conversation("dock", **scope)  # type: ignore[arg-type]
    chat.add_user("A turn of my own about a gate.")
    assert all("7731" not in h.excerpt for h in chat.search("gate code for dock 4 is 7731", k=50))


@pytest.mark.parametrize("name", ["dock-2", "unknown"])
def test_d10_a_foreign_conversation_is_searched_like_an_unknown_one(manager: Manager, name: str) -> None:
    manager.conversation("dock-2", tenant="t-2").add_user(SECRET)
    searcher = Searcher(manager._store, Scope(tenant="t-1", project="p"), len)
    with pytest.raises(NotFoundError) as caught:
        searcher.search(name, "gate code", 8)
    assert str(caught.value).replace(name, "NAME") == str(_unknown(searcher)).replace("nobody", "NAME")


def _unknown(searcher: Searcher) -> NotFoundError:
    with pytest.raises(NotFoundError) as caught:
        searcher.search("nobody", "gate code", 8)
    return caught.value
