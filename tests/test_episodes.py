"""Episodes and the pieces that turns are summarised in: they cover, never split a turn, and stay where they are."""

from __future__ import annotations

import gzip
import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contextmgr.episodes import episodes, segments, source_tokens
from contextmgr.features import Features
from contextmgr.turns import ToolResult, Turn

START = datetime(2026, 8, 17, 9, tzinfo=UTC)
BILLING = (
    "The nightly billing export writes invoice totals into the ledger table",
    "The billing export rounds every invoice total before the ledger table gets it",
    "Add the customer number to each invoice in the billing export and the ledger table",
)
GARDEN = "Which tomato seedlings survive frost outdoors when spring mornings remain cold and windy?"


def turn(number: int, text: str = "", *, role: Any = None, tokens: int = 10, at: datetime | None = None) -> Turn:
    role = role or ("user" if number % 2 else "assistant")
    author = "user" if role == "user" else "model"
    blocks = ({"type": "text", "text": text},) if text else ()
    return Turn(number=number, role=role, author=author, blocks=blocks, said_at=at, features=Features(prose=tokens))


def working(number: int, name: str, given_input: dict[str, Any], *, tokens: int = 10, error: bool = False) -> Turn:
    call = {"type": "tool_use", "id": f"tu_{number}", "name": name, "input": given_input}
    result = ToolResult(call=0, body={"type": "tool_result", "is_error": error, "content": "done"})
    return Turn(
        number=number,
        role="assistant",
        author="model",
        blocks=(call,),
        results=(result,),
        features=Features(code=tokens),
    )


def billing_talk(answer: Turn | None = None) -> list[Turn]:
    turns = [turn(n, text) for n, text in enumerate((BILLING[0], "Yes, it does.", BILLING[1], "It rounds half up."), 1)]
    return turns if answer is None else [*turns, turn(5, BILLING[2]), answer, turn(7, "Done.", role="assistant")]


texts = st.lists(
    st.sampled_from([*BILLING, GARDEN, "ok", "yes, do that", "数据库的所有调用都必须使用预处理语句。", ""]), max_size=3
)
times = st.none() | st.integers(-4000, 40_000).map(lambda s: START + timedelta(seconds=s))
histories = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), texts.map("\n".join), st.integers(0, 3000), times), max_size=40
).map(lambda rows: [turn(n, x, role=r, tokens=k, at=at) for n, (r, x, k, at) in enumerate(rows, 1)])


def spans_of(found: list[Any]) -> list[tuple[int, int]]:
    return [(e[0], e[1]) if isinstance(e, tuple) else (e.first, e.last) for e in found]


def check_cover(spans: list[tuple[int, int]], turns: list[Turn]) -> None:
    assert [n for a, b in spans for n in range(a, b + 1)] == [t.number for t in turns]
    assert all(a <= b for a, b in spans)


@given(histories)
def test_episodes_cover_every_turn_once_and_begin_at_user_turns(turns: list[Turn]) -> None:
    found = episodes(turns)
    check_cover(spans_of(found), turns)
    assert all(turns[e.first - 1].role == "user" for e in found[1:])
    assert [e.why == "begin" for e in found] == [n == 0 for n in range(len(found))]


@given(histories, st.integers(100, 4000))
def test_pieces_cover_every_turn_once_and_keep_their_size(turns: list[Turn], tokens: int) -> None:
    pieces = segments(turns, tokens=tokens)
    check_cover(pieces, turns)
    for first, last in pieces:
        sizes = [source_tokens(t) for t in turns[first - 1 : last]]
        assert sum(sizes) <= tokens or sum(sizes[:-1]) < tokens / 4


@given(histories, st.integers(100, 4000))
def test_pieces_are_few(turns: list[Turn], tokens: int) -> None:
    pieces = segments(turns, tokens=tokens)
    sizes = [sum(map(source_tokens, turns[a - 1 : b])) for a, b in pieces]
    assert all(size >= tokens / 4 for size in sizes[:-1])


@given(histories, st.integers(100, 4000), st.integers(0, 40))
def test_appending_moves_no_border(turns: list[Turn], tokens: int, kept: int) -> None:
    before, after = segments(turns[:kept], tokens=tokens), segments(turns, tokens=tokens)
    assert after[: len(before[:-1])] == before[:-1]
    borders = [[(e.first, e.why) for e in episodes(some)] for some in (turns[:kept], turns)]
    assert borders[1][: len(borders[0])] == borders[0]


def test_a_long_exchange_is_cut_between_its_turns() -> None:
    turns = [
        turn(1, "Refactor module orbit"),
        *(working(n, "Edit", {"path": "a.py"}, tokens=900) for n in range(2, 82)),
    ]
    pieces = segments(turns, tokens=8000)
    check_cover(pieces, turns)
    assert [b - a + 1 for a, b in pieces[1:-1]] == [8] * (len(pieces) - 2)


def test_a_piece_ends_where_an_exchange_does() -> None:
    turns = [turn(n, "more of the same", tokens=1000) for n in range(1, 13)]
    assert segments(turns, tokens=3500) == [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12)]


def test_a_piece_ends_where_the_subject_does() -> None:
    talk = [*billing_talk(), turn(5, GARDEN), turn(6, "Hardly any."), turn(7, "and then?"), turn(8, "Wait.")]
    assert segments([turn(t.number, t.text, tokens=100) for t in talk], tokens=750)[0] == (1, 4)


def test_a_long_pause_begins_an_episode() -> None:
    talk = [turn(1, "a", at=START), turn(2, "b", at=START), turn(3, "c", at=START + timedelta(hours=2))]
    assert [(e.first, e.why) for e in episodes(talk)] == [(1, "begin"), (3, "time gap")]
    assert len(episodes(talk, gap=timedelta(hours=3))) == 1


def test_a_clock_that_steps_back_is_no_pause() -> None:
    talk = [turn(n, "a", at=START + timedelta(hours=h)) for n, h in enumerate((0, 0, -5, -5, -2), 1)]
    assert len(episodes(talk)) == 1


def test_another_subject_begins_an_episode() -> None:
    talk = [*billing_talk(), turn(5, GARDEN)]
    assert [(e.first, e.last, e.why) for e in episodes(talk)] == [(1, 4, "begin"), (5, 5, "change of subject")]


def test_the_same_subject_and_short_answers_do_not() -> None:
    assert len(episodes([*billing_talk(), turn(5, BILLING[2])])) == 1
    assert len(episodes([*billing_talk(), turn(5, "yes, do that")])) == 1


def test_after_a_commit_less_is_needed() -> None:
    further = "Next: the ledger table gets an archive, invoice totals older than seven years move there quarterly"
    committed = billing_talk(working(6, "Bash", {"command": "git commit -am 'Add customer number'"}))
    failed = billing_talk(working(6, "Bash", {"command": "git commit -am 'Add customer number'"}, error=True))
    assert episodes([*committed, turn(9, further)], familiar=0.05)[-1].why == "completed task"
    assert len(episodes([*failed, turn(9, further)], familiar=0.05)) == 1


def test_a_ticked_off_list_completes_a_task() -> None:
    def listed(*states: str) -> list[Turn]:
        todos = [{"content": "x", "status": s} for s in states]
        return [*billing_talk(working(6, "TodoWrite", {"todos": todos})), turn(9, GARDEN)]

    whole, part = listed("completed", "completed"), listed("completed", "pending")
    assert episodes(whole, familiar=0.0, familiar_when_done=0.9)[-1].why == "completed task"
    assert len(episodes(part, familiar=0.0, familiar_when_done=0.9)) == 1


def test_no_turns() -> None:
    assert episodes([]) == []
    assert segments([], tokens=100) == []


def test_borders_between_unrelated_chats_are_found(data_dir: Path) -> None:
    """LongMemEval strings unrelated chats together: their first messages are changes of subject."""
    found, right, true = 0, 0, 0
    for file in sorted((data_dir / "conversations" / "longmemeval").glob("haystack_*.json.gz")):
        sessions = json.loads(gzip.decompress(file.read_bytes()))["sessions"]
        messages = [m for s in sessions for m in s["messages"]]
        turns = [turn(n, m["content"], role=m["role"]) for n, m in enumerate(messages, 1)]
        sizes = itertools.accumulate((len(s["messages"]) for s in sessions), initial=1)
        firsts = {n for n in sizes if n <= len(turns) and turns[n - 1].role == "user"}
        begun = {e.first for e in episodes(turns)}
        found, right, true = found + len(begun), right + len(begun & firsts), true + len(firsts)
    assert right / found > 0.6
    assert right / true > 0.6
