"""What to search for when a question points back: by rule, or by a model where the caller pays for one.

Laws: the user's own words are always part of the query; a model adds only words whose numbers, dates and names occur in
what was said before; an answer that is late, failed or invented is as if nobody had been asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from contextmgr.checks.atoms import atoms
from contextmgr.ranking import query_terms, standalone
from contextmgr.templates import Templates
from contextmgr.writers import Writer, WriterError, call_writer

_LOG = logging.getLogger(__name__)
Standalone = Callable[[str, Sequence[str]], str | None]
"""From a question and the texts before it (newest last) to what else to search for; None where nobody can say."""

KIND = "standalone"
TIMEOUT = 2.0  # seconds: somebody waits for the reply
LONGEST = 600  # characters of a question that a model is asked about; a longer one has words of its own
READ = 1_500  # characters of each earlier text
ANSWER = 300  # characters
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "turns": {"type": "array", "items": {"type": "integer"}}},
    "required": ["query", "turns"],
    "additionalProperties": False,
}


def asking(writer: Writer, templates: Templates, *, timeout: float = TIMEOUT) -> Standalone:
    """A `Standalone` that asks a `Writer`, once and for at most ``timeout`` seconds; it never raises `WriterError`."""

    def ask(question: str, previous: Sequence[str]) -> str | None:
        said = [("before", text[-READ:]) for text in previous] + [("now", question)]
        turns = [{"turn": n, "role": role, "text": text} for n, (role, text) in enumerate(said, 1)]
        try:
            prompt = templates.render(KIND, {"turns": turns})
            answer = call_writer(writer, prompt, SCHEMA, timeout=timeout, retries=0)
        except WriterError as error:
            _LOG.warning("a question was not made standalone (%s); its own words are searched", error.reason)
            return None
        return str(answer["query"])

    return ask


def query_of(question: str, previous: Sequence[str], ask: Standalone | None = None) -> str | None:
    """What to search for when a user says ``question``; None where nothing should be searched on its words.

    Without ``ask``, or where it has nothing to add, `ranking.standalone` says.  It is asked only about questions that
    have something before them and are at most `LONGEST` characters long: it costs a call on the reply path.
    """
    by_rule = standalone(question, previous)
    if ask is None or not previous or len(question) > LONGEST:
        return by_rule
    added = ask(question, previous)
    if added is None or not _is_from(added, [question, *previous]):
        return by_rule
    return f"{question}\n{added.strip()}"


def _is_from(added: str, said: Sequence[str]) -> bool:
    """Whether an answer looks for something, and every number, date and name in it was said."""
    if len(added) > ANSWER or not query_terms(added):
        return False
    known = [atom for text in said for atom in atoms(text)]
    return all(atom.loose or any(atom.agrees(k) for k in known) for atom in atoms(added))
