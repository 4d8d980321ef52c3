"""What the user said yes to: the proposal of the assistant that a bare yes answers.

Law: only a user turn that says nothing but yes takes its meaning from the turn before, and only where both are cited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextmgr.checks.sentences import Sentence
from contextmgr.checks.sources import Source
from contextmgr.checks.words import flow

MAX_CONSENT = 60
"""Characters of a bare yes."""
_PROPOSED = 6
_YES = re.compile(
    r"(?:(?:yes|yep|yeah|y|ok(?:ay)?|sure|please|do|it|that|this|go|ahead|for|approved?|confirmed|agreed|sounds|looks|good|great|perfect|lgtm"
    r"|proceed|fine|by|me|with|thanks|thank|you|absolutely|correct|right|exactly|ship|let's|lets|i|all|of|them|the|both|now|then|and"
    r"|ja|bitte|gerne?|genau|passt|mach|das|so|einverstanden|danke|oui|d'accord|merci|allez-y|vas-y|sí|si|vale|de|acuerdo|adelante|gracias)"
    r"|[是好对行可以请的同意]+|はい|お願いします|네|예|좋아요)(?:[\s,.!;、。！]+|$)",
    re.IGNORECASE,
)
_CONSENTS = re.compile(
    r"\b(?:yes|yep|yeah|y|ok(?:ay)?|sure|go\s+ahead|do\s+(?:it|that|so)|approved?|confirmed|agreed|proceed|lgtm|ja|genau|passt|einverstanden|oui"
    r"|d'accord|sí|si|vale|adelante|ship\s+it|go\s+for\s+it|please\s+do|sounds\s+good|absolutely)\b|[是好对行可同]|はい|お願い|네|예|좋",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"[?？]|\b(?:shall|should|may|can|could)\s+(?:i|we)\b|\bi(?:['’]ll|['’]d|\s+(?:will|would|can|could|propose|suggest|recommend|plan))\b"
    r"|\bwould\s+you\s+like\b|\bwant\s+me\s+to\b|\bproceed\b|\bsoll\s+ich\b|\bpuis-je\b|\bquieres\b",
    re.IGNORECASE,
)


_SETTLES = re.compile(
    r"\b(?:please|let['’]?s|should|must|shall|may|can|want|prefer|like|rather|decid\w+|cho(?:o)?s\w+|pick\w*|option|need|will"
    r"|i['’](?:ll|d)|allow\w*|permi\w+|authori\w+|accept\w*|fine|right|correct|good|great|perfect|bitte|soll\w*|darf\w*|dürf\w*|möchte"
    r"|will|s['’]il|veux|voudrais|doit|peux|pouvez|por\s+favor|quiero|debe\w*|puede\w*)\b|必须|請|请|可以|ください|주세요",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\S+(?:\s\S+){0,3}\s(?:is|are|was|were|has|have|had|ist|sind|war|est|sont|es|son)\b", re.IGNORECASE
)
_FIRST = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def consents(text: str) -> bool:
    """Whether a text says yes somewhere."""
    return _CONSENTS.search(text) is not None


def settles(text: str) -> bool:
    """Whether a sentence reads as a consent, a wish or a command, and not as telling or asking something."""
    first = _FIRST.search(text)
    is_command = first is not None and bool(flow(first.group())) and _TELLS.match(text) is None
    return is_command or consents(text) or _SETTLES.search(text) is not None


def is_bare_yes(text: str) -> bool:
    """Whether a text says yes and nothing else."""
    text = text.strip().replace("’", "'")
    if not text or len(text) > MAX_CONSENT or not _CONSENTS.search(text):
        return False
    return not _YES.sub("", text).strip(" \t\n.,!👍")


def agreed_to(cited: Sequence[Source]) -> list[Sentence]:
    """The last sentences of the assistant turns that a bare yes of the user answers, where they propose something."""
    by_number = {s.number: s for s in cited}
    found: list[Sentence] = []
    for source in cited:
        before = by_number.get(source.number - 1)
        if source.is_user and before is not None and not before.is_user and is_bare_yes(source.words):
            last = before.sentences[-_PROPOSED:]
            if any(_PROPOSES.search(s.text) for s in last):
                found += last
    return found
