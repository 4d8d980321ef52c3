"""The explicit phrases of a standing instruction in German, French and Spanish."""

from __future__ import annotations

from contextmgr.suggestions.sign import Sign

LANGUAGES: tuple[Sign, ...] = (
    Sign(
        "from now on (de)",
        3.5,
        r"\b(?:ab (?:jetzt|sofort|nun)|von nun an|künftig|in zukunft|fortan|bis auf weiteres)\b",
    ),
    Sign(
        "no exceptions (de)",
        3.5,
        r"""\b(?:nicht verhandelbar|ohne ausnahme|ausnahmslos|auf keinen fall|unter keinen umständen|grundsätzlich
        |zwingend|keinesfalls)\b""",
    ),
    Sign(
        "must always or never (de)",
        2.8,
        r"""\b(?:muss|müssen|darf|dürfen|soll|sollen|bitte|sollst|musst|darfst)\b[^.?!]{0,60}
        \b(?:immer|nie|niemals|stets|kein\w*|alle\w*|jede\w*)\b
        |\b(?:alle|jede[rs]?|sämtliche)\b[^.?!]{2,70}\b(?:muss|müssen|sollen|dürfen)\b|^(?:immer|niemals|nie|stets)\b
        |^(?:verwende|nutze|benutze|schreib\w*|antworte|halte)\b[^.?!]{0,40}\b(?:immer|nie|niemals|stets|nur)\b""",
    ),
    Sign(
        "prefers (de)",
        2.3,
        r"\b(?:ich (?:bevorzuge|möchte (?:immer|nie|keine?n?|lieber))|mir ist (?:wichtig|lieber))\b",
    ),
    Sign(
        "from now on (fr)",
        3.5,
        r"(?:\bà partir de maintenant|\bdésormais|\bdorénavant|\bà l['’]avenir|\bjusqu['’]à nouvel ordre)\b",
    ),
    Sign(
        "no exceptions (fr)",
        3.5,
        r"""\b(?:non négociable|sans (?:aucune )?exception|en aucun cas|sous aucun prétexte|impérativement
        |obligatoirement)\b""",
    ),
    Sign(
        "must always or never (fr)",
        2.8,
        r"""\b(?:doi(?:t|vent|s)|devez|il faut|faut)\b[^.?!]{0,60}\b(?:toujours|jamais|tous|toutes|chaque|uniquement)\b
        |\b(?:tous les|toutes les|chaque)\b[^.?!]{2,70}\bdoi(?:t|vent)\b
        |\b(?:utilise[rz]?|écri\w+|mets|mettez|garde[rz]?|réponds|répondez) toujours\b
        |\b(?:ne |n['’])\w+ (?:\w+ )?jamais\b""",
    ),
    Sign("prefers (fr)", 2.3, r"\bje (?:préfère(?:rais)?|veux (?:toujours|que tou)|ne veux (?:pas|jamais) d[e'’])"),
    Sign(
        "from now on (es)",
        3.5,
        r"\b(?:a partir de (?:ahora|hoy)|de ahora en adelante|en adelante|en lo sucesivo|hasta nuevo aviso)\b",
    ),
    Sign(
        "no exceptions (es)",
        3.5,
        r"""\b(?:no es negociable|innegociable|sin excepci(?:ón|ones)|bajo ning(?:ún|una) (?:concepto|circunstancia)
        |en ningún caso|obligatoriamente)\b""",
    ),
    Sign(
        "must always or never (es)",
        2.8,
        r"""\b(?:deb(?:e|en|es)|tien(?:e|en|es) que|hay que)\b[^.?!]{0,60}
        \b(?:siempre|nunca|jamás|todos|todas|cada|solo|sólo)\b
        |\b(?:todos los|todas las|cada)\b[^.?!]{2,70}\b(?:deb(?:e|en)|tienen? que)\b
        |^¡?(?:usa|utiliza|escribe|responde|mantén|no) (?:siempre|nunca)\b|^¡?(?:siempre|nunca|jamás)\b""",
    ),
    Sign("prefers (es)", 2.3, r"\b(?:prefiero|preferiría|quiero que (?:siempre|nunca|todos|todas))\b"),
)
