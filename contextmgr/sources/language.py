"""Which language a conversation is held in: a guess from scripts and from the commonest small words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from contextmgr.turns import Turn

UNKNOWN = "the conversation's language"
READ = 20_000
"""Characters looked at."""
_ENOUGH = 4  # letters or small words below which nothing is guessed

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {
    "kana": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
_SMALL_WORDS = {
    "en": "the and is of to in that it for you with this not are be have can please what was should we i",
    "de": "der die das und ist nicht ich ein eine zu den mit auf für sich es wir bitte auch dass wie kann nur",
    "fr": "le la les des est et que pas une dans pour qui vous je il ne sur avec ce au plus nous sont être",
    "es": "el los las que es una por para con se del no lo como pero más está en y puede son todo al",
    "pt": "o os as que é uma não para com do da em um se por mais como na no isso você ao está são",
    "it": "il che è di un una per non con sono gli della si le più come anche questo nel alla lo del ho",
    "nl": "de het een en van is dat niet ik op te voor met zijn er maar ook wordt deze naar je als aan kan",
    "pl": "i w na się nie jest to że z do jak po co ale tak od przez dla czy są być tego już",
    "sv": "och att det som en är på för av inte med jag den till har om ett kan men vi ska så från",
    "tr": "ve bir bu için ile da de çok ne gibi daha var olarak ama mi değil kadar sonra şey ben",
    "cs": "a se na je že v to si jsem s z do ale by jako pro tak jsou není co nebo být když",
    "ro": "și de la în care nu cu pe este un o să din mai pentru că sunt ce fi ca sau",
    "vi": "và là của có không cho một được này với các trong để người những tôi đã khi",
    "id": "yang dan di ini itu dengan untuk tidak dari pada adalah saya akan ada ke bisa juga kita",
}
_SMALL = {code: frozenset(words.split()) for code, words in _SMALL_WORDS.items()}


def language_of(turns: Sequence[Turn]) -> str:
    """Two-letter code of the language the user writes ("en", "de", "zh", ...), or `UNKNOWN` where it cannot be told.

    The assistant's words are looked at only where the user's do not tell.  Code and addresses are not.
    """
    for role in ("user", "assistant"):
        found = _guess(_sample(turns, role))
        if found != UNKNOWN:
            return found
    return UNKNOWN


def _sample(turns: Sequence[Turn], role: str) -> str:
    parts, size = [], 0
    for turn in turns:
        if turn.role == role and size < READ:
            parts.append(_FENCED.sub(" ", turn.text[:READ]))
            size += len(parts[-1])
    return "\n".join(parts)


def _guess(text: str) -> str:
    letters = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    # Code and names are Latin in every language, and a Han character says as much as three Latin letters.
    latin = letters.pop("latin") / 4
    name, most = max(letters.items(), key=lambda pair: pair[1])
    if letters["kana"] * 8 > letters["zh"] > 0 or name == "kana":
        name, most = "ja", letters["kana"] + letters["zh"]
    if most >= _ENOUGH and most > latin:
        return {"cyrillic": _cyrillic(text), "arabic": _arabic(text)}.get(name, name)
    return _latin(text)


def _cyrillic(text: str) -> str:
    return "uk" if re.search("[іїєґ]", text) and not re.search("[ыэъ]", text) else "ru"


def _arabic(text: str) -> str:
    return "fa" if re.search("[پچژگ]", text) else "ar"


def _latin(text: str) -> str:
    found = Counter(word.casefold() for word in _WORD.findall(text))
    scores = {code: sum(found[w] for w in words) for code, words in _SMALL.items()}
    first, second = sorted(scores, key=lambda code: -scores[code])[:2]
    sure = scores[first] >= _ENOUGH and scores[first] > 1.15 * scores[second]
    return first if sure else UNKNOWN
