"""D22: text that is not English is under-counted."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable

import pytest

from contextmgr.counters import FallbackCounter, TokenCounter, default_counter
from contextmgr.features import total
from contextmgr.tokens import Calibration, block_features, message_frame, text_features

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
