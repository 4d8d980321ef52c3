"""Erasing a turn reaches every copy of it; `tables.REACH` says how for each table, and a test checks the list.

The turn's row stays as a tombstone, so that numbers do not move; its text, hash and metadata are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from contextmgr import jsontext
from contextmgr.store import rows, summary_rows
from contextmgr.store.statements import OWNED
from contextmgr.summaries import SegmentStatus, outdated
from contextmgr.views import EVIDENCE_REF, Part, PrefaceBlock


class Run(Protocol):
    """Runs a named statement within a scope."""

    def __call__(self, name: str, conversation: str | None = None, values: Mapping[str, Any] | None = None) -> Any: ...


def erase_turn(run: Run, conversation: str, number: int) -> None:
    """Blank turn ``number`` and every block, pin and proof copied from it; epochs that showed it end."""
    n = {"n": number}
    pins = [r["id"] for r in run("conversation_pins", conversation).fetchall() if r["n"] == number]
    run("blank_turn", conversation, n)
    run("delete_results", conversation, n)
    run("blank_pins", conversation, n)
    run("forget_contexts", conversation, n)
    _blank_summaries(run, conversation, number)
    _blank_state(run, conversation, number)
    run("blank_job_errors", conversation, n)
    _blank_prefaces(run, conversation, number)
    for ref in [*pins, f"late:{number}"]:
        for row in run("rows_of_turn", conversation, n | {"ref": ref}).fetchall():
            run("blank_row", conversation, {"epoch": row["epoch"], "ord": row["ord"]})
    for row in run("evidence_rows", conversation).fetchall():
        if str(number) in (row["ref"] or "").removeprefix(EVIDENCE_REF).split(","):
            run("blank_row", conversation, {"epoch": row["epoch"], "ord": row["ord"]})
    _blank_proofs(run, conversation, set(pins))


def _blank_state(run: Run, conversation: str, number: int) -> None:
    """Facts and notes that a turn said or wrote, wherever they were shown, titles made of it, queries asked in it."""
    said = [r for r in run("facts_of", conversation).fetchall() if number in (r["n"], r["via"])]
    for fact in said:
        run("blank_fact", None, {"id": fact["id"]})
    wrote = [r for r in run("notes", conversation).fetchall() if number in jsontext.loads(r["turns"])]
    for note in wrote:
        run("blank_note", conversation, {"section": note["section"]})
    if said or wrote:
        _blank_shown_state(run, (said or wrote)[0]["conv"])
    _blank_recalled(run, [fact["id"] for fact in said])
    run("blank_audits", conversation, {"n": number})
    row = run("conversation", conversation).fetchone()
    if row is not None and row["title_made"]:
        run("set_title", conversation, {"new_title": None, "new_title_made": 0})


def _blank_recalled(run: Run, facts: Sequence[str]) -> None:
    """Copies of facts in the requests of other conversations, which may lie in another project of the user."""
    keys = {r["conv"] for fact in facts for r in run("recalling", None, {"id": fact}).fetchall()}
    for key in sorted(keys):
        _blank_shown_state(run, key)


def _blank_shown_state(run: Run, key: str) -> None:
    """The state as it was shown in a conversation's requests; its epochs end."""
    here = {"conv": key}
    run("raise_version", None, here)
    for epoch in run("epochs", None, here).fetchall():
        preface = rows.read_preface(epoch["preface"])
        if any(p.part is Part.STATE for p in preface):
            kept = tuple(_blanked(p) if p.part is Part.STATE else p for p in preface)
            run("blank_preface", None, here | {"no": epoch["no"], "new_preface": rows.preface_text(kept)})
    for row in run("state_rows", None, here).fetchall():
        run("blank_row", None, here | {"epoch": row["epoch"], "ord": row["ord"]})
        run("break_epoch", None, here | {"no": row["epoch"], "new_broken": "erased"})


def _blank_prefaces(run: Run, conversation: str, number: int) -> None:
    for epoch in run("epochs", conversation).fetchall():
        preface = rows.read_preface(epoch["preface"])
        told = number < epoch["first"]  # a summary is about turns before the window only
        kept = tuple(_blanked(p) if p.turn == number or (told and p.part is Part.SUMMARY) else p for p in preface)
        run("blank_preface", conversation, {"no": epoch["no"], "new_preface": rows.preface_text(kept)})


def _blank_summaries(run: Run, conversation: str, number: int) -> None:
    """Segments that read the turn are blanked, merged ones too; parts of theirs that did not stand again."""
    found = [summary_rows.read_summary(r) for r in run("summaries", conversation).fetchall()]
    gone, again = outdated(found, number)
    for segment in gone:
        run("blank_summary", conversation, {"id": segment.id})
    for segment in again:
        run("set_summary", conversation, {"id": segment.id, "new_status": SegmentStatus.ACTIVE.value, "new_into": None})


def _blanked(part: PrefaceBlock) -> PrefaceBlock:
    return PrefaceBlock(part=part.part, block={}, pin=part.pin, turn=part.turn, index=part.index)


def _blank_proofs(run: Run, conversation: str, pins: set[str]) -> None:
    if not pins:
        return
    for row in run("requests", conversation).fetchall():
        proof = jsontext.loads(row["proof"])
        kept = [p for p in proof if p.get("pin") not in pins]
        if len(kept) != len(proof):
            run("set_proof", conversation, {"seq": row["seq"], "new_proof": jsontext.dumps(kept)})


def erase_conversation(run: Run, conversation: str) -> None:
    """Delete every row that the conversation owns, the heads that only it was sent with, and copies of its facts."""
    _blank_recalled(run, [r["id"] for r in run("facts_of", conversation).fetchall()])
    for table in OWNED:
        run(f"delete_all_{table.name}", conversation)
    run("delete_unused_heads")
