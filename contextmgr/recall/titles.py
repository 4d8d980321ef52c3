"""One line that says what a chat is about: the caller's title, else the first request in it, without a model."""

from __future__ import annotations

import re

from contextmgr import jsontext
from contextmgr.recall.caps import MAX_TITLE
from contextmgr.sources import cleaned
from contextmgr.store import ConversationRecord, Transaction

MAX_MADE = 60  # characters
_FIRST = 4  # turns among which the first request is looked for
_READ = 2_000  # characters of it that are read
_CODE = re.compile(r"```.*?(?:```|\Z)|<[^<>\n]{1,200}>", re.DOTALL)
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|[-*>+]\s+|\d{1,3}[.)]\s+)|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}", re.MULTILINE)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|hallo|bonjour|hola|ciao|ola|hoi|good (?:morning|evening))\b[^\w\n]{0,3}", re.I
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s")


def made_title(request: str) -> str:
    """A request as one clean line of at most `MAX_MADE` characters; "" where nothing in it can be read."""
    text = _MARKS.sub("", _CODE.sub(" ", cleaned(jsontext.sendable(request[:_READ]))))
    lines = (_GREETING.sub("", " ".join(_plain(line).split())) for line in text.splitlines())
    told = [said for said in lines if any(c.isalnum() for c in said)]
    line = " ".join(told[:2] if told and told[0].endswith((":", "：")) else told[:1])
    sentence = _SENTENCE.split(line, maxsplit=1)[0]
    return shortened(sentence if len(sentence) > MAX_MADE // 4 else line, MAX_MADE)


def shortened(text: str, most: int) -> str:
    """A text of at most ``most`` characters, cut between words and marked where it is cut."""
    if len(text) <= most:
        return text
    part = text[: most - 1]
    word = part.rpartition(" ")[0]
    return f"{(word if len(word) > most // 2 else part).rstrip(' ,;:')}…"


def title_of(tx: Transaction, record: ConversationRecord) -> str | None:
    """The title of a chat, on one line; None where its first turns say nothing."""
    if record.title is not None and record.title.strip():
        return shortened(" ".join(_plain(jsontext.sendable(record.title)).split()), MAX_TITLE)
    for number in range(1, min(record.last_turn, _FIRST) + 1):
        turn = tx.turn(record.id, number)
        if turn is not None and turn.role == "user" and turn.withdrawn is None and (title := made_title(turn.text)):
            return title
    return None


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
