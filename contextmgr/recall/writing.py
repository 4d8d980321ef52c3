"""What a model keeps of a conversation: notes, and values with the turn that says them."""

from __future__ import annotations

from contextmgr import jsontext
from contextmgr.facts import FactScope
from contextmgr.keeping import Keeping
from contextmgr.reading import is_visible
from contextmgr.recall.access import Asking
from contextmgr.recall.answers import Draft
from contextmgr.recall.arguments import ArgumentError, Arguments, shown
from contextmgr.store import Transaction
from contextmgr.toolnames import NOTE, REMEMBER

NOTE_FIELDS = ("section", "text", "mode")
REMEMBER_FIELDS = ("key", "value", "source_turn")
MODES = ("replace", "append")


def note(keeping: Keeping, tx: Transaction, asking: Asking, given: object) -> Draft:
    """Write to the scratchpad."""
    arguments = Arguments(NOTE, given, NOTE_FIELDS)
    conversation = _conversation(NOTE, asking)
    section, append = arguments.text("section"), arguments.choice("mode", MODES) == "append"
    if not isinstance(arguments.value("text"), str) or not jsontext.is_sendable(arguments.value("text")):
        raise ArgumentError("text must be a string of plain text")  # the audit keeps the sentence, not the note
    text = arguments.text("text", blank=not append)
    kept = keeping.set_note(tx, conversation, section, text, append=append, via=asking.via)
    said = {"noted": kept.section, "characters": len(kept.text)} if kept.text else {"taken_away": kept.section}
    return Draft(head=said, found=[{"section": kept.section}])


def remember(keeping: Keeping, tx: Transaction, asking: Asking, given: object) -> Draft:
    """Keep a value with the turn that says it; the author is the model, who may name a turn that does not."""
    arguments = Arguments(REMEMBER, given, REMEMBER_FIELDS)
    conversation = _conversation(REMEMBER, asking)
    key, value = arguments.text("key"), arguments.value("value")
    source = arguments.whole("source_turn", least=1) if "source_turn" in arguments else _newest(tx, conversation)
    turn = tx.turn(conversation, source)
    if turn is None or not is_visible(turn):
        raise ArgumentError(f"source_turn={source} is no turn of this chat that can be cited")
    old = tx.state.current(conversation, FactScope.CONVERSATION, key)
    if old is not None and old.author == "operator":
        raise ArgumentError(
            f"{shown(key)} was set by the operator and stays as it is; use another key for what was said"
        )
    fact = keeping.set_fact(tx, conversation, key, value, author="model", turn=source, via=asking.via)
    told: dict[str, object] = {"remembered": key, "source_turn": source}
    if jsontext.canonical(fact.value) != jsontext.canonical(value):
        told = {
            "kept_as_history": key,
            "in_force": shown(fact.value),
            "reason": f"turn {fact.turn} is newer than turn {source}",
        }
    return Draft(head=told, found=[{"fact": fact.id, "turns": [source]}], notes=arguments.notes)


def _newest(tx: Transaction, conversation: str) -> int:
    record = tx.conversation(conversation)
    newest = tx.newest_user(conversation, record.last_turn) if record is not None else None
    if newest is None:
        raise ArgumentError("this chat has no turn of the user yet; give source_turn")
    return newest.number


def _conversation(tool: str, asking: Asking) -> str:
    if asking.conversation is None:
        raise ArgumentError(f"{tool} works inside a conversation only, and this call comes from none")
    return asking.conversation
