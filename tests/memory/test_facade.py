"""Memory through the facade: closing a conversation, what the next one begins with, and what leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr import AssembledRequest, Conversation, Manager, NotFoundError
from contextmgr.profiles import Profile, load_profile

MODEL = "claude-sonnet-5-5"


def profile(memory: str) -> Profile:
    return load_profile("support-chat").model_copy(update={"memory": memory})


def tell(chat: Conversation, *texts: str) -> None:
    for text in texts:
        chat.add_user(text)
        chat.add_reply({"role": "assistant", "content": [{"type": "text", "text": "Noted."}]})


def first_request(manager: Manager, text: str, name: str = "new") -> AssembledRequest:
    chat = manager.conversation(name, tenant="t", user="u")
    chat.add_user(text)
    return chat.assemble(model=MODEL, max_tokens=300)


TOLD = ("My shoe size is 43.", "We deploy to Frankfurt.", "Please always answer in metric units.")


def taught(manager: Manager, **more: str) -> Conversation:
    chat = manager.conversation("old", tenant="t", user="u", **more)  # type: ignore[arg-type]
    tell(chat, *TOLD)
    chat.close()
    manager.flush()
    return chat


@pytest.mark.parametrize(
    ("memory", "shown"),
    [("blank", (False, False)), ("relevant", (True, False)), ("all", (True, True))],
)
def test_a_new_conversation_begins_with_what_its_profile_says(
    tmp_path: Path, memory: str, shown: tuple[bool, bool]
) -> None:
    with Manager(tmp_path / "a.db", profile=profile(memory)) as manager:
        taught(manager)
        sent = str(first_request(manager, "Which shoe size should I order?").params)
    assert ("43" in sent, "Frankfurt" in sent) == shown


def test_what_was_remembered_stays_in_later_epochs(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("relevant")) as manager:
        taught(manager)
        chat = manager.conversation("new", tenant="t", user="u")
        for text in ("Which shoe size should I order?", "And what about the weather?", "Thanks."):
            chat.add_user(text)
            request = chat.assemble(model=MODEL, max_tokens=300)
            chat.add_reply({"role": "assistant", "content": [{"type": "text", "text": "Here."}]})
            assert "43" in str(request.params["messages"][0])


def test_a_fact_of_another_conversation_names_it(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("relevant")) as manager:
        taught(manager)
        sent = str(first_request(manager, "Which shoe size should I order?").params)
    assert 'user, turn 1, in conversation "old"' in sent


def test_nobody_else_begins_with_it(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("all")) as manager:
        taught(manager)
        for scope in ({"tenant": "t"}, {"tenant": "t", "user": "v"}, {"tenant": "x", "user": "u"}):
            chat = manager.conversation("new", **scope)
            chat.add_user("Which shoe size should I order?")
            assert "43" not in str(chat.assemble(model=MODEL, max_tokens=300).params)


@pytest.mark.parametrize("visibility", ["excluded", "incognito"])
def test_nothing_is_learned_from_hidden_conversations(tmp_path: Path, visibility: str) -> None:
    with Manager(tmp_path / "a.db", profile=profile("all")) as manager:
        taught(manager, visibility=visibility)
        assert "43" not in str(first_request(manager, "Which shoe size should I order?").params)


def test_an_incognito_conversation_is_gone_once_it_is_closed(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("all")) as manager:
        chat = taught(manager, visibility="incognito")
        with pytest.raises(NotFoundError):
            chat.history.count()
    assert b"shoe size" not in (tmp_path / "a.db").read_bytes()


def test_extracting_on_demand_reads_each_turn_once(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("blank"), background=False) as manager:
        chat = manager.conversation("old", tenant="t", user="u")
        tell(chat, *TOLD)
        assert manager.extract("old", tenant="t", user="u") == 3
        assert manager.extract("old", tenant="t", user="u") == 0
        assert chat.pending() == []
        with pytest.raises(NotFoundError):
            manager.extract("old", tenant="t")


def test_a_handoff_says_what_is_in_force(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile="coding-agent") as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("All database calls must use prepared statements.", pin=True)
        chat.facts.set("store", "SQLite", turn=1)
        chat.notes.set("next steps", "migrate orders")
        text = chat.handoff().text()
    assert "All database calls must use prepared statements." in text
    assert "SQLite" in text
    assert "migrate orders" in text


def test_an_old_fact_is_found_among_very_many(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile("relevant"), background=False) as manager:
        old = manager.conversation("old", tenant="t", user="u")
        old.facts.set("shoe_size", 43, scope="project")
        for number in range(400):
            old.facts.set(f"lamp {number}", f"on floor {number}", scope="project")
        assert "shoe_size: 43" in str(first_request(manager, "Which shoe size should I order?").params)
