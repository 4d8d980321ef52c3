"""``contextmgr search``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from contextmgr import Manager
from contextmgr.cli import app


@pytest.fixture
def store(tmp_path: Path) -> str:
    file = tmp_path / "a.db"
    with Manager(file) as manager:
        for name, what in (("one", "bike"), ("two", "boat")):
            chat = manager.conversation(name, tenant="t")
            chat.add_user(f"My {what} was stolen.")
            chat.add_user("Nothing else.")
        manager.conversation("one", tenant="u").add_user("My bike is blue.")
    return f"sqlite:///{file}"


def search(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["search", *arguments])


def test_one_conversation(store: str) -> None:
    ended = search("the bike", "--store", store, "--tenant", "t", "--conversation", "one", "--json")
    first = json.loads(ended.stdout.splitlines()[0])
    assert ended.exit_code == 0
    assert (first["conversation"], first["turn"], first["excerpt"]) == ("one", 1, "My bike was stolen.")


def test_all_of_a_scope_and_no_other(store: str) -> None:
    ended = search("stolen", "--store", store, "--tenant", "t")
    assert "one, turn 1" in ended.stdout
    assert "two, turn 1" in ended.stdout
    assert "blue" not in search("bike", "--store", store, "--tenant", "t").stdout


def test_nothing_found_ends_with_1(store: str) -> None:
    assert search("zeppelin", "--store", store, "--tenant", "t").exit_code == 1


@pytest.mark.parametrize("more", [["--conversation", "three"], ["--conversation", "*"], ["--tenant", "%"], ["-k", "0"]])
def test_what_cannot_be_used_ends_with_2(store: str, more: list[str]) -> None:
    ended = search("bike", "--store", store, "--tenant", "t", *more)
    assert ended.exit_code == 2
    assert "contextmgr: " in ended.output


def test_no_store_is_made(tmp_path: Path) -> None:
    assert search("bike", "--store", str(tmp_path / "b.db"), "--tenant", "t").exit_code == 2
    assert list(tmp_path.iterdir()) == []
