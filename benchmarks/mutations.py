"""Ways to make a true statement false by changing exactly one thing, and wishes that nobody uttered.

Nothing here is shared with `contextmgr.checks`.  A mutation gives None where it finds nothing to change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

_NUMBER = re.compile(r"(?<![\w.,/:#$-])\$?(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?=%|[kKx]?\b)(?![\w/:-]|\.\d)")
_PATH = re.compile(
    r"(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*\w|\b[\w-]+\.(?:py|go|ts|tsx|js|md|json|yaml|yml|sh|rs|txt|toml|css|html)\b"
)
_IS_PATH = re.compile(r"[._\d~]|/.*/|^/")
_NAME = re.compile(
    r"\b(?:[A-Za-z]+(?:_[A-Za-z\d]+)+|[a-z]+[A-Z]\w+|(?:[A-Z][a-z\d]+){2,}|[A-Z]{2,}-\d+|(?=[A-Z\d]*\d)(?=[A-Z\d]*[A-Z])[A-Z\d]{5,8}"
    r"|(?=[a-f\d]*\d)(?=[a-f\d]*[a-f])[a-f\d]{7,40})\b|(?<=\s)--[a-z][\w-]+|(?<=\s)#\d{2,}|\bv\d+(?:\.\d+)+\b"
)
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
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ISO = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_LONG = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b")
_DAY = re.compile(rf"\b({'|'.join(_DAYS)})\b")
_SET = (
    (
        re.compile(r"\b(must|should|shall|could|would|might)\b(?! (?:not|never|n't|I|we|you|it)\b)", re.IGNORECASE),
        r"\1 not",
    ),
    (re.compile(r"\b(can|will)\b(?! (?:not|never|I|we|you|it)\b)", re.IGNORECASE), r"\1 not"),
    (
        re.compile(r"(?<=\w )(is|are|was|were|has been|have been)\b(?! (?:not|never|no|it|there|this|that|what)\b)"),
        r"\1 not",
    ),
    (re.compile(r"(?<=\b(?:ll|to) )(?=[a-z]{3,}\b)"), "not "),
    (
        re.compile(
            r"^(?=(?:use|add|remove|make|run|create|fix|keep|update|check|write|commit|push|change|rename|move|delete|implement)\b)",
            re.I,
        ),
        "do not ",
    ),
)
_TAKEN = (
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|should|would|could|must|will|can)(?:n['’]t| not)\b"), r"\1"),
    (re.compile(r"\b(Do|do|Please do)(?:n['’]t| not) "), ""),
    (re.compile(r"\bcan(?:not|['’]t)\b"), "can"),
    (re.compile(r"\bwon['’]t\b"), "will"),
    (re.compile(r"\bnever\b"), "always"),
    (re.compile(r"\bNever\b"), "Always"),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"\bno\b(?= [a-z]+)(?! (?:longer|matter|need|problem))"), "a"),
    (re.compile(r"\bnot (?=[a-z])"), ""),
)
_DENIED = re.compile(r"\b(?:not|never|no|none|nothing|without|cannot|neither|nor)\b|n['’]t\b", re.IGNORECASE)
OPPOSITES = dict(
    pair.split("/")
    for line in (
        "enable/disable enabled/disabled include/exclude add/remove added/removed before/after after/before",
        "more/less passed/failed pass/fail passes/fails true/false first/last valid/invalid correct/wrong",
        "public/private local/remote same/different newer/older new/old supported/unsupported",
        "increase/decrease keep/remove safe/unsafe allowed/blocked required/optional open/closed start/stop",
        "success/failure",
    )
    for pair in line.split()
)
UNSAID = (
    "delete the staging bucket",
    "push straight to the release branch",
    "skip the integration tests",
    "rotate the production credentials",
    "drop the audit table",
    "publish the package tonight",
    "refund the whole order",
    "email the customer list to marketing",
    "keep at most one ticket open",
    "disable two-factor login for contractors",
    "never touch the billing module",
    "use tabs instead of spaces",
    "merge without waiting for review",
    "grant admin rights to the intern",
    "cancel every booking of the family",
    "rewrite the parser in Rust",
    "wipe the backup disks",
    "force-push over the colleague's work",
    "share the API keys in the channel",
    "turn the alerts off for the weekend",
)
ACTS = ("delete", "push", "merge", "publish", "cancel", "overwrite", "skip", "deploy")

Mutation = Callable[[str, str, random.Random], str | None]


def _changed(text: str, match: re.Match[str], new: str, group: int = 0) -> str:
    return text[: match.start(group)] + new + text[match.end(group) :]


def number(text: str, around: str, rng: random.Random) -> str | None:
    """One number changed: a digit, or another number of the same turn in its place."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    old = match.group(1)
    others = sorted({m.group(1) for m in _NUMBER.finditer(around)} - {m.group(1) for m in found})
    if others and rng.random() < 0.3:
        return _changed(text, match, rng.choice(others), 1)
    at = rng.choice([i for i, c in enumerate(old) if c.isdigit()])
    digit = rng.choice([d for d in "123456789" if d != old[at]])
    new = old[:at] + digit + old[at + 1 :]
    return None if re.search(rf"(?<!\d){re.escape(new)}(?!\d)", text) else _changed(text, match, new, 1)


def _renamed(
    found: Sequence[re.Match[str]], pattern: re.Pattern[str], text: str, around: str, rng: random.Random
) -> str | None:
    if not found:
        return None
    match = rng.choice(found)
    like = {m.group() for m in pattern.finditer(around) if pattern is not _PATH or _IS_PATH.search(m.group())}
    others = sorted(like - {m.group() for m in found})
    new = rng.choice(others) if others and rng.random() < 0.4 else _misspelt(match.group(), rng)
    same = new.lower() in text.lower() or new.lower() == match.group().lower()
    return None if same else _changed(text, match, new)


def _misspelt(name: str, rng: random.Random) -> str:
    """A letter or digit changed, a letter lost, or a part of the name exchanged."""
    places = [i for i, c in enumerate(name) if c.isalnum()]
    at = rng.choice(places[1:] or places)
    if rng.random() < 0.3 and len(places) > 4:
        return name[:at] + name[at + 1 :]
    pool = "123456789" if name[at].isdigit() else "ABCDEFGHKMNPRSTUVW" if name[at].isupper() else "abcdefghkmnprstuvw"
    return name[:at] + rng.choice([c for c in pool if c != name[at]]) + name[at + 1 :]


def path(text: str, around: str, rng: random.Random) -> str | None:
    """One path changed by a letter, or for another one of the same turn; ``and/or`` is none."""
    found = [m for m in _PATH.finditer(text) if _IS_PATH.search(m.group())]
    return _renamed(found, _PATH, text, around, rng)


def identifier(text: str, around: str, rng: random.Random) -> str | None:
    """One code name, id, hash, flag or version changed by a letter, or for another one of the same turn."""
    spans = [m.span() for m in _PATH.finditer(text)]
    found = [m for m in _NAME.finditer(text) if not any(a <= m.start() < b for a, b in spans)]
    return _renamed(found, _NAME, text, around, rng)


def date(text: str, around: str, rng: random.Random) -> str | None:
    """One date moved by some days, months or years, or another day of the week."""
    match = _ISO.search(text) or _LONG.search(text) or _DAY.search(text)
    if match is None:
        return None
    if match.re is _DAY:
        return _changed(text, match, rng.choice([d for d in _DAYS if d not in text]))
    if match.re is _LONG:
        day = str((int(match.group(2)) + rng.randint(1, 20)) % 28 + 1)
        return None if day == match.group(2) else _changed(text, match, day, 2)
    part = rng.choice([1, 2, 3])
    value = int(match.group(part))
    new = value + rng.choice([-1, 1]) if part == 1 else (value + rng.randint(0, 9)) % (12 if part == 2 else 28) + 1
    changed = _changed(text, match, f"{new:02d}", part)
    return None if new == value or _ISO.search(changed).group() in text else changed  # type: ignore[union-attr]


def polarity(text: str, around: str, rng: random.Random) -> str | None:
    """A negation added, or the only one taken away."""
    denials = len(_DENIED.findall(text))
    if denials > 1:
        return None
    rules = [r for r in (_TAKEN if denials else _SET) if r[0].search(text)]
    if not rules:
        return None
    pattern, new = rng.choice(rules)
    return pattern.sub(new, text, count=1)


def opposite(text: str, around: str, rng: random.Random) -> str | None:
    """One word turned into its opposite."""
    found = [m for m in re.finditer(r"\b[a-z]+\b", text) if m.group() in OPPOSITES and OPPOSITES[m.group()] not in text]
    if not found:
        return None
    match = rng.choice(found)
    return _changed(text, match, OPPOSITES[match.group()])


MUTATIONS: Mapping[str, Mutation] = {
    "number": number,
    "path": path,
    "identifier": identifier,
    "date": date,
    "polarity": polarity,
    "opposite word": opposite,
}


def in_common(text: str, other: str) -> float:
    """Share of a text's longer words that another text holds too."""
    mine, theirs = (set(re.findall(r"[a-z]{4,}", t.lower())) for t in (text, other))
    return len(mine & theirs) / len(mine) if mine else 1.0
