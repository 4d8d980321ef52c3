"""The public conversations: they load as described, and search reaches its floors on all of them with one set of
defaults.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpora import SetName, load
from benchmarks.retrieval import run

SIZES: dict[SetName, tuple[int, int, int]] = {
    # conversations, messages, questions with evidence
    "locomo": (5, 2_760, 997),
    "beam": (10, 2_734, 179),
    "longmemeval": (1, 1_541, 242),
}
FLOORS: dict[SetName, float] = {"locomo": 0.68, "beam": 0.54, "longmemeval": 0.80}


@pytest.fixture
def folder(data_dir: Path) -> Path:
    """Where the sets are; skipped without them."""
    found = data_dir / "conversations"
    if not found.is_dir():
        pytest.skip(f"no conversations in {data_dir}")
    return found


@pytest.mark.parametrize("name", SIZES)
def test_a_set_has_its_known_size(name: SetName, folder: Path) -> None:
    corpora = load(name, folder)
    messages, questions = (
        sum(map(len, parts)) for parts in zip(*((c.messages, c.questions) for c in corpora), strict=True)
    )
    assert (len(corpora), messages, questions) == SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_messages_are_numbered_and_evidence_exists(name: SetName, folder: Path) -> None:
    for corpus in load(name, folder / name):
        assert [m.number for m in corpus.messages] == list(range(1, len(corpus.messages) + 1))
        assert all(m.episode <= m.number for m in corpus.messages)
        assert all(q.evidence and max(q.evidence) <= len(corpus.messages) for q in corpus.questions)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_recall_is_above_its_floor(name: SetName, folder: Path) -> None:
    assert run(name, folder, None)["scores"]["all"]["recall@10"][0] >= FLOORS[name]
