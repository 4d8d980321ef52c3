"""Who is said to have said it: whether a statement speaks for the user or for the assistant, and with what force.

Law: a statement that puts words, a wish or a consent into the user's mouth is found as such, in whatever kind of item
it stands; what is not found here is only the statement of whoever wrote the summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_USER = (
    r"(?:(?:the|this|our)\s+)?(?:user|customer|operator|human)\b(?!['’]s)"
    r"|(?:der|die|dem|den)\s+(?:nutzer|benutzer|anwender|kunde|auftraggeber)(?:in)?\b"
    r"|(?:l['’]utilisat(?:eur|rice)|l['’]usager|le\s+client|la\s+cliente)\b"
    r"|(?:el|la)\s+(?:usuari[oa]|cliente)\b|o\s+usuário\b"
)
_AGREED = (
    r"confirm(?:s|ed|ing)?|approv(?:es?|ed|ing)|allow(?:s|ed|ing)?|permit(?:s|ted|ting)?|authori[sz](?:es?|ed|ing)|agree[sd]?"
    r"|accept(?:s|ed)?|grant(?:s|ed)?|decid(?:es?|ed)|cho(?:ose|oses|se|sen)|select(?:s|ed)|opt(?:s|ed)|pick(?:s|ed)"
    r"|consent(?:s|ed)?|signed\s+off|ga(?:ve|ive)\s+(?:(?:the|its|their|his|her)\s+)?(?:permission|approval|consent|go-ahead|ok)"
    r"|bestätigt\w*|genehmigt\w*|erlaubt\w*|zugestimmt|stimmte?|entschied\w*|entschieden|freigegeben|gestattet\w*|beschloss\w*|beschlossen"
    r"|confirm(?:e|é|a|ait)|approuv(?:e|é|ait)|autoris(?:e|é|ait)|permis|permet|accept(?:e|é)|décid(?:e|é)|choisi(?:t)?|validé?"
    r"|confirm(?:a|ó|ado)|aprob(?:ó|ado)|aprueba|autoriz(?:a|ó|ado)|permit(?:e|ió|ido)|acept(?:a|ó|ado)|decid(?:e|ió|ido)|eligió|elegido"
)
_SAID = (
    r"ask(?:s|ed|ing)?|want(?:s|ed)?|request(?:s|ed|ing)?|requir(?:es?|ed)|need(?:s|ed)?|prefer(?:s|red)?|wish(?:es|ed)?"
    r"|expect(?:s|ed)?|instruct(?:s|ed)?|insist(?:s|ed)?|demand(?:s|ed)?|order(?:s|ed)|t(?:ells?|old)|would\s+(?:like|prefer|rather)"
    r"|['’]d\s+like|sa(?:ys?|id)|stat(?:es|ed)|not(?:es|ed)|report(?:s|ed)|mention(?:s|ed)|explain(?:s|ed)|clarif(?:ies|ied)"
    r"|point(?:s|ed)\s+out|describ(?:es|ed)|complain(?:s|ed)|remind(?:s|ed)|emphasi[sz](?:es|ed)|specif(?:ies|ied)|suggest(?:s|ed)"
    r"|propos(?:es|ed)|answer(?:s|ed)|repl(?:ies|ied)|warn(?:s|ed)|thinks?|thought|believes?|likes?|made\s+(?:it\s+)?clear|set\s+(?:a|the)\s+rule"
    r"|forb(?:ids?|ade|idden)|prohibit(?:s|ed)|reject(?:s|ed)|refus(?:es|ed)|declin(?:es|ed)|disallow(?:s|ed)|vetoe[sd]|rul(?:es|ed)\s+out|object(?:s|ed)"
    r"|gebeten|bat|bittet|verlangt\w*|wünsch\w*|gewünscht|möchte|will|wollte|forder\w*|gefordert|sagt\w*|gesagt|verbot\w*|verbietet|meint\w*|lehnt\w*"
    r"|demand(?:e|é|ait)|veut|voulait|souhait(?:e|é|ait)|exig(?:e|é|ait)|dit|préfère|interdi(?:t|sait)|refus(?:e|é)"
    r"|pid(?:e|ió|ido)|quiere|quería|desea|solicit(?:a|ó|ado)|exig(?:e|ió|ido)|d(?:ice|ijo|icho)|prefiere|prohíb(?:e)?|prohib(?:ió|ido)"
)
_BETWEEN = (
    r"(?:\s+|,\s*)(?:(?:has|have|had|also|then|later|explicitly|clearly|already|again|just|finally|initially|specifically|strongly|only"
    r"|did|does|do|is|was|hat|habe|a|ha|avait|había|se|n['’]a|ne|(?P<not>not|never|didn['’]t|doesn['’]t|hasn['’]t|hadn['’]t|no|nunca|nie|nicht|kein\w*))\s+){0,4}"
)
_SPOKEN = re.compile(
    rf"(?<![\w-])(?P<who>{_USER})(?:{_BETWEEN}(?:(?P<agreed>{_AGREED})|(?P<said>{_SAID}))(?![\w-])"
    rf"(?:\s+(?:that|to|for|the\s+(?:assistant|agent|model)(?:\s+to)?|if|whether|us|me|dass|darum|que|de)\b)*)",
    re.IGNORECASE,
)
# German and other participles stand at the end: "Der Nutzer hat ... bestätigt".
_SPOKEN_LATE = re.compile(
    r"(?<![\w-])(?P<who>(?:der|die)\s+(?:nutzer|benutzer|anwender|kunde)(?:in)?)\s+(?:hat|hatte|habe)\b.{1,200}?\b"
    r"(?:(?P<agreed>bestätigt|genehmigt|erlaubt|zugestimmt|entschieden|freigegeben|gestattet|beschlossen)"
    r"|(?P<said>gebeten|verlangt|gewünscht|gefordert|gesagt|verboten|abgelehnt))\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(
    r"(?P<who>用户|用戶|使用者|客户|ユーザー?|사용자(?:는|가|께서)?)(?:.{0,20}?)"
    r"(?:(?P<agreed>确认|確認|同意|批准|允许|允許|决定|決定|承認|許可|승인|허용|확인|결정|동의)|(?P<said>要求|希望|说|說|想|请|請|依頼|言|望|求め|요청|원했|원하|말했))"
)
_LABEL = re.compile(
    r"^\W*(?:(?:user|human|customer|operator|nutzer|benutzer|utilisateur|usuario|用户|ユーザー|사용자)\s*(?:'s\s+)?)?"
    r"(?:(?P<agreed>approv(?:al|ed)|permission|authori[sz](?:ation|ed)|confirm(?:ation|ed)|consent|genehmigung|erlaubnis"
    r"|bestätigung|autorisation|confirmation|approbation|autorización|confirmación|aprobación|批准|许可|確認|승인)"
    r"|(?P<ruled>constraint|requirement|rule|restriction|einschränkung|vorgabe|regel|anforderung|contrainte|exigence|règle"
    r"|restricción|requisito|regla|约束|制約|제약)"
    r"|(?P<said>wish|preference|instruction|request(?:ed)?|user|human|customer|operator|wunsch|nutzer|benutzer|souhait"
    r"|utilisateur|deseo|usuario|要求|用户|ユーザー|사용자))s?\s*(?:\([^)]{0,40}\))?\s*[:：]\s*",
    re.IGNORECASE,
)
_NOMINAL = re.compile(
    r"\b(?:(?:per|at|by|with|following|after|on|as)\s+)?(?:the\s+)?(?:user|customer)['’]?s?['’]?[-\s](?:(?:explicit|clear|prior)\s+)?"
    r"(?:(?P<agreed>approv(?:al|ed)|permission|consent|confirm(?:ation|ed)|authori[sz](?:ation|ed)|decision|go-ahead|choice)"
    r"|(?P<said>request(?:ed)?|wish(?:es)?|instructions?|preferences?|demands?|constraints?|requirements?|orders?|words?))\b"
    r"|\b(?:(?P<agreed2>approved|confirmed|authori[sz]ed|allowed|permitted|agreed|decided|chosen)"
    r"|(?P<said2>requested|required|wanted|demanded|instructed|asked\s+for|rejected|forbidden|prohibited))\s+by\s+the\s+(?:user|customer)\b"
    r"|\b(?P<agreed3>(?:permission|approval|consent|authori[sz]ation|(?:the\s+)?go-ahead)\s+(?:was|has\s+been|is|were)\s+(?:given|granted|received|obtained|confirmed))\b"
    r"|\b(?P<agreed4>(?:the\s+)?(?:assistant|agent|model)\s+(?:is|was|has\s+been|may|is\s+now)\s+(?:allowed|permitted|authori[sz]ed|cleared|approved)(?:\s+to)?)\b"
    r"|\b(?P<said3>(?:the\s+)?(?:assistant|agent|model)\s+(?:is|was|has\s+been)\s+(?:asked|told|instructed|ordered|forbidden)(?:\s+(?:not\s+)?to)?)\b"
    r"|\b(?P<said4>the\s+(?:assistant|agent|model)\s+(?:must|shall|should|has\s+to|needs\s+to|may\s+only|can\s+only))\b",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(
    r"^\W*(?:(?:then|later|in turns? \d+),?\s+)?(?P<who>(?:the\s+)?(?:assistant|claude)|the\s+(?:agent|model|ai)"
    r"|(?:der|die)\s+(?:assistent|agent)(?:in)?|l['’]assistante?|el\s+asistente|la\s+asistente|助手|アシスタント|어시스턴트)"
    r"(?:\s*:|\s+(?:also\s+|then\s+|later\s+|has\s+|had\s+|have\s+|hat\s+|a\s+|ha\s+)*"
    r"(?P<verb>f(?:ound|inds)|decid\w+|propos\w+|suggest\w+|report\w+|said|says|stat\w+|not(?:ed|es)|explain\w+|recommend\w+|claim\w+|conclud\w+|plan\w*"
    r"|observ\w+|discover\w+|confirm\w+|determin\w+|identif\w+|offer\w+|ask\w*|answer\w*|mention\w*|ch(?:ose|ooses)|told|wrote"
    r"|vorgeschlagen|festgestellt|gefunden|fand|schlug|proposé|trouvé|constaté|propuso|encontró|dijo))?(?:\s+(?:that|to|dass|que))?",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|once|until|unless|every\s+time|falls|wenn|si|cuando|quand)\s+(?:the\s+|a\s+)?$",
    re.IGNORECASE,
)


class Speaker(StrEnum):
    """Whose word a statement claims to report; ``NOBODY`` where it reports none."""

    USER = "user"
    ASSISTANT = "assistant"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Claim:
    """Whose word a statement reports, and the statement without the words that say so.

    ``agreed`` tells of a consent or a choice, ``ruled`` of a rule: a question is neither.
    """

    speaker: Speaker
    rest: str
    agreed: bool = False
    ruled: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether it tells that something is settled, and not merely asked or said."""
        return self.agreed or self.ruled


def claim(text: str) -> Claim:
    """What a statement claims about who said it."""
    label = _LABEL.match(text)
    found = [m for p in (_SPOKEN_LATE, _SPOKEN, _NOMINAL, _UNSPACED) for m in p.finditer(text) if not _is_condition(m)]
    if label is not None or found:
        agreed = any(_has(m, "agreed") for m in [*found, *([label] if label else [])])
        ruled = label is not None and bool(label["ruled"])
        return Claim(Speaker.USER, _without(text, [*([label] if label else []), *found]), agreed, ruled)
    assistant = _ASSISTANT.match(text)
    if assistant is not None:
        return Claim(Speaker.ASSISTANT, text[assistant.end() :])
    return Claim(Speaker.NOBODY, text)


def _is_condition(match: re.Match[str]) -> bool:
    """Whether it tells what happens when a user does something: software is about users too."""
    return _CONDITION.search(match.string, 0, match.start()) is not None


def _has(match: re.Match[str], group: str) -> bool:
    return any(v for k, v in match.groupdict().items() if k.startswith(group))


def _without(text: str, found: list[re.Match[str]]) -> str:
    """The statement without the words of the claim, their negation left in place."""
    for start, end, denied in sorted(_taken(found), reverse=True):
        text = text[:start] + (" not " if denied else " ") + text[end:]
    return text.strip()


def _taken(found: list[re.Match[str]]) -> Iterator[tuple[int, int, bool]]:
    """The stretches to take out, none overlapping another, and whether a negation has to stand in their place."""
    upto = 0
    for match in sorted(found, key=lambda m: (m.start(), -m.end())):
        if match.start() < upto:
            continue
        upto = match.end()
        denied = bool(match.groupdict().get("not") or _DENIES.search(match.group()))
        if match.re in (_SPOKEN_LATE, _UNSPACED):
            yield *match.span("who"), False
            yield *match.span("agreed" if match["agreed"] else "said"), denied
        else:
            yield *match.span(), denied


_DENIES = re.compile(
    r"\b(?:forb|prohib|reject|refus|declin|disallow|veto|rul\w+\s+out|verb[oi]t|interdi|prohíb|not\s+to\b)",
    re.IGNORECASE,
)
