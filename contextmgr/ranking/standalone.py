"""Whether the newest user turn can be searched on its words, and on which, by rule and without a model.

"Yes, do that" and "ok" have no words of their own: a search on them finds noise.  "And how long did it take?" has few:
what was spoken of just before is added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextmgr.ranking.analysis import terms
from contextmgr.ranking.folding import fold
from contextmgr.ranking.queries import query_terms
from contextmgr.ranking.stems import stem

FEW = 3
"""Words of its own below which a turn that points back is completed from what came before it."""
BORROWED = 6
"""Most words that are taken from before."""
_READ = 2_000  # characters of one earlier text

_CONSENT = """
    again ahead agree agreed alright amazing approve approved awesome bye carry cheers continue cool correct course
    deal done
    exactly excellent fine fix go going good got great happy hmm indeed keep like love made make makes nice now
    perfect
    proceed ready resume retry right run sense sorry sound sounds stop super thank thx true try understood wait
    welcome
    work works wrong yay yep first second option next
    ahora adelante bien bueno claro continua correcto dale gracias hazlo hazla listo perfecto sigue siguiente vale
    accord bien bonne continue continuez exactement merci parfait vas vite
    bitte danke einverstanden genau gut mach machen perfekt prima richtig stimmt weiter weitermachen
    bom certo continue feito obrigada obrigado otimo pode segue
    avanti bene certo continua esatto fatto grazie perfetto prego procedi vai
    akkoord bedankt dank doorgaan goed prima
    давай дальше конечно хорошо спасибо продолжай сделай делай понятно отлично ладно
"""
_CONSENTS = frozenset(stem(word) for word in fold(_CONSENT).split())
_CONSENT_UNSPACED = re.compile(
    r"^[\s、。，！!.～~]*(?:好(?:的|吧|啊|呀)?|是(?:的)?|对(?:的)?|行|可以|继续|谢谢|没问题|就这样(?:做|吧)?"
    r"|はい|お願いします|それで|続けて(?:ください)?|ありがとう(?:ございます)?|了解(?:です)?|そうして(?:ください)?"
    r"|네|예|응|좋아요?|계속(?:해(?:줘|주세요)?)?|그렇게\s?해(?:줘|주세요)?|감사합니다)(?:[\s、。，！!.～~]|$)+",
)
_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|him|his|she|her|there|then|one|ones|same|former|latter"
    r"|eso|esto|esa|ese|ello|lo|la|ella|él|ellos|ça|cela|celui|celle|il|elle|das|dies|diese|dieser|es|er|sie"
    r"|isso|isto|aquilo|ele|ela|questo|quello|lui|lei|dat|dit|это|этот|эта|он|она|они)\b"
    r"|^\W*(?:and|but|also|so|or|y|e|et|und|en|и|what about|how about|why)\b",
    re.IGNORECASE,
)


def standalone(text: str, previous: Sequence[str] = ()) -> str | None:
    """What to search for when a user says ``text``; None where nothing should be searched on its words.

    ``previous`` are the texts of the last exchanges, newest last.  A turn that points back and has fewer than `FEW`
    words of its own is completed with up to `BORROWED` of the newest earlier text that has words; the user's own
    words
    stay in front, unchanged.
    """
    own = _own_words(text)
    if not own:
        return None
    if len(own) >= FEW or not _BACK.search(text):
        return text
    for earlier in reversed(previous):
        borrowed = [word for word in _own_words(earlier[:_READ]) if word not in own][:BORROWED]
        if borrowed:
            return f"{text} {' '.join(borrowed)}"
    return text


def _own_words(text: str) -> list[str]:
    """Different terms of a text that are neither consent nor what surrounds a question."""
    rest = text
    while (match := _CONSENT_UNSPACED.match(rest)) is not None:
        rest = rest[match.end() :]
    query = query_terms(rest)
    asked = [term for term in query.terms if term not in query.requests and term not in _CONSENTS]
    return asked if asked and terms(rest) else []
