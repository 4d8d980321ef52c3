"""Questions made of files that a coding agent read again: what they hold, and what they must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.coding_gold import KINDS, LABELS, Heard, Pair, asked, labelled, main, questions, run, unnamed
from contextmgr.transcripts import Replied, Returned, Said, Session

PATH = "/home/u/shop/db/orders.py"
PAIR = Pair(path=PATH, first="t1", again="t2", edited=False, compacted=False)


def said(text: str) -> Said:
    return Said(blocks=({"type": "text", "text": text},))


def read(id: str, text: str = "", path: str = PATH) -> Replied:
    words = ({"type": "text", "text": text},) if text else ()
    return Replied(blocks=(*words, {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}))


def result(id: str, text: str) -> Returned:
    return Returned(blocks=({"type": "tool_result", "tool_use_id": id, "content": text},))


def session(*events: Any) -> Session:
    return Session(file="s", format="f", index=0, events=events)


def of(*events: Any) -> dict[str, str]:
    """What is asked at the last event."""
    heard = Heard()
    for event in events[:-1]:
        if not isinstance(event, Returned):
            heard.take(event)
    return dict(questions(PAIR, events[-1], heard))


BEFORE = (said("Why are totals wrong?"), read("t1"), result("t1", "def total(): ..."), said("Now round them to cents."))


def test_all_kinds() -> None:
    found = of(*BEFORE, read("t2", "I need the rounding helper of orders.py next to the tax table."))
    assert tuple(found) == KINDS
    assert found["path"] == f"Read {PATH}"
    assert found["name"] == "orders.py"
    assert found["request"].startswith("Now round them to cents.")


def test_the_name_is_taken_out() -> None:
    found = of(*BEFORE, read("t2", f"I need the rounding helper in {PATH}, orders.py, next to the tax table."))
    assert "orders" in found["words"]
    assert not any(part in found["unnamed"] for part in ("orders", "shop", "home", "/u/"))
    assert "rounding helper" in found["unnamed"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see orders.py:12", "see  :12"),
        ("borders and orders", "borders and  "),
        ("ORDERS.PY", " "),
        ("shopping", "shopping"),
    ],
)
def test_only_whole_names(text: str, left: str) -> None:
    assert unnamed(text, PATH) == left


def test_without_words_the_last_ones_of_the_exchange_count() -> None:
    answered = Replied(blocks=({"type": "text", "text": "Looking for the rounding helper."},))
    assert of(*BEFORE, answered, read("t2"))["words"] == "Looking for the rounding helper."
    assert "words" not in of(*BEFORE[:-1], answered, BEFORE[-1], read("t2"))


def test_a_read_of_the_same_exchange_is_not_asked_by_the_request() -> None:
    assert "request" not in of(*BEFORE[:-1], read("t2", "Again."))


def test_what_comes_later_is_not_found() -> None:
    later = (result("t2", "x"), said("And orders.py?"), read("t3"), result("t3", "y"))
    events = (*BEFORE, read("t2", "The rounding helper of orders."), *later)
    found = [(kind, m["mrr"]) for kind, _, m in asked(session(*events), [PAIR])]
    assert dict(found)["path"] == 1.0  # turn 2 alone reads it before turn 4
    assert [kind for kind, _ in found] == [kind for kind, _, _ in asked(session(*BEFORE, events[4]), [PAIR])]


def test_the_first_read_is_not_a_question() -> None:
    assert list(asked(session(said("Go."), read("t2", "The totals.")), [PAIR])) == []


def test_without_labels_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--data", str(tmp_path)])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "skipped: there are no labels" in shown.err


def test_one_recorded_session(data_dir: Path) -> None:
    if not (data_dir / LABELS).is_file():
        pytest.skip("the recorded data has no labels")
    name = next(file for file, pairs in labelled(data_dir).items() if len(pairs) == 4)
    found = run(data_dir, name)
    assert (found["sessions"], found["pairs"]) == (1, 4)
    assert set(found["scores"]) <= set(KINDS)
    assert json.loads(json.dumps(found)) == found
