"""What kind of item a sentence makes, by plain rules; and how much it tells because of that.

Law: only a user's sentence becomes a constraint.  The rules know a handful of languages; where none of them speaks, a
user's sentence is a decision (it says what was wanted) and an assistant's a result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from contextmgr.extractive.sentences import Sentence
from contextmgr.pins import PinKind
from contextmgr.suggestions import suggest
from contextmgr.summaries import ItemKind
from contextmgr.turns import Turn

_SUGGESTED = {
    PinKind.CONSTRAINT: ItemKind.CONSTRAINT,
    PinKind.DECISION: ItemKind.DECISION,
    PinKind.APPROVAL: ItemKind.DECISION,
    PinKind.RESOLUTION: ItemKind.RESOLVED,
}
_RULE = re.compile(
    r"""\b(?:never|always|must(?:\ not|n['’]t)?|do\ not|don['’]t|only\ use|no\ more\ than|at\ (?:most|least)|under\ no|required\ to
      |niemals|immer|nie|darf\ nicht|dürfen\ nicht|muss|müssen|auf\ keinen\ fall|jamais|toujours|doit|doivent|il\ faut
      |nunca|siempre|debe|deben|никогда|всегда|нельзя|должен|должны)\b
      |必须|不得|不要|禁止|绝不|务必|してはいけない|しないで|必ず|절대|반드시|하지\ 마""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTION = re.compile(r"[?？؟;]\W*$|[吗呢]\W*$|ですか\W*$|ますか\W*$")
_REQUEST = re.compile(
    r"""^\W*(?:ok(?:ay)?\W+|and\s+|so\s+|also\s+|now\s+|please\s+)*
      (?:(?:can|could|would|will)\s+(?:you|we)|let['’]?s|kannst\s+du|können\s+(?:sie|wir)|peux-tu|pouvez-vous|puedes|podrías)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TROUBLE = re.compile(
    r"""\b(?:fail(?:s|ed|ing|ure)?|errors?|bugs?|broken|crash(?:es|ed)?|panic|exception|regression|wrong|does\ ?n[o'’]t\ work
      |fehler|fehlgeschlagen|kaputt|funktioniert\ nicht|erreur|échou\w+|ne\ marche\ pas|fallo|falla\w*|no\ funciona|ошибк\w+)\b
      |错误|失败|エラー|失敗|오류|실패""",
    re.IGNORECASE | re.VERBOSE,
)
_RULED_OUT = re.compile(
    r"""\b(?:did\ ?n[o'’]t\ (?:work|help|fix)|does\ ?n[o'’]t\ (?:work|help)|won['’]t\ work|not\ (?:possible|feasible|an\ option|supported)|dead\ end
      |rules?\ out|ruled\ out|reverted|rolled\ back|abandon\w*|rejected|turned\ out\ not|half\ nicht|geht\ nicht|nicht\ möglich
      |verworfen|impossible|n['’]a\ pas\ (?:marché|fonctionné)|no\ funcionó|descartad\w+|не\ сработал\w*)\b|行不通|不可行|うまくいかな""",
    re.IGNORECASE | re.VERBOSE,
)
_RESOLVED = re.compile(
    r"""\b(?:fixed|resolved|solved|root\ cause|(?:the|this)\ (?:problem|issue|bug|cause)\ (?:was|is)|because\ of|caused\ by|now\ (?:works?|pass(?:es)?)
      |all\ tests\ pass|behoben|gelöst|ursache|corrigé|résolu|cause\ était|arreglad\w+|resuelt\w+|causa\ era|исправлен\w*|причина)\b
      |已修复|解决了|原因是|修正しました|解決|原因は|해결|수정했""",
    re.IGNORECASE | re.VERBOSE,
)
_DECISION = re.compile(
    r"""\b(?:decid\w+|chose|chosen|we['’]?(?:ll|\ will)\ (?:use|go|keep)|i['’]?(?:ll|\ will)\ (?:use|go\ with|keep)|instead\ of|rather\ than|agreed|settled\ on
      |opted|entschieden|statt(?:dessen)?|stattdessen|décid\w+|plutôt\ que|au\ lieu|decidi\w+|en\ lugar\ de|решил\w*|вместо)\b
      |决定|改用|采用|ことにし|代わりに|결정|대신""",
    re.IGNORECASE | re.VERBOSE,
)
_OPEN = re.compile(
    r"""\b(?:todo|tbd|still\ (?:needs?|to\ do|missing|open|fail\w*)|remaining\ (?:work|tasks?|steps?|issues?)|next\ steps?|not\ yet|follow[- ]?up|pending
      |left\ to\ do|noch\ (?:offen|nicht|zu)|offen|reste\ à|pas\ encore|falta\w*|pendiente|todavía\ no)\b
      |待办|尚未|还需要|未完了|まだ|아직|남은""",
    re.IGNORECASE | re.VERBOSE,
)
_MADE = re.compile(
    r"""\b(?:created?|added|wrote|written|edited|updated|renamed|moved|removed|deleted|generated|saved|committed|pushed
      |erstellt|angelegt|geändert|gelöscht|umbenannt|créé\w*|ajouté\w*|modifié\w*|supprimé\w*|cread\w+|añadid\w+|eliminad\w+|создан\w*|добавлен\w*)\b
      |创建|新增|修改|作成|追加|변경|추가""",
    re.IGNORECASE | re.VERBOSE,
)
_PATH = re.compile(r"[\w.-]+/[\w./-]+|\b[\w-]+\.[a-z]{1,5}\b")
_NARRATION = re.compile(
    r"""^\W*(?:(?:now|good|great|perfect|excellent|ok(?:ay)?|right|let['’]?s|so|first|next|then)\b[\s,.!:—-]*)*
      (?:let\ me|let['’]?s|i['’]?ll|i\ will|i['’]m\ going\ to|i\ need\ to|i\ should|now\ i|checking|looking|lass\ mich|ich\ (?:werde|schaue|prüfe)|je\ vais
      |voy\ a|déjame|давайте|让我|我来|接下来我|では|確認します)""",
    re.IGNORECASE | re.VERBOSE,
)

_BY_PATTERN = (
    (_RULED_OUT, ItemKind.RULED_OUT),
    (_RESOLVED, ItemKind.RESOLVED),
    (_OPEN, ItemKind.OPEN),
    (_DECISION, ItemKind.DECISION),
)
_TELLING = {
    ItemKind.CONSTRAINT: 1.3,
    ItemKind.DECISION: 1.1,
    ItemKind.RESOLVED: 1.15,
    ItemKind.RULED_OUT: 1.2,
    ItemKind.OPEN: 1.1,
    ItemKind.ARTIFACT: 1.0,
    ItemKind.RESULT: 0.9,
}


def telling(kind: ItemKind) -> float:
    """What a sentence's weight is multiplied by for being of this kind."""
    return _TELLING[kind]


def is_narration(text: str) -> bool:
    """Whether an assistant's sentence only says what it is about to do."""
    return _NARRATION.match(text) is not None


def kinds(turns: Sequence[Turn], found: Sequence[Sentence]) -> list[ItemKind]:
    """The kind of each sentence; ``turns`` holds the turns they are from and what followed them."""
    by_number = {turn.number: turn for turn in turns}
    answered = _answered(turns)
    followed = _followed(turns)
    standing = _standing([t for t in turns if t.role == "user"])
    return [
        _of_user(s, by_number[s.turn], standing.get(s.turn, ()), s.turn in answered)
        if by_number[s.turn].role == "user"
        else _of_assistant(s, by_number[s.turn].ends_exchange, s.turn in followed)
        for s in found
    ]


def _standing(users: Sequence[Turn]) -> Mapping[int, list[tuple[str, ItemKind]]]:
    """Quotes that read like standing instructions, by turn."""
    found: dict[int, list[tuple[str, ItemKind]]] = {}
    for suggestion in suggest(users):
        found.setdefault(suggestion.turn, []).append((suggestion.quote, _SUGGESTED[suggestion.kind]))
    return found


def _answered(turns: Sequence[Turn]) -> set[int]:
    """Numbers of the user turns that got an answer before the user spoke again, as far as these turns tell."""
    found: set[int] = set()
    asked: int | None = None
    for turn in turns:
        if turn.role == "user":
            asked = turn.number
        elif turn.ends_exchange and asked is not None:
            found.add(asked)
    return found


def _followed(turns: Sequence[Turn]) -> set[int]:
    """Numbers of the turns right after which the user spoke."""
    return {before.number for before, after in zip(turns, turns[1:], strict=False) if after.role == "user"}


def _of_user(s: Sentence, turn: Turn, standing: Sequence[tuple[str, ItemKind]], answered: bool) -> ItemKind:
    for quote, kind in standing:
        at = str(turn.blocks[s.block]["text"]).find(quote)
        if at >= 0 and at < s.start + len(s.text) and s.start < at + len(quote):
            return kind
    if _REQUEST.match(s.text):
        return ItemKind.DECISION
    if _QUESTION.search(s.text):
        return ItemKind.RESOLVED if answered else ItemKind.OPEN
    if _RULE.search(s.text):
        return ItemKind.CONSTRAINT
    return ItemKind.OPEN if _TROUBLE.search(s.text) and not answered else ItemKind.DECISION


def _of_assistant(s: Sentence, concludes: bool, followed: bool) -> ItemKind:
    if _QUESTION.search(s.text) and concludes:
        return ItemKind.RESOLVED if followed else ItemKind.OPEN
    for pattern, kind in _BY_PATTERN:
        if pattern.search(s.text):
            return kind
    return ItemKind.ARTIFACT if _MADE.search(s.text) and _PATH.search(s.text) else ItemKind.RESULT
