"""Opening recorded files: compressed, damaged, of another kind, or not there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from contextmgr.errors import TranscriptError
from contextmgr.transcripts import FORMATS, read_sessions
from contextmgr.transcripts import recorded_file as opening
from tests.transcripts.lines import ClaudeLines, shape, text

MAKE = ClaudeLines()
LINES = [json.dumps(v) for v in (MAKE.user("go"), MAKE.reply("m", text("x" * 5000)), MAKE.user("on"))]


def test_the_name_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "session.txt"
    file.write_bytes(gzip.compress("\n".join(LINES).encode()))
    (session,) = read_sessions(file)
    assert (session.format, shape(session), session.file) == ("claude-code", "uAu", str(file))


def test_a_cut_last_line_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(LINES)[:-20], encoding="utf-8")
    (session,) = read_sessions(file)
    assert (shape(session), session.skipped) == ("uA", 1)


def test_a_cut_gzip_gives_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.gz"
    file.write_bytes(gzip.compress("\n".join(LINES).encode(), compresslevel=0)[:-120])
    (session,) = read_sessions(file)
    assert (shape(session), session.skipped) == ("uA", 2)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\r\n".join(LINES), encoding=encoding)
    assert shape(read_sessions(file)[0]) == "uAu"


def test_line_separators_inside_strings_do_not_end_a_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(MAKE.user("a\u2028b\x85c"), ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_sessions(file)[0].events[0].blocks == (text("a\u2028b\x85c"),)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x1f\x8b broken",
        b"{}",
        b"[]",
        b"[1, 2]",
        b'{"cells": []}',
        b'{"messages": []}',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_session_says_so(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    with pytest.raises(TranscriptError, match=r"a\.jsonl.*(give|convert)"):
        read_sessions(file)


def test_an_unknown_format_names_those_tried(tmp_path: Path) -> None:
    file = tmp_path / "notebook.ipynb"
    file.write_text('{"cells": [], "nbformat": 4}', encoding="utf-8")
    with pytest.raises(TranscriptError) as caught:
        read_sessions(file)
    assert all(name in str(caught.value) for name in (*FORMATS, "nbformat"))


def test_a_session_in_which_nothing_was_said(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(MAKE.reply("m", text("x"))), encoding="utf-8")
    with pytest.raises(TranscriptError, match="at least one user message"):
        read_sessions(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="existing file"):
        read_sessions(tmp_path / "none.jsonl")


def test_a_file_above_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MAX_FILE_BYTES", 100)
    file = tmp_path / "a.gz"
    file.write_bytes(gzip.compress("\n".join(LINES).encode()))
    with pytest.raises(TranscriptError, match="100 bytes"):
        read_sessions(file)


def test_deeply_nested_json_is_a_broken_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join([*LINES, "[" * 200_000]), encoding="utf-8")
    assert read_sessions(file)[0].skipped == 1
