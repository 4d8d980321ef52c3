"""Word stems: what the forms of one English word have in common, so that "painted" finds "painting".

Written after Porter's published rules (Program 14/3, 1980).  Irregular verbs and plurals come first: questions ask
"did she buy" of a turn that says "I bought".  Words of other languages mostly pass unchanged, and are cut the same way
on both sides where they do not; a stem is compared with stems only, never shown.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VERBS = """
be am is are was were been being|have has had having|do does did done doing|go goes went gone going|get gets got gotten
|make made|take took taken|come came|see saw seen|know knew known|give gave given|find found|think thought|tell told
|become became|leave left leaving|feel felt|bring brought|begin began begun|keep kept|hold held|write wrote written
|stand stood|hear heard|mean meant|meet met|run ran|pay paid|sit sat|speak spoke spoken|lead led|grow grew grown
|lose lost|fall fell fallen|send sent|build built|understand understood|draw drew drawn|break broke broken|spend spent
|rise rose risen|drive drove driven|buy bought|wear wore worn|choose chose chosen|eat ate eaten|teach taught|win won
|sell sold|catch caught|fight fought|fly flew flown flies|forget forgot forgotten|sing sang sung|swim swam swum
|sleep slept|throw threw thrown|ride rode ridden|steal stole stolen|hide hid hidden|shake shook shaken|wake woke woken
|bite bit bitten|blow blew blown|dig dug|feed fed|freeze froze frozen|hang hung|lend lent|light lit|seek sought
|shoot shot|show shown|shrink shrank shrunk|sink sank sunk|stick stuck|strike struck|swear swore sworn|sweep swept
|tear tore torn|weep wept|wind wound|bend bent|bind bound|bleed bled|breed bred|deal dealt|drink drank drunk
|forgive forgave forgiven|lay laid|ring rang rung|slide slid|spin spun|spring sprang sprung|learn learnt|dream dreamt
|burn burnt|lie lied lying|die died dying|tie tied tying|undertake undertook undertaken|overcome overcame
|rebuild rebuilt|rewrite rewrote rewritten|undo undid undone|withdraw withdrew withdrawn|say said|try tried tries
"""
_NOUNS = """
child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|life lives|wife wives
|knife knives|leaf leaves|shelf shelves|index indices|vertex vertices|matrix matrices|analysis analyses|crisis crises
|datum data|medium media|criterion criteria|appendix appendices|hypothesis hypotheses
"""
_IRREGULAR = {
    form: forms[0]
    for group in (_VERBS + "|" + _NOUNS).split("|")
    for forms in [group.split()]
    for form in forms[1:]
    if form not in {"left", "found", "wound", "bound", "saw", "leaves"} or forms[0] in {"leave", "find", "see"}
}

_PLAIN = re.compile(r"[a-z]+\Z")
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "sion"),
    *("tion", "al", "er", "ic", "ou"),
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a folded word; words with anything but a-z, or of at most three letters, are their own stem."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not _PLAIN.match(word):
        return word
    for step in (_plural, _past, _final_y, _long_suffix, _middle_suffix, _last_suffix, _final_e):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """The word as v and c, one letter each; y is a vowel after a consonant."""
    out = ""
    for letter in word:
        out += "v" if letter in "aeiou" or (letter == "y" and out.endswith("c")) else "c"
    return out


@lru_cache(maxsize=1 << 16)
def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("sses") or (word.endswith("ies") and len(word) > 4):
        return word[:-2]
    return word[:-1] if word.endswith(("ies", "s")) and not word.endswith(("ss", "us", "is")) else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        root = word.removesuffix(suffix)
        if root != word and "v" in _shape(root):
            return _mended(root)
    return word


def _mended(root: str) -> str:
    """A root without its -ed or -ing, with the e it lost, or one of a doubled letter."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if len(root) > 2 and root[-1] == root[-2] and _shape(root)[-1] == "c" and root[-1] not in "lsz":
        return root[:-1]
    return root + "e" if _measure(root) == 1 and _is_short(root) else root


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, table: dict[str, str]) -> str:
    for size in range(min(7, len(word) - 1), 1, -1):
        new = table.get(word[-size:])
        if new is not None:
            return word[:-size] + new if _measure(word[:-size]) > 0 else word
    return word


def _long_suffix(word: str) -> str:
    return _replaced(word, _STEP_2)


def _middle_suffix(word: str) -> str:
    return _replaced(word, _STEP_3)


def _last_suffix(word: str) -> str:
    suffix = next((s for s in _STEP_4 if word.endswith(s)), "")
    kept = 1 if suffix in {"sion", "tion"} else 0  # the s or t before -ion stays
    root = word[: len(word) - len(suffix) + kept]
    return root if suffix and _measure(root) > 1 else word


def _final_e(word: str) -> str:
    root = word[:-1]
    if word.endswith("e") and (_measure(root) > 1 or (_measure(root) == 1 and not _is_short(root))):
        word = root
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
