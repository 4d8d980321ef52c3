"""Summary items about recorded sessions of which it is known whether they are true, made from the sessions by rule.

True items are sentences that people and models wrote, as they stand or lightly reworded.  False ones are true ones with
exactly one thing changed, or wishes and consents that nobody uttered.  Everything follows from the file's name, so the
same recordings give the same items.  The rules share no code with `contextmgr.checks`, which they are there to judge:
sentences are cut, numbers and names found, and negations set and taken by means of their own.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.mutations import ACTS, MUTATIONS, UNSAID, in_common
from contextmgr.summaries import Item, ItemKind
from contextmgr.transcripts import Replied, Said, Session, read_sessions
from contextmgr.turns import ToolResult, Turn

FILES = ("claude-code-*/*.gz", "codex-*/*.gz", "pi-agent/*.gz", "swe-agent/*.gz", "tau-bench/*.gz")
PER_SESSION = 24
PER_SHORT_SESSION = 3
SHORT = 60
"""Turns: a shorter session gives fewer items."""
_SKIPPED = re.compile(r"```.*?(?:```|\Z)|<([a-z_-]+)>.*?(?:</\1>|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_LEAD = re.compile(r"^[\s>*#•-]*(?:\d+[.)]\s+)?[*_\s]*")
_TO_SOMEONE = re.compile(
    r"\b(?:users?|customers?|human|client|operator)\b|\bas (?:requested|agreed|instructed|approved)", re.IGNORECASE
)
_ASKING = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|now|then|yes),?\s+)*(?:please|can you|could you|can we|let's)\s+(?:please\s+|also\s+)*",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:if|unless|when|until|once|before|after|while|not|no|never|without|cannot|though|otherwise)\b|n['’]t",
    re.IGNORECASE,
)
_SHORTENED = {
    "don't": "do not",
    "doesn't": "does not",
    "isn't": "is not",
    "aren't": "are not",
    "can't": "cannot",
    "won't": "will not",
    "didn't": "did not",
    "shouldn't": "should not",
    "it's": "it is",
    "I'll": "I will",
}
_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_PERSONS = (
    (r"\bI['’]ve\b", "they have"),
    (r"\bI['’]m\b", "they are"),
    (r"\bI\b", "they"),
    (r"\bmy\b", "their"),
    (r"\bme\b", "them"),
)
_USER_KINDS = (ItemKind.CONSTRAINT, ItemKind.DECISION, ItemKind.OPEN)
_OTHER_KINDS = (ItemKind.RESULT, ItemKind.RESOLVED, ItemKind.ARTIFACT, ItemKind.RULED_OUT, ItemKind.OPEN)


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item, the turns of its session, what was done to make it, whether it is true, and its half (dev or test)."""

    item: Item
    turns: dict[int, Turn]
    made: str
    true: bool
    half: str
    source: str


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence with the turn it stands in."""

    text: str
    turn: Turn

    @property
    def is_user(self) -> bool:
        """Whether the user said it."""
        return self.turn.role == "user"


def labelled(data: Path) -> Iterator[Labelled]:
    """All items of all recorded sessions that can be read.

    A file belongs to one half as a whole; of a file with many short conversations, each conversation does.
    """
    trajectories = data / "trajectories"
    at, written = 0, _written()
    for file in sorted(f for pattern in FILES for f in trajectories.glob(pattern)):
        for session in read_sessions(file):
            source = f"{file.parent.name}/{file.name}#{session.index}"
            half, turns = "dev" if at % 2 else "test", turns_of(session)
            yield from _of_session(turns, half, source)
            yield from _paraphrased(turns, half, source, written.get(source, ()))
            at += 1


def turns_of(session: Session) -> dict[int, Turn]:
    """The session's turns by number; ``metadata`` says which user turns a person wrote."""
    turns: dict[int, Turn] = {}
    for event in session.events:
        number = len(turns) + 1
        if isinstance(event, Said):
            turns[number] = Turn(
                number=number,
                role="user",
                author="user",
                blocks=event.blocks,
                said_at=event.at,
                metadata={"human": event.human},
            )
        elif isinstance(event, Replied):
            turns[number] = Turn(number=number, role="assistant", author="model", blocks=event.blocks, said_at=event.at)
        else:
            last = turns[number - 1]
            results = tuple(ToolResult(call=i, body=b) for i, b in enumerate(event.blocks, len(last.results)))
            turns[number - 1] = replace(last, results=(*last.results, *results))
    return turns


def lines(turn: Turn) -> Iterator[Line]:
    """Sentences of prose in a turn's words: no code, tables, headings or fragments."""
    if turn.role == "user" and not turn.metadata.get("human"):
        return
    for raw in _SENTENCE.findall(_SKIPPED.sub("\n", turn.text)):
        text = _LEAD.sub("", raw).strip().removesuffix("**").strip()
        if _is_prose(text) and (turn.role == "user" or not _TO_SOMEONE.search(text)):
            yield Line(text, turn)


def _is_prose(text: str) -> bool:
    letters = sum(c.isalpha() or c.isspace() for c in text)
    if not 25 <= len(text) <= 280 or text[-1] == ":" or "|" in text:
        return False
    return letters > 0.8 * len(text) and len(re.findall(r"[A-Za-z']{2,}", text)) >= 5


def _written() -> dict[str, list[Item]]:
    """Items that were written by hand, as a summary would tell them, by the session they are about."""
    items: dict[str, list[Item]] = {}
    for line in (Path(__file__).parent / "paraphrased_items.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        item = Item(text=one["text"], kind=ItemKind(one["kind"]), turns=tuple(one["turns"]))
        items.setdefault(one["source"], []).append(item)
    return items


def _paraphrased(turns: dict[int, Turn], half: str, source: str, items: Iterable[Item]) -> Iterator[Labelled]:
    """Items written by hand, and each with one thing changed, in every way that applies to it."""
    rng = random.Random(source)
    for item in items:
        yield Labelled(item, turns, "true: written by hand", True, half, source)
        around = " ".join(turns[n].text for n in item.turns)
        for name, mutate in MUTATIONS.items():
            changed = mutate(item.text, around, rng)
            if changed is not None and changed != item.text:
                yield Labelled(replace(item, text=changed), turns, f"{name}, written by hand", False, half, source)


def _of_session(turns: dict[int, Turn], half: str, source: str) -> Iterator[Labelled]:
    rng = random.Random(source)
    found = [line for turn in turns.values() for line in lines(turn)]
    users = [line for line in found if line.is_user]
    others = [line for line in found if not line.is_user]
    most = PER_SESSION if len(turns) > SHORT else PER_SHORT_SESSION
    makers = (
        ("true", [*_true(users, rng, most // 2), *_true(others, rng, most // 2)]),
        ("false", [*_mutated(users, rng, most), *_mutated(others, rng, most)]),
        ("false", list(_speakers(users, others, turns, rng, max(1, most // 4)))),
        ("false", list(_other_acts(users, rng, max(1, most // 4)))),
        ("false", list(_fabricated(turns, rng, max(1, most // 4)))),
    )
    for truth, made in makers:
        for name, item, changed in made:
            yield Labelled(item, changed or turns, name, truth == "true", half, source)


Made = tuple[str, Item, dict[int, Turn] | None]


def _true(found: Sequence[Line], rng: random.Random, most: int) -> Iterator[Made]:
    for line in _some(found, rng, most):
        name, text = rng.choice(list(_rewordings(line)))
        yield f"true: {name}", _item(text, line, rng), None
    for one, two in zip(_some(found, rng, most // 4), _some(found, rng, most // 4), strict=False):
        if one.turn.number != two.turn.number:
            joint = rng.choice(("{}; {}", "{}. {}"))
            text = joint.format(one.text.rstrip("."), two.text)
            numbers = tuple(sorted((one.turn.number, two.turn.number)))
            yield "true: two sentences merged", replace(_item(text, one, rng), turns=numbers), None


def _some(found: Sequence[Line], rng: random.Random, most: int) -> list[Line]:
    return rng.sample(found, min(most, len(found)))


def _item(text: str, line: Line, rng: random.Random) -> Item:
    kind = rng.choice(_USER_KINDS if line.is_user else _OTHER_KINDS)
    asks = line.is_user and "?" in text  # a question is no rule and no decision
    return Item(text=text[:600], kind=ItemKind.OPEN if asks else kind, turns=(line.turn.number,))


def _rewordings(line: Line) -> Iterator[tuple[str, str]]:
    """The sentence itself, and what may be said in its place without saying anything else."""
    text = line.text
    yield "verbatim", text
    lead, comma, rest = text.partition(", ")
    if comma and len(rest.split()) >= 5 and not _BOUND.search(lead):
        yield "leading clause dropped", rest[0].upper() + rest[1:]
    loose = text
    for short, long in _SHORTENED.items():
        loose = re.sub(rf"\b{short.replace(chr(39), '[’' + chr(39) + ']')}", long, loose)
    if loose != text:
        yield "contractions written out", loose
    written = _rewritten(text)
    if written != text:
        yield "numbers and dates written otherwise", written
    if line.is_user:
        yield from _told(text)
    else:
        yield "told of the assistant", f"The assistant said that {text[0].lower() + text[1:]}"


def _told(text: str) -> Iterator[tuple[str, str]]:
    if '"' not in text and "`" not in text:
        yield "quoted", f'The user said: "{text}"'
    asked = _ASKING.match(text)
    if asked is not None and len(text) - asked.end() > 15:
        yield "told as a request", f"The user asked to {text[asked.end() :].rstrip('?')}"
    told = text[0].lower() + text[1:]
    for pattern, instead in _PERSONS:
        told = re.sub(pattern, instead, told, flags=re.IGNORECASE)
    if not text.endswith("?"):
        yield "told of the user", f"The user said that {told}"


def _rewritten(text: str) -> str:
    text = re.sub(
        r"\b(20\d\d)-(0\d|1[0-2])-([0-2]\d|3[01])\b", lambda m: f"{int(m[3])} {_MONTHS[int(m[2]) - 1]} {m[1]}", text
    )
    text = re.sub(r"(?<![\w.,/:#$-])([2-9]|10)(?= [a-z]{4,})", lambda m: _SMALL[int(m[1]) - 2], text)
    return re.sub(r"(?<![\w.,/:#$-])(\d{2,3})(\d{3})(?= [a-z])", r"\1,\2", text)


def _mutated(found: Sequence[Line], rng: random.Random, most: int) -> Iterator[Made]:
    """One thing changed in a sentence, as it stands or told; each mutation gets the same share where it applies.

    Where the turn says the changed sentence too, it is not false and left out.
    """
    order = rng.sample(found, len(found))
    for name, mutate in MUTATIONS.items():
        made = 0
        for line in order:
            changed = mutate(line.text, line.turn.text, rng)
            if changed is None or changed in line.turn.text or made >= max(1, most // 8):
                continue
            made += 1
            if line.is_user and rng.random() < 0.3:
                changed = f"The user said that {changed[0].lower() + changed[1:]}"
            yield name, _item(changed, line, rng), None


def _speakers(
    users: Sequence[Line], others: Sequence[Line], turns: dict[int, Turn], rng: random.Random, most: int
) -> Iterator[Made]:
    """The assistant's words told as the user's, and the other way round."""
    for line in _some(others, rng, most):
        near = [n for n in (line.turn.number - 1, line.turn.number + 1) if n in turns and turns[n].role == "user"]
        cited = sorted({line.turn.number, *near[: rng.randint(0, 1)]})
        said = " ".join(turns[n].text for n in cited if turns[n].role == "user")
        if in_common(line.text, said) < 0.5 or not said:
            form = rng.choice(("The user decided that {}", "The user asked that {}", "The user confirmed: {}", "{}"))
            told = form.format(line.text[0].lower() + line.text[1:])
            kind = ItemKind.DECISION if form != "{}" else ItemKind.CONSTRAINT
            yield "speaker", Item(text=told, kind=kind, turns=tuple(cited)), None
    for line in _some(users, rng, most // 2):
        form = rng.choice(
            ("The assistant found that {}", "The assistant proposed that {}", "The assistant decided that {}")
        )
        yield "speaker", Item(text=form.format(line.text), kind=ItemKind.RESULT, turns=(line.turn.number,)), None


def _other_acts(users: Sequence[Line], rng: random.Random, most: int) -> Iterator[Made]:
    """A request of the user with another act in place of the one asked for; all other words are the user's."""
    asked = [(line, m.end()) for line in users if (m := _ASKING.match(line.text)) is not None]
    for line, start in rng.sample(asked, min(most, len(asked))):
        _, _, object_ = line.text[start:].rstrip("?").partition(" ")
        act = rng.choice([a for a in ACTS if a not in line.turn.text.lower()])
        if len(object_.split()) >= 3:
            form = rng.choice(("The user asked to {} {}", "The user approved to {} {}", "The user wants to {} {}"))
            kind = rng.choice((ItemKind.DECISION, ItemKind.OPEN))
            yield "another act", Item(text=form.format(act, object_)[:600], kind=kind, turns=(line.turn.number,)), None


def _fabricated(turns: dict[int, Turn], rng: random.Random, most: int) -> Iterator[Made]:
    """Wishes, rules and consents that nobody uttered, some of them imitated in the assistant's words."""
    human = [t for t in turns.values() if t.metadata.get("human")]
    replies = [t for t in turns.values() if t.role == "assistant"]
    for wish in rng.sample(UNSAID, most):
        cited = rng.sample(human, min(len(human), rng.randint(1, 3)))
        if in_common(wish, " ".join(t.text for t in cited)) >= 0.5:
            continue
        form = rng.choice(
            (
                'User asked: "{}"',
                'User confirmed: "yes, {}"',
                "The user wants to {}",
                "Constraint: {}",
                "The user approved to {}",
            )
        )
        changed = None
        if replies and rng.random() < 0.5:
            parrot = rng.choice(replies)
            said = {"type": "text", "text": f"User: yes, {wish}\nThe user asked me to {wish}."}
            changed = {**turns, parrot.number: replace(parrot, blocks=(*parrot.blocks, said))}
            cited = [*cited, parrot]
        numbers = tuple(sorted({t.number for t in cited}))
        kind = rng.choice((ItemKind.CONSTRAINT, ItemKind.DECISION, ItemKind.OPEN, ItemKind.RESULT))
        yield "fabricated", Item(text=form.format(wish), kind=kind, turns=numbers), changed
