"""Vectors: tagged with their model, never mixed, made anew when it changes, and never in the way of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from contextmgr import InputError, Manager
from contextmgr.conversation import Conversation
from contextmgr.embedders import Embedder, EmbedderError, FunctionEmbedder, VoyageEmbedder, vectors_of
from contextmgr.profiles import load_profile

PROFILE = load_profile("support-chat")
MEANINGS = (("bicycle", "bike", "cycling"), ("dinner", "supper", "meal"), ("rain", "storm", "wet"))


def meanings(texts: Sequence[str]) -> list[list[float]]:
    """A toy that knows three meanings."""
    return [[0.05 + sum(t.lower().count(w) for w in group) for group in MEANINGS] for t in texts]


TOY = FunctionEmbedder("toy-1", 3, meanings)


def told(manager: Manager) -> Conversation:
    chat = manager.conversation("c", tenant="t")
    for i in range(20):
        chat.add_user({4: "My bike was stolen.", 9: "We had supper at eight."}.get(i, f"Note {i} about the office."))
    return chat


def models(chat: Conversation, model: str) -> int:
    with chat._store.reading(chat.scope) as tx:
        return len(tx.search.vectors(chat.id, model))


def test_they_find_what_shares_no_word(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=TOY) as manager:
        chat = told(manager)
        assert manager.flush() == 0
        assert chat.search("cycling", k=1)[0].turn == 5
        assert "similarity" in chat.search("cycling", k=1)[0].reason


def test_off_by_default(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", background=False) as manager:
        chat = told(manager)
        manager.flush()
        assert chat.search("cycling") == []


def test_another_model_makes_them_anew_and_mixes_nothing(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=TOY) as manager:
        told(manager)
    other = FunctionEmbedder("toy-2", 2, lambda texts: [[1.0, len(t)] for t in texts])
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=other) as manager:
        chat = manager.conversation("c", tenant="t")
        assert (models(chat, "toy-1/3"), models(chat, "toy-2/2")) == (20, 0)
        assert chat.search("note 7 office")[0].turn == 8
        assert manager.flush() == 0
        assert (models(chat, "toy-1/3"), models(chat, "toy-2/2")) == (0, 20)


def failing(texts: Sequence[str]) -> list[list[float]]:
    raise ConnectionError("no network")


def test_a_failing_embedder_leaves_the_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = FunctionEmbedder("broken", 3, failing)
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=broken) as manager:
        chat = told(manager)
        assert manager.flush() > 0
        assert chat.search("bike stolen")[0].turn == 5
    assert "ConnectionError" in caplog.text


def test_other_dimensions_under_the_same_name_are_not_mixed(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=TOY) as manager:
        told(manager)
    other = FunctionEmbedder("toy-1", 2, lambda texts: [[1.0, len(t)] for t in texts])
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=other) as manager:
        chat = manager.conversation("c", tenant="t")
        assert chat.search("note 7 office")[0].turn == 8
        assert manager.flush() == 0
        assert (models(chat, "toy-1/3"), models(chat, "toy-1/2")) == (0, 20)


def test_withdrawn_turns_keep_no_other_from_its_vector(tmp_path: Path) -> None:
    one_by_one = FunctionEmbedder("toy-1", 3, meanings, max_batch=1)
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=one_by_one) as manager:
        chat = told(manager)
        chat.withdraw(20, "no longer wanted")
        assert manager.flush() == 0
        assert models(chat, "toy-1/3") == 19


def test_a_failure_that_passes_is_tried_again(tmp_path: Path) -> None:
    down = iter([True, True])

    def at_first_failing(texts: Sequence[str]) -> list[list[float]]:
        return failing(texts) if next(down, False) else meanings(texts)

    embedder = FunctionEmbedder("toy-1", 3, at_first_failing, max_batch=8)
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=embedder) as manager:
        chat = told(manager)
        assert manager.flush() > 0
        assert manager.flush() == 0
        assert models(chat, "toy-1/3") == 20


def test_a_text_that_cannot_be_embedded_is_the_only_one_without(tmp_path: Path) -> None:
    def picky(texts: Sequence[str]) -> list[list[float]]:
        return failing(texts) if any("bike" in t for t in texts) else meanings(texts)

    embedder = FunctionEmbedder("toy-1", 3, picky, max_batch=8)
    with Manager(tmp_path / "a.db", profile=PROFILE, background=False, embedder=embedder) as manager:
        chat = told(manager)
        assert [manager.flush() for _ in range(3)] == [1, 1, 1]
        assert models(chat, "toy-1/3") == 19


@pytest.mark.parametrize(
    "function",
    [
        failing,
        lambda texts: [],
        lambda texts: [[1.0]],
        lambda texts: [[0.0, 0, 0]],
        lambda texts: [[float("nan"), 1, 1]],
    ],
)
def test_what_is_no_vector_is_refused(function: Callable[[Sequence[str]], Any]) -> None:
    with pytest.raises(EmbedderError):
        vectors_of(FunctionEmbedder("bad", 3, function), ["x"], kind="query")


def test_vectors_have_length_one() -> None:
    found = vectors_of(TOY, ["bike supper", "rain"], kind="document")
    assert [round(float((v * v).sum()), 5) for v in found] == [1.0, 1.0]


class Client:
    """Answers like Voyage's client, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def embed(self, texts: list[str], **given: Any) -> Any:
        self.asked.append(given)
        return type("Answer", (), {"embeddings": [[1.0, 0.0] for _ in texts]})()


@pytest.mark.parametrize("kind", ["query", "document"])
def test_voyage_is_told_what_a_text_is(kind: Any) -> None:
    client = Client()
    embedder: Embedder = VoyageEmbedder(client, "voyage-3.5", 2)
    assert vectors_of(embedder, ["x"], kind=kind).shape == (1, 2)
    assert client.asked == [{"model": "voyage-3.5", "input_type": kind, "output_dimension": 2}]


def test_an_embedder_without_numpy_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextmgr.embedders.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs numpy"):
        Manager("sqlite://", embedder=TOY)
