"""Typed state of models that are harder than a plain one, and written from several sides at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Self

import pytest
from pydantic import BaseModel, Field, SecretStr, computed_field, model_validator

from contextmgr import Conversation, Manager
from contextmgr.errors import FactError


class Shipment(BaseModel):
    status: str = Field(default="new", alias="shipmentStatus")
    cents: int = 0
    cache: str = Field(default="", exclude=True)

    @computed_field
    def euros(self) -> float:
        return self.cents / 100


class Login(BaseModel):
    name: str = ""
    token: SecretStr = SecretStr("")


class Raw(BaseModel):
    data: bytes = b""


class Order(BaseModel):
    status: str = "new"
    address: str = ""


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    with Manager(tmp_path / "a.db", profile="data-analysis", background=False) as manager:
        chat = manager.conversation("c", tenant="t")
        for number in range(4):
            chat.add_user(f"said {number}")
        yield chat


def test_aliases_made_fields_and_excluded_ones(chat: Conversation) -> None:
    state = chat.state(Shipment)
    state.set(Shipment(shipmentStatus="sent", cents=250, cache="x"))
    assert state.update({"cents": 300}) == Shipment(shipmentStatus="sent", cents=300)
    assert sorted(state.facts()) == ["cents", "status"]
    with pytest.raises(FactError, match="no field 'cache'"):
        state.update({"cache": "y"})


@pytest.mark.parametrize(("state", "match"), [(Login(token=SecretStr("x7")), "token"), (Raw(data=b"\xff"), "JSON")])
def test_what_would_not_come_back_is_refused(chat: Conversation, state: BaseModel, match: str) -> None:
    with pytest.raises(FactError, match=match):
        chat.state(type(state)).set(state)
    assert chat.facts.list() == []


def test_an_update_is_a_mapping(chat: Conversation) -> None:
    with pytest.raises(FactError, match="mapping of fields"):
        chat.state(Order).update(None)  # type: ignore[arg-type]


def test_an_update_tells_what_is_in_force(chat: Conversation) -> None:
    state = chat.state(Order)
    state.update({"status": "sent"}, turn=4)
    assert state.update({"status": "new", "address": "Elm Road 2"}, turn=2).status == "sent"


def test_two_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    met = Barrier(2)

    class Order(BaseModel):
        status: str = "new"
        address: str = ""

        @model_validator(mode="after")
        def wait(self) -> Self:
            with suppress(BrokenBarrierError):
                met.wait(timeout=0.5)  # nobody comes where the other has to wait for its turn
            return self

    def write(changes: dict[str, str]) -> None:
        with Manager(tmp_path / "b.db", background=False) as manager:
            manager.conversation("c", tenant="t").state(Order).update(changes)

    with Manager(tmp_path / "b.db", background=False) as manager, ThreadPoolExecutor(2) as pool:
        chat = manager.conversation("c", tenant="t")
        list(pool.map(write, [{"status": "sent"}, {"address": "Elm Road 2"}]))
        assert chat.state(Order).get() == Order(status="sent", address="Elm Road 2")
