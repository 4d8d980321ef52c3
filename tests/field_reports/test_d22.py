"""D22: text that is not English is under-counted."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contextmgr.counters import FallbackCounter, TokenCounter, default_counter
from contextmgr.features import total
from contextmgr.tokens import Calibration, block_features, message_frame, text_features
from tests.field_reports.talk import ask, exchange, opened, step
from tests.request_check import texts_of

TURNS = 200
SENTENCES = {
    "Chinese": "所有数据库调用都必须使用预处理语句，这一点没有商量的余地。请先检查第五轮里的规则，再重写数据访问层。",
    "Japanese": "データベースの呼び出しは、すべてプリペアドステートメントを使ってください。これは譲れない条件です。",
    "Korean": "모든 데이터베이스 호출은 준비된 구문을 사용해야 합니다. 이것은 협상할 수 없는 규칙입니다.",
    "Arabic": "يجب أن تستخدم جميع استدعاءات قاعدة البيانات العبارات المُعدّة مسبقاً، وهذا أمر غير قابل للتفاوض.",
    "emoji": "🚀🔥👍🏽👨‍👩‍👧‍👦❤️✨🤖🐍🎉😀🇩🇪🏳️‍🌈👩🏽‍💻",
    "minified JSON": json.dumps(
        [{"id": 71, "userName": "user_71", "isActive": True, "createdAt": "2026-08-17T09:15:00Z", "score": 0.71}],
        separators=(",", ":"),
    ),
}
VERSIONS = {"v3": "3.0", "v4": "4.8"}


def turn(language: str) -> str:
    """One turn of 400 characters."""
    return (SENTENCES[language] * 40)[:400]


@pytest.fixture(scope="module")
def reference() -> Callable[[str, str], int]:
    try:
        count: Callable[[str, str], int] = importlib.import_module("ctok").token_count
    except ImportError:
        pytest.skip("no reference count: pip install 'contextmgr[exact-tokens]' on Python 3.12 or later")
    return count


@pytest.fixture(params=[default_counter, FallbackCounter], ids=["tokenizer", "no tokenizer"])
def counter(request: pytest.FixtureRequest) -> TokenCounter:
    made: TokenCounter = request.param()
    return made


@pytest.mark.parametrize("family", VERSIONS)
@pytest.mark.parametrize("language", SENTENCES)
def test_never_below_the_reference(
    reference: Callable[[str, str], int], counter: TokenCounter, language: str, family: str
) -> None:
    true = TURNS * reference(turn(language), VERSIONS[family])
    block = block_features({"type": "text", "text": turn(language)}, counter.count)
    features = total([block] * TURNS + [message_frame(TURNS)])
    assert Calibration.prior(family).tokens(features) >= 0.95 * true


@pytest.mark.parametrize("language", ["Chinese", "Japanese", "Korean"])
def test_without_a_tokenizer_each_character_counts(language: str) -> None:
    text = "".join(c for c in turn(language) if ord(c) > 0x3000)
    assert sum(text_features(text, FallbackCounter().count)[:4]) >= 0.9 * len(text)


def test_without_a_tokenizer_each_emoji_counts() -> None:
    text = "".join(c for c in turn("emoji") if ord(c) > 0xFFFF)
    assert sum(text_features(text, FallbackCounter().count)[:4]) >= len(text)


def test_a_safety_factor_can_be_asked_for() -> None:
    features = text_features(turn("Korean"), default_counter().count)
    careful, usual = Calibration.prior("v4", safety=1.5), Calibration.prior("v4")
    assert careful.tokens(features) == pytest.approx(1.5 * usual.tokens(features), rel=0.01)


# What follows drives a whole conversation: one estimate serves trigger, cut point and final check.


def cl100k(params: object) -> int:
    """A count that is always at hand: another tokenizer's, so a lower bound for most of these texts."""
    return sum(default_counter().count(text) for text in texts_of(params))  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [default_counter, FallbackCounter], ids=["tokenizer", "no tokenizer"])
@pytest.mark.parametrize("language", SENTENCES)
def test_d22_two_hundred_turns_stay_within_the_budget_by_another_count(
    tmp_path: Path, language: str, made: Callable[[], TokenCounter]
) -> None:
    with opened(tmp_path / "a.db", 20_000, counter=made()) as chat:
        for i in range(TURNS // 2):
            chat.add_user(turn(language))
            if i % 10 == 9:
                request = ask(chat)
                assert cl100k(request.params) <= min(20_000, request.report.tokens / 0.95)
            chat.add_reply({"content": turn(language), "stop_reason": "end_turn"})
        assert request.report.epoch > 1


@pytest.mark.parametrize("language", SENTENCES)
def test_d22_a_huge_result_is_cut_to_what_it_may_weigh(tmp_path: Path, language: str) -> None:
    with opened(tmp_path / "a.db", 20_000) as chat:
        chat.add_user("Read it.")
        step(chat, "tu_1", turn(language) * 200)
        request = ask(chat)
        assert 1_000 <= cl100k(request.params) <= 5_000


def test_d22_a_factor_per_model_is_put_on_every_estimate(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text("[models.claude-sonnet-5-5]\nsize_factor = 1.5\n")
    sizes = []
    for models in (None, tmp_path / "models.toml"):
        with opened(tmp_path / f"{len(sizes)}.db", 20_000, models=models) as chat:
            sizes.append(exchange(chat, turn("Korean")).report.tokens)
    assert sizes[1] == pytest.approx(1.5 * sizes[0], rel=0.01)
