"""One form for texts that are written differently and read alike: width, case, accents, normal forms."""

from __future__ import annotations

import re
import unicodedata

ACCENTS = "\u0300-\u036f"
"""Combining marks of European scripts.  Those of others (Indic vowels, Japanese voicing) are letters, and stay."""
_ACCENT = re.compile(f"[{ACCENTS}]")


def fold(text: str) -> str:
    """Compatibility forms unified (NFKC), case folded, accents dropped: ``"Ｃafé"`` and ``"CAFE\\u0301"`` are one."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFKC", _ACCENT.sub("", unicodedata.normalize("NFKD", apart)))
