"""What a new user turn brings into a snapshot: evidence, and what is remembered of other conversations.

Law: both are looked for once, when the turn is new, and read back from the record afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from contextmgr.epochs import Snapshot
from contextmgr.facts import FactScope
from contextmgr.profiles import Profile
from contextmgr.remembering import chosen
from contextmgr.retrieval import Searcher, found_before
from contextmgr.scope import Scope
from contextmgr.store import Store
from contextmgr.telemetry import span
from contextmgr.tokens import Count

REMEMBERED = 2_000  # facts of each wider scope that are looked at, the newest


def with_evidence(snapshot: Snapshot, searcher: Searcher | None, profile: Profile) -> Snapshot:
    """With what a search finds for the newest user turn if that is new, else with what it found then."""
    asked, tier = snapshot.in_hand, profile.retrieved
    if searcher is None or asked is None or not (tier.enabled and tier.k and tier.cap):
        return snapshot
    if snapshot.last is not None and asked.number <= snapshot.last.tail:
        return replace(snapshot, evidence=found_before(snapshot.rows, snapshot.last.report, asked.number))
    if asked.number < tier.min_turns or not _may_leave(snapshot, profile):
        return snapshot
    previous = [t for t in snapshot.turns if t.number < asked.number]
    pinned = [p.text for p in snapshot.pins]
    with span("retrieve", {"gen_ai.conversation.id": snapshot.conversation}) as under_way:
        found = searcher.evidence(snapshot.conversation, asked, previous, pinned, tier)
        under_way.set({"contextmgr.found": len(found)})
    return replace(snapshot, evidence=found, searched=True)


def _may_leave(snapshot: Snapshot, profile: Profile) -> bool:
    """Whether any turn is out of view, or may be after a rollover."""
    if snapshot.turns[0].number > 1 or (snapshot.epoch is not None and snapshot.epoch.first > 1):
        return True
    weight = sum(sum(t.features) + sum(sum(r.features) for r in t.results) for t in snapshot.turns)
    return 4 * weight > profile.budget  # the budget is in weighted tokens, of which there may be more


def with_memory(snapshot: Snapshot, store: Store, scope: Scope, profile: Profile, count: Count) -> Snapshot:
    """With the facts of other conversations that a new one begins with, as its profile asks."""
    if snapshot.last is not None or profile.memory == "blank" or snapshot.in_hand is None:
        return snapshot
    with store.reading(scope) as tx:
        wider = [f for s in (FactScope.PROJECT, FactScope.USER) for f in tx.state.facts("", s, REMEMBERED)]
    known = {f.id for f in snapshot.state.facts}
    others = [f for f in wider if f.conversation != snapshot.conversation and f.id not in known]
    found = chosen(others, snapshot.in_hand.text, profile.memory, profile.state.cap, count)
    if not found:
        return snapshot
    state = replace(snapshot.state, facts=(*snapshot.state.facts, *found))
    return replace(snapshot, state=state, recalled=tuple(f.id for f in found))
