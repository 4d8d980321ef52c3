"""Whether summary items are true to the turns they cite, and what stands in place of one that is not.

Laws: an item passes only if its citations are there and its numbers, names, dates, quotes and negations are those of
the cited turns; what is told as the user's wish, rule or consent was said by the user.  A failing item gives way to a
sentence of a cited turn, word for word, or is dropped; nothing is repaired.
"""

from __future__ import annotations

from contextmgr.checks.checking import Checked, Verdict, check_item, checked, verbatim_instead
from contextmgr.checks.sources import Sources

__all__ = ["Checked", "Sources", "Verdict", "check_item", "checked", "verbatim_instead"]
