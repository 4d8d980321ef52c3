"""What assembling reads depends on the view, never on how long the conversation is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.histories import MODEL, SYSTEM, TOOLS, Reads, filled, reads

pytestmark = pytest.mark.unwatched(reason="the watch reads the store as well")


def read_by_assembling(folder: Path, turns: int) -> list[Reads]:
    """A first request, one with a new turn, the same again, and its bytes once more."""
    found = []
    manager, chat = filled(folder / f"{turns}.db", turns, lambda text: len(text) // 4)
    with manager:
        for said in ("first", "new", None):
            if said:
                chat.add_user(said)
            with reads(manager) as seen:
                request = chat.assemble(model=MODEL, max_tokens=1_000, system=SYSTEM, tools=TOOLS)
            found.append(seen)
        with reads(manager) as seen:
            chat.request_at(request.number)
        found.append(seen)
    return found


@pytest.fixture(scope="module")
def by_length(tmp_path_factory: pytest.TempPathFactory) -> list[list[Reads]]:
    folder = tmp_path_factory.mktemp("stores")
    return [read_by_assembling(folder, turns) for turns in (300, 3_000)]


def test_the_rows_read_do_not_depend_on_the_length(by_length: list[list[Reads]]) -> None:
    short, long = by_length
    assert [r.rows for r in long] == [r.rows for r in short]
    assert all(r.rows > 10 for r in short)


def test_nor_does_the_work_behind_them(by_length: list[list[Reads]]) -> None:
    short, long = by_length
    assert [r.steps for r in long] == [r.steps for r in short]
