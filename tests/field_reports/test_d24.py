"""D24: pins over their quota are sent whole, or refused by name; they never vanish or shrink in silence.

How evidence and summaries give way to them comes with retrieval and compaction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.errors import BudgetError, PinBudgetError, UnsendablePinError
from contextmgr.pinning import PinShareWarning
from contextmgr.profiles import Profile
from tests.field_reports.talk import ask, exchange, log, opened, profile, prose, reply, step, text, texts_in

PINS, TOTAL, QUOTA = 30, 20_000, 8_000
RULES = [prose(340, f"Rule {i}: never drop table {i}.") for i in range(PINS)]


def quota(total: int = TOTAL) -> Profile:
    """A profile whose pinned tier holds 8k tokens."""
    data = profile(total, min_turns=20).model_dump()
    small = {"cap": 0, "floor": 0}
    caps = {"task": {"cap": 0}, "state": small, "summary": {**data["summary"], "cap": 0}}
    recent = {"min_turns": 20, "floor": 600, "result_cap": 600}
    pinned = {"cap": min(QUOTA, total - 2_000), "warn_share": 0.5}
    return Profile(**{**data, **caps, "recent": recent, "pinned": pinned, "retrieved": {**data["retrieved"], "cap": 0}})


@pytest.fixture
def quiet() -> Iterator[None]:
    """For tests that are not about the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinShareWarning)
        yield


def pin_all(chat: Conversation) -> None:
    for rule in RULES:
        chat.add_user(rule, pin=True)
        chat.add_reply(reply(text("Noted.")))


def talk(chat: Conversation, turns: int) -> None:
    """Small talk with tool output in between."""
    for i in range(turns // 2):
        chat.add_user(f"Question {i}: {prose(20)}")
        step(chat, f"tu_{i}", log(30))
        chat.add_reply(reply(text(prose(20, f"Answer {i}."))))
    chat.add_user("And now?")


@pytest.mark.usefixtures("quiet")
def test_d24_at_twenty_thousand_all_thirty_are_there_word_for_word(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", quota()) as chat:
        pin_all(chat)
        talk(chat, 20)
        request = ask(chat)
        said = texts_in(request, "user")
        assert [t for t in said if t.startswith("Rule")] == RULES
        assert len(request.proof) == PINS
        tiers = request.report.tiers
        assert tiers["pinned"] > 12_000
        assert sum(tiers.values()) == request.report.tokens <= TOTAL
        assert request.report.disposition(1).value == "pinned"


@pytest.mark.usefixtures("quiet")
def test_d24_lower_tiers_give_way_in_the_documented_order(tmp_path: Path) -> None:
    """With room to spare nothing gives way; with less, old outputs are masked before any words leave."""
    kept = {}
    with opened(tmp_path / "a.db", quota(40_000)) as chat:
        pin_all(chat)
        talk(chat, 60)
    for total in (60_000, 40_000, 30_000, 25_000, 22_000, 20_000):
        with opened(tmp_path / "a.db", quota(total)) as chat:
            report = ask(chat, max_tokens=total // 20).report
            shown = [s for s in report.turns if s.disposition.value in ("verbatim", "cut", "masked")]
            verbatim = [s for s in shown if s.disposition.value == "verbatim"]
            kept[total] = sum(s.last - s.first + 1 for s in shown), sum(s.last - s.first + 1 for s in verbatim)
            assert report.pins == PINS
    assert [k for k, _ in kept.values()] == sorted((k for k, _ in kept.values()), reverse=True)
    assert kept[60_000][1] > kept[20_000][1]


@pytest.mark.usefixtures("quiet")
def test_d24_at_twelve_thousand_a_typed_error_lists_every_pin_and_its_size(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", quota()) as chat:
        pin_all(chat)
        chat.add_user("And now?")
        ids = {p.id: p.tokens for p in chat.pins.list()}
    with opened(tmp_path / "a.db", quota(12_000)) as chat:
        with pytest.raises(BudgetError, match=r"revoke pins") as caught:
            ask(chat)
        assert caught.value.pins == ids
        assert all(f"{pin} {tokens}" in str(caught.value) for pin, tokens in ids.items())
        assert caught.value.tiers["pinned"] + caught.value.tiers["system"] > caught.value.budget == 12_000
        for pin in list(ids)[:20]:
            chat.pins.revoke(pin, "too many")
        assert len(ask(chat).proof) == 10


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("total", [12_000, 14_000, 15_000, 15_500, 16_000, 17_000, 20_000, 40_000])
def test_d24_at_every_total_all_pins_or_a_refusal(tmp_path: Path, total: int) -> None:
    with opened(tmp_path / "a.db", quota()) as chat:
        pin_all(chat)
        talk(chat, 20)
    with opened(tmp_path / "a.db", quota(total)) as chat:
        if total < 17_500:
            with pytest.raises(BudgetError) as caught:
                ask(chat)
            assert len(caught.value.pins) == PINS
        else:
            assert [t for t in texts_in(ask(chat), "user") if t.startswith("Rule")] == RULES


def test_d24_writing_warns_once_the_pins_pass_their_share(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", quota()) as chat:
        warned = []
        for rule in RULES[:14]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                chat.add_user(rule, pin=True)
            warned.append([str(w.message) for w in caught if w.category is PinShareWarning])
        first = next(i for i, w in enumerate(warned) if w)
        tokens = [p.tokens for p in chat.pins.list()]
        assert sum(tokens[:first]) < QUOTA / 2 < sum(t + 40 for t in tokens[: first + 1])
        assert all(len(w) == 1 for w in warned[first:])
        assert f"of {QUOTA} tokens" in warned[first][0]


@pytest.mark.usefixtures("quiet")
def test_d24_a_pin_that_could_never_fit_is_refused_when_written(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", quota(12_000)) as chat:
        with pytest.raises(PinBudgetError, match=r"could never fit the budget of 12000 tokens.*quote"):
            chat.add_user(prose(20_000), pin=True)
        assert chat.history.count() == 0
        with pytest.raises(PinBudgetError, match="revoke or replace some"):
            pin_all(chat)
        pins = chat.pins.list()
        assert len(pins) == (chat.history.count() + 1) // 2
        assert sum(p.tokens for p in pins) < 12_000
        chat.add_user("And now?")
        with pytest.raises(BudgetError, match=pins[0].id):
            ask(chat)  # system and tools were not known when the pins were written
        for pin in pins[:4]:
            chat.pins.revoke(pin.id, "too many")
        assert len(ask(chat).proof) == len(pins) - 4


@pytest.mark.usefixtures("quiet")
def test_d24_the_operators_pins_and_the_users_share_one_quota(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=quota(12_000)) as manager:
        shared = manager.project_pins(tenant="t-1", project="p")
        for rule in RULES[:10]:
            shared.add(rule)
        chat = manager.conversation("talk", tenant="t-1", project="p")
        with pytest.raises(PinBudgetError, match="pins would take"):
            pin_all(chat)
        assert [p.text for p in chat.pins.list()][:11] == [*RULES[:10], RULES[0]]
        for pin in chat.pins.list()[10:]:
            chat.pins.revoke(pin.id, "the operator has said it")
        chat.add_user("And now?")
        assert len(ask(chat).proof) == 10


@pytest.mark.usefixtures("quiet")
def test_d24_operators_pins_added_later_are_named_when_they_no_longer_fit(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=quota(12_000)) as manager:
        chat = manager.conversation("talk", tenant="t-1", project="p")
        for rule in RULES[:14]:
            chat.add_user(rule, pin=True)
        ask(chat)
        shared = manager.project_pins(tenant="t-1", project="p")
        for rule in RULES[14:]:
            shared.add(rule)
        with pytest.raises(BudgetError) as caught:
            ask(chat)
        assert len(caught.value.pins) == PINS
        assert chat.request_at(1).report.pins == 14


@pytest.mark.parametrize("rule", ["", " \n", "\x00", "pi\udc97ce"])
def test_d24_a_pin_that_could_not_be_sent_word_for_word_is_refused(tmp_path: Path, rule: str) -> None:
    with Manager(tmp_path / "a.db", profile=profile(20_000)) as manager:
        with pytest.raises(UnsendablePinError):
            manager.project_pins(tenant="t-1", project="p").add(rule)
        assert manager.project_pins(tenant="t-1", project="p").list() == ()


@pytest.mark.usefixtures("quiet")
def test_d24_pins_stay_whole_while_the_talk_goes_on_around_them(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", quota()) as chat:
        pin_all(chat)
        for i in range(25):
            request = exchange(chat, f"Question {i}: {prose(60)}", prose(60))
            assert [t for t in texts_in(request, "user") if t.startswith("Rule")] == RULES
        assert request.report.epoch > 1
