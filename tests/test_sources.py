"""What a summariser may read: never thinking, encoded data or secrets; and never more than its window."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextmgr import jsontext
from contextmgr.counters import default_counter
from contextmgr.sources import (
    REDACTED,
    UNKNOWN,
    Line,
    chunks,
    cleaned,
    language_of,
    rendered,
    source_lines,
    source_text,
)
from contextmgr.sources.cleaning import WIDE, ends
from contextmgr.turns import Status, ToolResult, Turn

PNG = base64.b64encode(random.Random(5).randbytes(9_000)).decode()
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join([PNG[:64]] * 5) + "\nQx==\n-----END RSA PRIVATE KEY-----"
# A name that says what it is, what hides it, and the part that may not be read.
SECRETS = {
    "assignment": ("password = 'correct-horse-7'", "correct-horse-7"),
    "json": ('{"api_key": "q9w8e7r6t5"}', "q9w8e7r6t5"),
    "json in json": (r"{\"clientSecret\": \"q9w8e7r6t5\"}", "q9w8e7r6t5"),
    "environment": ("export DB_PASSWORD=correcthorse", "correcthorse"),
    "flag": ("deploy --token abc123def", "abc123def"),
    "login": ("curl -u admin:s3cr3tpw https://example.com", "s3cr3tpw"),
    "header": ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
    "cookie": ("Set-Cookie: session=abcdef123456; Path=/", "abcdef123456"),
    "address": ("postgres://bob:p@ss7word@db.example.com:5432/x", "p@ss7word"),
    "query": ("https://example.com/x?token=abcdefgh&page=2", "abcdefgh"),
    "connection string": ("Server=db;User=sa;Password=hunter;", "hunter"),
    "anthropic": ("sk-ant-api03-AAAAbbbbCCCCddddEEEE", "AAAAbbbbCCCCddddEEEE"),
    "github": ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912E7710c838347Ae178B4a"),
    "amazon": ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"),
    "said": ("The password for staging is Tr0ub4dor", "Tr0ub4dor"),
    "said in German": ("Das Passwort lautet geheim123.", "geheim123"),
    "said in Chinese": ("数据库密码是abc12345。", "abc12345"),
    "private key": (KEY, "Qx=="),
    "private key in JSON": (json.dumps({"key": KEY}), "Qx=="),
}
HARMLESS = [
    *("max_tokens=2048", "token: string", "def f(password: str, token=None):", "connect(user=user, password=password)"),
    *("the password is wrong", 'token = os.environ["API_TOKEN"]', "https://example.com:8080/@scope/pkg@1.2", "-" * 200),
    *(
        "git@github.com:foo/bar.git",
        "the commit is 075ef186b4aa11bb22cc33dd44ee55ff66aa77bb",
        "the token count is 15,000",
    ),
    *(
        "| cell | " * 40,
        "/srv/app/releases/current/packages/billing-export/source/ledger/tables/invoice_totals_by_customer.py",
    ),
    "why does <|endoftext|> end my stream?",
]


def count(text: str) -> int:
    return default_counter().count(text)


def user(*blocks: Any, number: int = 1) -> Turn:
    made = tuple({"type": "text", "text": b} if isinstance(b, str) else b for b in blocks)
    return Turn(number=number, role="user", author="user", blocks=made)


def assistant(*blocks: Any, results: Any = (), number: int = 2, **more: Any) -> Turn:
    """A turn with a call for each result; a result is content, (content, True) for an error, None for none."""
    calls = [
        {"type": "tool_use", "id": f"tu_{i}", "name": "Bash", "input": {"command": f"make {i}"}}
        for i, _ in enumerate(results)
    ]
    bodies = [(i, r if isinstance(r, tuple) else (r, False)) for i, r in enumerate(results) if r is not None]
    found = tuple(
        ToolResult(call=i, body={"type": "tool_result", "tool_use_id": f"tu_{i}", "content": c, "is_error": bad})
        for i, (c, bad) in bodies
    )
    own = user(*blocks).blocks
    return Turn(number=number, role="assistant", author="model", blocks=(*own, *calls), results=found, **more)


THINKING = {"type": "thinking", "thinking": "MUSING about it", "signature": "c2lnLTAxMUSING"}
SEALED = {"type": "redacted_thinking", "data": "MUSING" + PNG[:400]}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
PDF = {
    "type": "document",
    "title": "Q3 plan",
    "source": {"type": "base64", "media_type": "application/pdf", "data": PNG},
}
SEARCHED = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [
        {"type": "web_search_result", "title": "Frost dates", "url": "https://example.com", "encrypted_content": PNG}
    ],
}

pieces = st.one_of(
    st.text(st.characters(codec=None), max_size=60),
    st.sampled_from([secret for secret, _ in SECRETS.values()]),
    st.integers(0, 3000).map(lambda n: PNG[n : n + 2 * n + 150]),
    st.integers(150, 2000).map(lambda n: base64.encodebytes(PNG[:n].encode()).decode()),
    st.sampled_from(["size=3\x00end", "pi\udc97ce", "ok " * 300, "[… left out …]"]),
)
texts = st.lists(pieces, min_size=1, max_size=4).map(" \n".join)
contents = st.one_of(texts, st.just([]), st.none(), texts.map(lambda t: [{"type": "text", "text": t}, IMAGE]))
turns = st.one_of(
    st.tuples(texts, st.sampled_from([IMAGE, PDF, "and so on"])).map(lambda p: user(*p)),
    st.tuples(
        texts,
        st.lists(contents, max_size=4),
        st.sampled_from([THINKING, SEALED, SEARCHED, {"type": "novel", "x": PNG}]),
    ).map(lambda p: assistant(p[2], p[0], results=p[1])),
)


def holds(text: str, hidden: str, size: int = 48) -> bool:
    """Whether any stretch of ``hidden`` of that size is in the text."""
    return any(hidden[i : i + size] in text for i in range(0, len(hidden) - size, size // 2))


@given(turns, st.integers(40, 2000))
def test_nothing_forbidden_is_read(turn: Turn, limit: int) -> None:
    text = source_text(turn, limit=limit)
    assert "MUSING" not in text
    assert not holds(text, PNG)
    assert not [name for name, (_, part) in SECRETS.items() if len(part) > 6 and part in text]
    assert jsontext.is_sendable(text)


@given(st.lists(turns, max_size=6), st.integers(60, 3000))
def test_no_chunk_is_larger_than_asked_for(history: list[Turn], tokens: int) -> None:
    groups = chunks(history, tokens=tokens, count=count)
    assert [t for g in groups for t in g] == history
    for group in groups:
        lines = rendered(group, tokens=tokens, count=count)
        assert sum(count(json.dumps(line._asdict(), ensure_ascii=False)) for line in lines) <= tokens


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_hidden(name: str) -> None:
    text, part = SECRETS[name]
    assert part not in cleaned(f"before\n{text}\nafter")
    assert REDACTED in cleaned(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert cleaned(text) == text


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes, bytes.hex])
@pytest.mark.parametrize("size", [80, 200, 5000])
def test_encoded_data_becomes_a_note(encode: Any, size: int) -> None:
    data = encode(random.Random(size).randbytes(size))
    text = data if isinstance(data, str) else data.decode()
    assert "characters of encoded data]" in cleaned(f"see {text} there")
    assert not holds(cleaned(f"see {text} there"), text, 40)
    assert cleaned(f"see {text} there").endswith("there")


@given(st.text(max_size=300), st.integers(0, 400))
@example("x" * 300, 60)
def test_ends_keep_their_limit(text: str, limit: int) -> None:
    shown = ends(text, limit, lambda left, whole: f"[{left} of {whole}]")
    assert len(shown) <= max(limit, len(cleaned(text)) if len(cleaned(text)) <= limit else limit)
    assert shown == cleaned(text) or len(cleaned(text)) > limit


def test_no_half_of_a_secret_is_left_at_a_cut() -> None:
    log = "an ordinary line of a log\n" * 20_000
    for place in range(WIDE, WIDE + 700, 7):
        text = log[:place] + PNG[:3000] + log
        assert not holds(ends(text, 600, lambda *_: "[cut]"), PNG, 24)


def test_head_and_tail_of_a_huge_result_are_read() -> None:
    log = "".join(f"{n} shard ok\n" for n in range(130_000))
    text = source_text(assistant("Reading.", results=[log]), limit=600)
    assert "0 shard ok" in text
    assert "129999 shard ok" in text
    assert f"{len(log):,} characters" in text
    assert len(text) < 800


def test_voices_are_told_apart() -> None:
    turn = assistant("Running it.\nUser: yes, push it", results=["fine", ("no such target", True)])
    lines = source_lines(turn)
    assert [line.role for line in lines] == ["assistant", "tool", "tool"]
    assert 'calls Bash command="make 0"' in lines[0].text
    assert lines[1].text == "[Bash: ok, 4 characters]\nfine"
    assert lines[2].text.startswith("[Bash: error")


def test_a_missing_result_is_said_to_be_unknown() -> None:
    turn = assistant(results=["one", None], status=Status.INTERRUPTED)
    assert "no result was recorded, so its outcome is unknown" in source_text(turn)
    assert "unknown" not in source_text(assistant(results=["one", None], status=Status.OPEN))


def test_pictures_and_files_are_named_by_their_turn() -> None:
    text = source_text(user(IMAGE, PDF, "What colour is the third bar?", number=7))
    assert text.startswith("[turn 7, user]")
    assert "[picture, turn 7; not shown here]" in text
    assert "[document 'Q3 plan', turn 7; not shown here]" in text
    assert "picture, turn 2" in source_text(assistant(results=[[IMAGE]]))


def test_server_tools_show_what_can_be_read() -> None:
    text = source_text(assistant(SEARCHED, "Frost ends in May."))
    assert "Frost dates\nhttps://example.com" in text


def test_arguments_that_are_secrets_are_hidden() -> None:
    call = {"type": "tool_use", "id": "a", "name": "login", "input": {"password": "hunter2x", "host": "db-4"}}
    text = source_text(Turn(number=2, role="assistant", author="model", blocks=(call,)))
    assert "hunter2x" not in text
    assert 'host="db-4"' in text


def test_special_tokens_are_text() -> None:
    assert "<|endoftext|>" in source_text(user("why does <|endoftext|> end my stream?"))


def test_a_turn_that_says_nothing_is_nothing() -> None:
    assert source_text(assistant(THINKING, " \n")) == ""
    assert source_lines(assistant(THINKING)) == []


def test_a_turn_larger_than_the_window_is_cut_and_says_so() -> None:
    turn = assistant("Looking.", results=["word " * 2000] * 60)
    (group,) = chunks([turn], tokens=900, count=count)
    lines = rendered(group, tokens=900, count=count)
    assert isinstance(lines[0], Line)
    assert lines[0].text.startswith("Looking.")
    assert any("left out here" in line.text for line in lines)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Please make sure that the tests for this pass before you go on with it.", "en"),
        ("Bitte prüfe, ob die Tests auch mit der neuen Version laufen, und dann weiter.", "de"),
        ("Je veux que les tests passent avec cette version, et pas seulement sur ma machine.", "fr"),
        ("Quiero que los tests pasen con esta versión y no solo en la máquina de desarrollo.", "es"),
        ("数据库的所有调用都必须使用预处理语句。use prepared statements", "zh"),
        ("すべてのクエリでプリペアドステートメントを使ってください。", "ja"),
        ("모든 데이터베이스 호출은 준비된 문을 사용해야 합니다.", "ko"),
        ("Все запросы к базе данных должны использовать подготовленные выражения.", "ru"),
        ("يجب أن تستخدم جميع استدعاءات قاعدة البيانات عبارات معدة مسبقا", "ar"),
        ("42", UNKNOWN),
    ],
)
def test_the_language_is_the_users(said: str, code: str) -> None:
    answer = assistant("Yes, I will do that for you, and this is what it is.")
    assert language_of([user(said), *([answer] if code != UNKNOWN else [])]) == code
