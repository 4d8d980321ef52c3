"""Whether a text holds a secret or encoded bytes: neither belongs into a summary."""

from __future__ import annotations

import re

_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[A-Za-z0-9_-]{16,}|\b(?:gh[pousr]|glpat|xox[abprs])[_-][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|\bnpm_[A-Za-z0-9]{30,}"
    r"|://[^/\s:@]+:[^/\s:@]{3,}@|\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{16,}",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"\b(?:[A-Za-z]+[_-])*(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|private[_-]?key|client[_-]?secret)"
    r"[\"']?\s*(?:[:=]|\bis\b)\s*[\"'`]?(?P<value>[^\s\"'`,;]{8,})",
    re.IGNORECASE,
)
MIN_CHANGES = 0.3
"""Changes between small letters, capitals and digits per character: base64 has 0.42, names made of words 0.2."""
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{32,}")
_CHANGES = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])")
_PIECE = re.compile(r"[A-Za-z0-9+=]{24,}")
_HEX = re.compile(r"[0-9a-fA-F]+")


def holds_secret(text: str) -> bool:
    """Whether a text holds what looks like a key, a password that is named as one, or base64."""
    if _KNOWN.search(text):
        return True
    if any(_looks_random(m["value"]) for m in _ASSIGNED.finditer(text)):
        return True
    return any(_is_encoded(run) for run in _RUN.findall(text))


def _looks_random(value: str) -> bool:
    """Whether a value is no word, name or reference: it mixes digits or signs with letters."""
    return bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value)) and not value.startswith(
        ("$", "{", "<", "process.")
    )


def _is_encoded(run: str) -> bool:
    """Whether a long run is base64 rather than a path, a hash or a name: many changes between kinds of characters."""
    pieces = _PIECE.findall(run)
    return any(not _HEX.fullmatch(p.strip("=")) and len(_CHANGES.findall(p)) > MIN_CHANGES * len(p) for p in pieces)
