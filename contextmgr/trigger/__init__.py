"""Whether a message asks for, or leans on, what was said in earlier chats.

Law: it must say so itself; where it may or may not, the answer is no: a search that finds nothing to the point costs
tokens and attention on every turn.  Nothing is stored, asked or learned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from contextmgr.errors import InputError
from contextmgr.ranking.folding import fold
from contextmgr.trigger.english import ELSEWHERE, ENGLISH
from contextmgr.trigger.languages import LANGUAGES
from contextmgr.trigger.sign import Kind

__all__ = ["Kind", "Trigger", "should_search_history"]

ENDS = 800  # characters read at each end of a long message: what is between is mostly pasted
_PASTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^>.*?$|“[^”]*”|«[^»]*»|„[^“”]*[“”]|\"[^\"]{12,}\"|「[^」]*」",
    re.DOTALL | re.MULTILINE,
)
_FOR_OTHERS = re.compile(
    r"\b(?:write|draft|compose|translate|proofread|rewrite|schreib\w*|ubersetz\w*|traduis|ecris|traduce|escribe)\b"
    r"[^.?!:\n]{0,60}:.*",
    re.DOTALL,
)
_SIGNS = (*ENGLISH, *LANGUAGES)
_STOPS = ".?!;。？！"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The answer, true or false as such: ``kind`` says whether to search for a subject or go through the last chats,
    ``reason`` names the sign, or why there is none.
    """

    search: bool
    kind: Kind | None
    reason: str

    def __bool__(self) -> bool:
        return self.search


def should_search_history(message: str) -> Trigger:
    """Whether a user's message makes searching earlier chats worth while: explicit phrases, going on with something,
    what only they can tell ("my usual address"); English, German, French, Spanish, Italian, Portuguese, Dutch,
    Chinese, Japanese and Russian.  Ambiguous is no.  Pure; raises `InputError` for what is not text.
    """
    if not isinstance(message, str):
        raise InputError(f"a message must be a string, not {message!r:.80}")
    text = _own_words(message)
    for sign in _SIGNS:
        if any(not _is_taken_away(text, span) for span in sign.spans(text)):
            return Trigger(True, sign.kind, sign.reason)
    return Trigger(False, None, "nothing in it points to an earlier chat")


def _own_words(message: str) -> str:
    """What the user says, folded, without code, quotations and texts that are to be written for someone else."""
    said = _PASTED.sub(" ", message.replace("\u2019", "'"))
    if len(said) > 2 * ENDS:
        said = f"{said[:ENDS]}\n{said[-ENDS:]}"
    return " ".join(_FOR_OTHERS.sub(" ", fold(said)).split())


def _is_taken_away(text: str, span: tuple[int, int]) -> bool:
    """Whether the sentence in which a sign begins also says that someone else is meant, or what is in view."""
    start = max(map(text[: span[0] + 1].rfind, _STOPS)) + 1
    end = min((at for stop in _STOPS if (at := text.find(stop, span[0] + 1)) >= 0), default=len(text))
    return any(sign.spans(text[start:end]) for sign in ELSEWHERE)
