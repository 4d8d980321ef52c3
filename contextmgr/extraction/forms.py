"""The forms in which English speakers state things, and what makes any sentence too doubtful to be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from contextmgr.facts import FactKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form.

    ``pattern`` reads a whole sentence and gives ``value``, perhaps ``key``, ``old`` and ``takes_back``.  The key is
    ``name``, or ``prefix`` with what ``names`` makes of ``key``, or with words of the value.  ``telling`` asks for a
    capital, digit or sign in the value, ``accepts`` for a pattern in it; a ``whole`` value is not cut at its first
    clause; ``unordered`` words of a key are sorted, so that "A over B" and "B over A" are one matter.
    """

    pattern: re.Pattern[str]
    kind: FactKind = FactKind.FACT
    name: str = ""
    prefix: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    telling: bool = True
    accepts: re.Pattern[str] | None = None
    whole: bool = False
    unordered: bool = False


def form(pattern: str, *, cased: bool = False) -> re.Pattern[str]:
    """A pattern that is blind to case unless it says otherwise."""
    return re.compile(pattern, re.VERBOSE if cased else re.VERBOSE | re.IGNORECASE)


HEDGED = re.compile(
    r"\b(?:maybe|perhaps|probably|might|may be|could be|not sure|unsure|i guess|i suppose|i think i|i wonder"
    r"|wondering|apparently|supposedly"
    r"|seems?|seemed|used to|was|were|had been|would be|wouldn['’]t|if i|if we|if it|if you|unless|what if|imagine"
    r"|suppose|pretend|for example"
    r"|e\.g|let['’]?s say|just kidding|jk|lol|said|says|told me|asked|wants? me to|wrote|claims?|according to"
    r"|vielleicht|wahrscheinlich|angeblich"
    r"|hieß|war|waren|peut-être|sans doute|était|quizás|quizá|tal vez|probablemente|era)\b",
    re.IGNORECASE,
)
"""What makes a sentence too doubtful: guesses, conditions, tales, other people's words."""


def _words(text: str) -> str:
    """Words and phrases as alternatives of a pattern; "~" stands for the blank in a phrase."""
    return "|".join(word.replace("~", r"\ ") for word in text.split())


_TAKES_BACK = _words("no nope actually sorry correction wait oops my~mistake i~meant i~misspoke scratch~that")
_GREETS = _words(
    "hi hello hey ok okay so and also btw by~the~way fyi note~that please~note(?:~that)? yes yeah sure thanks "
    "thank~you great well oh alright just~so~you~know for~(?:the~record|reference) remember(?:~that)? "
    "please~remember(?:~that)? heads~up update"
)
_LEAD = (
    rf"^(?:(?P<takes_back>{_TAKES_BACK})[,.:!;—–-]*\s+(?:it['’]s\ )?"
    rf"|(?:{_GREETS})[,.:!;—–-]*\s+)*+"
)
_ONES = _words(
    "(?:first~|last~|full~|middle~|preferred~|user~|display~|nick)?name "
    "(?:home|work|shipping|billing|delivery|mailing|postal|office|street|contact)?~?(?:e-?mail~)?address "
    "(?:home~|work~|office~)?e-?mail (?:phone|mobile|cell|contact|order|customer|account~id)~(?:number|id|code) "
    "(?:ticket|case|booking|confirmation|reservation)~(?:number|id|code) "
    "(?:flight|tracking|invoice|employee|member(?:ship)?|serial|license|policy|student)~(?:number|id|code) phone "
    "mobile (?:account|customer|user|client|project|tenant|workspace)~id username user~handle "
    "(?:github|gitlab|twitter|slack|discord)~(?:handle|username|user|name|account|id) birthday date~of~birth "
    "birth~date time~?zone "
    "(?:home~|current~|native~)?(?:city|town|country|state|language|zip~code|postcode|airport) hometown "
    "nationality "
    "(?:company|employer|university|school|bank|team|department|role|job(?:~title)?|title|position)(?:['’]s~name)? "
    "(?:occupation|manager|boss|supervisor|doctor|dentist|lawyer|accountant)(?:['’]s~name)? "
    "(?:wife|husband|partner|spouse|son|daughter|brother|sister|mother|father|mom|dad|dog|cat)['’]s~name "
    "(?:girlfriend|boyfriend|fianc[eé]e?)['’]s~name car laptop phone~model computer operating~system os editor "
    "ide shell browser camera bike printer router keyboard (?:shoe|ring|shirt|dress|clothing)~size blood~type "
    "pronouns (?:annual~|monthly~|total~|travel~|wedding~|marketing~)?budget salary rent (?:project~)?deadline "
    "due~date (?:moving|wedding|travel|start|launch|release|move-in|departure|return|appointment|interview)~date"
)
"""What a person has one of; its value needs a name, a number or an address."""
_PROJECTS = _words(
    "deadline due~date (?:launch|release|go-live|ship|delivery|cut-?off|freeze|start|end|kick-?off)~date budget "
    "(?:production~|staging~|main~|primary~|test~)?(?:database|db|server|cluster|environment|bucket|branch) "
    "(?:main~)?repo(?:sitory)? "
    "(?:production~|staging~)?(?:domain|region|port|queue|cache|registry) (?:api~)?base~url (?:tech~)?stack "
    "(?:web~)?framework (?:coding~|target~)?language target~(?:platform|version|audience|market) "
    "project~(?:name|lead|manager|code|owner) product~owner team~lead tech~lead code~name client "
    "(?:(?:python|node|java|postgres|api|schema)~)?version licen[cs]e "
    "(?:order|ticket|case|tracking|invoice|booking)~(?:number|id) time~?zone currency (?:tax|vat)~rate"
)
"""What a project has one of."""
_IS = r"(?:\ (?:is|are)(?:\ now|\ currently|\ actually|\ still|\ set\ to|\ set\ for)?|['’]s(?:\ now)?|:)\s+"
_BECAME = (
    r"(?:\ (?:has\ |was\ |is\ |got\ )?(?:changed|moved|been\ (?:moved|changed|updated|pushed|extended|set|renamed)"
    r"|pushed"
    r"|updated|extended|switched)(?:\ back|\ out|\ up)?\ to\s+)"
)
_DOING = _words(
    "use include provide format answer reply respond write ask confirm check run add give show explain keep cite "
    "mention call send push commit delete deploy merge store log put return avoid summari[sz]e list combine test "
    "review follow convert translate speak touch edit change modify remove create share book schedule charge ship "
    "e-?mail contact validate saniti[sz]e escape quote document name sort round display highlight recommend "
    "suggest assume skip remind specify state prefer break address"
)
_CAPITAL = r"(?-i:[A-Z])"
_TOOL = rf"(?:{_CAPITAL}[\w.+#-]*|[\w-]+[._/\d][\w.+#/-]*|\w+SQL)"
_WE_USE = (
    r"(?:['’](?:re|m)|\ are|\ am)?\ (?:now\ |currently\ |always\ |only\ |mainly\ )*"
    r"(?:us(?:e|es|ing)|run(?:ning)?\ on|deploy\ to|host\ on)\ "
)
_FOR = r"\ (?:for|as)\ (?:our\ |the\ |my\ |all\ )?(?P<key>[\w-]+(?:\ [\w-]+){0,2})[.!]*$"
_GO = (
    r"(?:let['’]?s\ (?:go\ with|use|stick\ with|settle\ on|pick|choose)|i(?:['’]ll|\ will)\ go\ with"
    r"|we(?:['’]ll|\ will|['’]re|\ are)\ (?:go(?:ing)?\ with|stick(?:ing)?\ with|us(?:e|ing)))"
)
_CHOSE = (
    r"(?:let['’]?s\ (?:go\ with|stick\ with|settle\ on)|i(?:['’]ll|\ will)\ go\ with|(?:the\ )?decision:"
    r"|we(?:['’]ll|\ will|['’]re|\ are)\ (?:go(?:ing)?\ with|stick(?:ing)?\ with)"
    r"|(?:we|i)(?:['’]ve|\ have)?\ (?:finally\ )?(?:decided\ on|settled\ on|agreed\ on|chosen))"
)
_BACK = r"^(?:no|nope|actually|sorry|correction|wait|oops|my\ mistake|i\ meant)[,.:!;—–-]*\s+"
_FEW = re.compile(r"^(?:\S+\s*){1,7}$")

FORMS: tuple[Form, ...] = (
    Form(  # no, it's A, not B
        pattern=form(
            rf"{_BACK}(?:(?:it|that|the\ \w+|this)(?:['’]s|\ is|\ should\ be)\s+|i\ meant?\ |make\ (?:it|that)\ )?"
            r"(?P<value>[^,;]{1,80}?),?\ (?:and\ )?not\ (?P<old>[^,;.!]{1,80})[.!]*$"
        ),
        kind=FactKind.CORRECTION,
        name="correction",
        telling=False,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}my\ (?:new\ |current\ |actual\ |correct\ |real\ )?(?P<key>{_ONES})(?:{_IS}"
            rf"|{_BECAME})(?P<value>.+)$"
        ),
    ),
    Form(
        pattern=form(
            rf"{_LEAD}my\ (?:all-time\ |absolute\ |personal\ )?(?P<key>(?:favou?rite|preferred)\ (?:\w+\ ){{0,2}}?\w+)"
            r"(?:['’]s|\ is|\ are)\s+(?P<value>(?!(?:to|when|that|how|still|the\ (?:one|way))\b|a\ \w+\ (?:from"
            r"|about)\b).+)$"
        ),
        kind=FactKind.PREFERENCE,
        telling=False,
        accepts=_FEW,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:our|the)\ (?:new\ |current\ |final\ |hard\ )?(?P<key>{_PROJECTS})(?:{_IS}"
            rf"|{_BECAME})(?P<value>.+)$"
        ),
        accepts=re.compile(r"^(?!\w+(?:ed|ing)\b)"),
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:my|our|the)\ (?P<key>(?:[a-z][\w-]*\ ){{0,2}}[a-z][\w-]*)\ (?:is|are)\ (?:now\ )?due"
            r"(?:\ on|\ by|\ at)?\s+(?P<value>.+)$"
        ),
        prefix="due ",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:please\ |you\ can\ |just\ )*call\ me\ (?P<value>{_CAPITAL}[\w'’.-]+(?:\ {_CAPITAL}[\w'’.-]+)?)"
            r"(?:[.,!].*|\ (?:please|from\ now\ on).*)?$"
        ),
        name="name",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:i\ go\ by|my\ friends\ call\ me|people\ call\ me)\ (?P<value>{_CAPITAL}[\w'’.-]+)(?:[.,!].*)?$"
        ),
        name="name",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}i(?:['’]m|\ am)?\ (?:live|(?:currently\ |now\ )?(?:living|based))\ in\ (?P<value>{_CAPITAL}.+)$"
        ),
        name="home",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}i(?:['’]ve|\ have)?(?:\ just"
            rf"|\ recently)?\ moved\ (?:from\ [^,.]+?\ )?to\ (?P<value>{_CAPITAL}.+)$"
        ),
        name="home",
    ),
    Form(
        pattern=form(rf"{_LEAD}i(?:['’]m)?\ (?:now\ |currently\ )?work(?:ing)?\ (?:at|for)\ (?P<value>{_CAPITAL}.+)$"),
        name="employer",
    ),
    Form(
        pattern=form(rf"{_LEAD}i(?:['’]m|\ am)\ (?:also\ |severely\ |very\ )?allergic\ to\ (?P<value>.+)$"),
        prefix="allergy ",
        telling=False,
        accepts=_FEW,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}i(?:['’]m|\ am)\ (?:a\ |strictly\ )?"
            r"(?P<value>(?:vegan|vegetarian|pescatarian|lactose[- ]intolerant|gluten[- ]free|celiac)(?![\w-]).*)$"
        ),
        accepts=re.compile(r"^[\w-]+(?: [\w-]+)?$"),
        name="diet",
        telling=False,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:we|i|our\ team|the\ team|our\ company){_WE_USE}(?P<value>{_TOOL}(?:\ [^,;]*?)?){_FOR}"
        ),
        prefix="used for ",
    ),
    Form(
        pattern=form(rf"{_LEAD}(?:we|our\ team|the\ team|our\ company){_WE_USE}(?P<value>{_TOOL}(?:\ .*)?)$"),
        prefix="uses ",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:i|we)\ (?:strongly\ |much\ |usually\ |always\ |generally\ )?prefer\ "
            r"(?P<value>(?!not\b|if\b|that\b|to\ be\b|it\b|this\b).+)$"
        ),
        kind=FactKind.PREFERENCE,
        prefix="prefers ",
        telling=False,
        unordered=True,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?P<value>(?:please\ )?(?:always|never|don['’]t\ ever|do\ not\ ever)\ (?:{_DOING})\ "
            r"(?!up\b|mind\b|give\b).+)$"
        ),
        kind=FactKind.PREFERENCE,
        prefix="rule ",
        telling=False,
        whole=True,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?P<value>(?:from\ now\ on|going\ forward|in\ (?:the\ )?future|by\ default),?\ "
            rf"(?:please\ |always\ |never\ |only\ |don['’]t\ |do\ not\ )*(?:{_DOING})\b.+)$"
        ),
        kind=FactKind.PREFERENCE,
        prefix="rule ",
        telling=False,
        whole=True,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:please\ )?(?:always\ |only\ )?(?:answer|reply|respond|write"
            rf"|speak)(?:\ to\ me)?(?:\ only)?\ in\ "
            rf"(?P<value>{_CAPITAL}[a-z]+)(?:\ (?:please|from\ now\ on|only))*[.!]*$"
        ),
        kind=FactKind.PREFERENCE,
        name="answer_language",
    ),
    Form(
        pattern=form(rf"{_LEAD}{_GO}\ (?P<value>[^,;]*?){_FOR}"),
        kind=FactKind.DECISION,
        prefix="decision ",
        telling=False,
        accepts=re.compile(r"^(?!(?:now|today|example)\b)"),
    ),
    Form(
        pattern=form(rf"{_LEAD}{_CHOSE}\ (?P<value>.+)$"),
        kind=FactKind.DECISION,
        prefix="decision ",
        telling=False,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?P<value>(?:we|i)(?:['’]ve|\ have)?\ (?:finally\ |all\ )?(?:decided|agreed)\ (?:to|that"
            rf"|against)\ .+)$"
        ),
        kind=FactKind.DECISION,
        prefix="decision ",
        telling=False,
    ),
)
