"""Claude Code session files: what belongs together, what the model saw, and what is left out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from contextmgr.transcripts import Replied, Said
from contextmgr.transcripts.claude_code import is_client_text
from tests.transcripts.lines import ClaudeLines, call, read, read_one, result, shape, text

SUMMARY = "This session is being continued from a previous conversation."


@pytest.fixture
def line() -> ClaudeLines:
    return ClaudeLines()


def test_lines_of_one_message_are_one_reply(line: ClaudeLines) -> None:
    session = read_one(
        [line.user("go"), line.reply("m", text("a")), line.reply("m", call("c1")), line.user([result("c1")])]
    )
    assert shape(session) == "uAr"
    (reply,) = session.replies
    assert [b["type"] for b in reply.blocks] == ["text", "tool_use"]
    assert reply.usage is not None
    assert (reply.usage.true_input, reply.usage.output_tokens) == (12, 2)
    assert (reply.model, reply.message_id, reply.at) == ("claude-x", "m", datetime(2026, 3, 1, 10, tzinfo=UTC))


def test_results_between_lines_of_one_message_keep_it_one_reply(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", call("c1")), line.user([result("c1")])]
    lines += [line.reply("m", call("c2")), line.user([result("c2")]), line.reply("n", text("done"))]
    session = read_one(lines)
    assert shape(session) == "uArrA"
    assert [c["id"] for c in session.replies[0].calls] == ["c1", "c2"]


def test_result_and_words_in_one_line(line: ClaudeLines) -> None:
    session = read_one([line.user("go"), line.reply("m", call("c1")), line.user([result("c1"), text("no, wait")])])
    assert shape(session) == "uAru"
    assert session.events[-1].blocks == (text("no, wait"),)


def test_words_between_results_come_after_them(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", call("c1"), call("c2")), line.user([result("c1"), text("hm")])]
    assert shape(read_one([*lines, line.user([result("c2")]), line.reply("n", text("x"))])) == "uArruA"


def test_a_late_result_goes_back_to_its_call(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", call("c1")), line.reply("n", text("x")), line.user([result("c1")])]
    assert shape(read_one(lines)) == "uArA"


def test_a_reply_after_calls_without_results_is_told_so(line: ClaudeLines) -> None:
    session = read_one([line.user("go"), line.reply("m", call("c1")), line.reply("n", text("x"))])
    assert shape(session) == "uAcA"


def test_calls_without_results_are_kept_at_the_end(line: ClaudeLines) -> None:
    assert shape(read_one([line.user("go"), line.reply("m", call("c1"))])) == "uA"


def test_a_result_without_a_call_is_counted(line: ClaudeLines) -> None:
    session = read_one(
        [line.user("go"), line.user([result("c9")]), line.reply("m", text("x")), line.user([result("c9")])]
    )
    assert (shape(session), session.skipped) == ("uA", 2)


def test_what_the_client_put_in_is_kept_but_not_a_persons(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", text("x")), line.user("Base directory for this skill", isMeta=True)]
    lines += [line.user("<command-name>/exit</command-name>\n <command-args></command-args>")]
    lines += [line.user([text("[Request interrupted by user]")]), line.user("<b>bold</b> is broken")]
    lines += [line.event("system", subtype="local_command", content="<local-command-stdout>ok</local-command-stdout>")]
    assert shape(read_one(lines)) == "uAcccuc"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("<command-message>x</command-message>\n<command-args>keep it short</command-args>", False),
        ("<command-message>x</command-message>\n<command-args></command-args>", True),
        ("<task-notification>\n<task-id>1</task-id></task-notification>\nFull transcript: a", True),
        ("<system-reminder>a</system-reminder> and my words", False),
        ("<local-command-stdout>never closed", True),
    ],
)
def test_whose_words(said: str, expected: bool) -> None:
    assert is_client_text(said) is expected


def test_a_compaction_is_counted_and_no_turn(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", text("x")), line.event("system", subtype="compact_boundary")]
    lines += [line.user(SUMMARY, isCompactSummary=True, isVisibleInTranscriptOnly=True), line.user("on")]
    session = read_one(lines)
    assert (shape(session), session.client_compactions) == ("uAu", 1)


def test_a_summary_without_boundary_is_a_compaction_too(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", text("x")), line.user(SUMMARY, isCompactSummary=True), line.user("on")]
    assert read_one(lines).client_compactions == 1


def test_a_summary_that_opens_the_file_stands_for_what_is_not_there(line: ClaudeLines) -> None:
    session = read_one([line.user(SUMMARY, isCompactSummary=True), line.reply("m", text("x"))])
    assert (shape(session), session.client_compactions) == ("cA", 1)


def test_replies_made_by_the_client_are_counted(line: ClaudeLines) -> None:
    made = line.reply("m", text("API Error"))
    made["message"]["model"] = "<synthetic>"
    session = read_one([line.user("go"), made])
    assert (shape(session), session.skipped) == ("u", 1)


def test_known_bookkeeping_is_not_counted_and_unknown_lines_are(line: ClaudeLines) -> None:
    lines = [line.user("go"), {"type": "queue-operation"}, line.event("progress"), {"type": "new-thing"}, "{cut", "3"]
    assert read_one(lines).skipped == 3


def test_lines_of_a_resumed_session_are_taken_once(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", call("c1")), line.user([result("c1")])]
    assert shape(read_one([*lines, *lines, line.user("on")])) == "uAru"


def test_copied_replies_with_new_uuids_are_taken_once(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", text("x")), line.user("on"), line.reply("n", text("y"))]
    assert shape(read_one([*lines, line.reply("m", text("x"))])) == "uAuA"


def test_side_chains_are_conversations_of_their_own(line: ClaudeLines) -> None:
    root = line.user("look around", isSidechain=True)
    other = line.user("count files", isSidechain=True)
    lines = [line.user("go"), root, other]
    lines += [line.reply("s", text("found"), isSidechain=True, parentUuid=root["uuid"]), line.reply("m", text("x"))]
    main, first, second = read(lines)
    assert [shape(s) for s in (main, first, second)] == ["uA", "uA", "u"]
    assert [(s.index, s.sidechain) for s in (main, first, second)] == [(0, False), (1, True), (2, True)]


def test_a_message_typed_while_the_model_worked(line: ClaudeLines) -> None:
    queued = {"type": "queued_command", "prompt": "also test it", "commandMode": "prompt"}
    lines = [line.user("go"), line.reply("m", call("c1")), line.user([result("c1")])]
    assert shape(read_one([*lines, line.event("attachment", attachment=queued)])) == "uAru"


def test_labels_find_their_message(line: ClaudeLines) -> None:
    said = line.user("go")
    event = read_one([said]).events[0]
    assert isinstance(event, Said)
    assert event.source == said["uuid"]


def test_the_title_is_the_summary_of_this_session(line: ClaudeLines) -> None:
    said = line.user("go")
    lines = [{"type": "summary", "summary": "Other", "leafUuid": "x"}]
    assert read_one([*lines, {"type": "summary", "summary": "Mine", "leafUuid": said["uuid"]}, said]).title == "Mine"


def test_names_called_in_first_seen_order(line: ClaudeLines) -> None:
    lines = [line.user("go"), line.reply("m", call("a", "Grep"), call("b", "Read"), call("c", "Grep"))]
    session = read_one(lines)
    assert session.tool_names == ("Grep", "Read")
    assert isinstance(session.events[1], Replied)
