"""Words that tell what a sentence does: rules out, resolves, decides, leaves open, asks, forbids.

A handful of languages, a line each; where none of them speaks the sentence is taken as what it most often is.
"""

from __future__ import annotations

import re


def _signs(words: tuple[str, ...], unspaced: str) -> re.Pattern[str]:
    """Any of ``words`` as a word of its own, or any of ``unspaced`` (scripts without spaces) anywhere."""
    return re.compile(rf"\b(?:{'|'.join(words)})\b|{unspaced}", re.IGNORECASE)


RULE = _signs(
    (
        r"never|always|must(?: not|n['’]t)?|do not|don['’]t|only use|no more than|at (?:most|least)|required to",
        r"niemals|immer|nie|darf nicht|dürfen nicht|muss|müssen|auf keinen fall",
        r"jamais|toujours|doit|doivent|il faut",
        r"nunca|siempre|debe|deben",
        r"никогда|всегда|нельзя|должен|должны",
    ),
    "必须|不得|不要|禁止|绝不|务必|してはいけない|しないで|必ず|절대|반드시|하지 마",
)
TROUBLE = _signs(
    (
        r"fail(?:s|ed|ing|ure)?|errors?|bugs?|broken|crash(?:es|ed)?|panic|exception|wrong|does ?n[o'’]t work",
        r"fehler|fehlgeschlagen|kaputt|funktioniert nicht",
        r"erreur|échou\w+|ne marche pas",
        r"fallo|falla\w*|no funciona",
        r"ошибк\w+",
    ),
    "错误|失败|エラー|失敗|오류|실패",
)
RULED_OUT = _signs(
    (
        r"did ?n[o'’]t (?:work|help|fix)|does ?n[o'’]t (?:work|help)|won['’]t work|dead end|turned out not",
        r"not (?:possible|feasible|an option|supported)|rules? out|ruled out|reverted|rolled back|abandon\w*|rejected",
        r"half nicht|geht nicht|nicht möglich|verworfen",
        r"impossible|n['’]a pas (?:marché|fonctionné)",
        r"no funcionó|descartad\w+",
        r"не сработал\w*",
    ),
    "行不通|不可行|うまくいかな",
)
RESOLVED = _signs(
    (
        r"fixed|resolved|solved|root cause|(?:the|this) (?:problem|issue|bug|cause) (?:was|is)|because of|caused by",
        r"now (?:works?|pass(?:es)?)|all tests pass",
        r"behoben|gelöst|ursache",
        r"corrigé|résolu|cause était",
        r"arreglad\w+|resuelt\w+|causa era",
        r"исправлен\w*|причина",
    ),
    "已修复|解决了|原因是|修正しました|解決|原因は|해결|수정했",
)
DECISION = _signs(
    (
        r"decid\w+|chose|chosen|(?:we|i)['’]ll (?:use|go with|keep)|(?:we|i) will (?:use|go with|keep)",
        r"instead of|rather than|agreed|settled on|opted",
        r"entschieden|statt|stattdessen",
        r"décid\w+|plutôt que|au lieu",
        r"decidi\w+|en lugar de",
        r"решил\w*|вместо",
    ),
    "决定|改用|采用|ことにし|代わりに|결정|대신",
)
OPEN = _signs(
    (
        r"todo|tbd|still (?:needs?|to do|missing|open|fail\w*)|remaining (?:work|tasks?|steps?|issues?)|left to do",
        r"next steps?|not yet|follow[- ]?up|pending",
        r"noch (?:offen|nicht|zu)|offen",
        r"reste à|pas encore",
        r"falta\w*|pendiente|todavía no",
    ),
    "待办|尚未|还需要|未完了|まだ|아직|남은",
)
MADE = _signs(
    (
        r"created?|added|wrote|written|edited|updated|renamed|moved|removed|deleted|generated|saved|committed|pushed",
        r"erstellt|angelegt|geändert|gelöscht|umbenannt",
        r"créé\w*|ajouté\w*|modifié\w*|supprimé\w*",
        r"cread\w+|añadid\w+|eliminad\w+",
        r"создан\w*|добавлен\w*",
    ),
    "创建|新增|修改|作成|追加|변경|추가",
)
QUESTION = re.compile(r"[?？؟]\W*$|[吗呢]\W*$|(?:です|ます)か\W*$")
REQUEST = re.compile(
    r"""^\W*(?:(?:ok(?:ay)?|and|so|also|now|please)\b\W*)*
      (?:(?:can|could|would|will)\ (?:you|we)|let['’]?s|kannst\ du|können\ (?:sie|wir)
      |peux-tu|pouvez-vous|puedes|podrías)\b""",
    re.IGNORECASE | re.VERBOSE,
)
NARRATION = re.compile(
    r"""^\W*(?:(?:now|good|great|perfect|excellent|ok(?:ay)?|right|let['’]?s|so|first|next|then)\b[\s,.!:—-]*)*
      (?:let\ me|let['’]?s|i['’]?ll|i\ will|i['’]m\ going\ to|i\ need\ to|i\ should|now\ i|checking|looking
      |lass\ mich|ich\ (?:werde|schaue|prüfe)|je\ vais|voy\ a|déjame|давайте|让我|我来|接下来我|では|確認します)""",
    re.IGNORECASE | re.VERBOSE,
)
PATH = re.compile(r"[\w.-]+/[\w./-]+|\b[\w-]+\.[a-z]{1,5}\b")
