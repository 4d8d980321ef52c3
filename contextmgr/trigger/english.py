"""The signs in English, in folded text: small letters, no accents, straight apostrophes."""

from __future__ import annotations

from contextmgr.trigger.sign import Sign

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_NUMBER = r"(?:a few|few|two|three|four|five|six|seven|several|couple(?: of)?|past|\d{1,2})"
_PAST = rf"""(?:yesterday|the other (?:day|week|month|night)|earlier today|a while (?:ago|back)|in the past
        |last (?:night|time|week|month|year|{_DAY}|{_MONTH})
|this (?:morning|week|month)|(?:(?:a|{_NUMBER}) )?(?:days?|weeks?|months?|years?) (?:ago|back)|back in {_MONTH}
|(?:in|over) the (?:past|last) [a-z0-9 ]{{1,12}}|on (?:{_DAY}|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}
        |{_MONTH} \d{{1,2}}))"""
_TALKS = r"(?:chats?|conversations?|discussions?|sessions?|talks?|exchanges?)"
# What we did together: in talk or at the work in hand.
_TOGETHER = r"""(?:decide|agree|settle|choose|pick|conclude|discuss|talk|speak|say|cover|plan|end up|rule out
|solve|fix|use|call|name|write|assign|set|leave|go with|debug|work on|come up with|do|start|draft)"""
_SHARED = r"""(?:decided|agreed|settled|chose|picked|concluded|discussed|talked|spoke|said|covered|planned|ended up
|ruled out|solved|fixed|used|called|named|wrote|assigned|set up|went with|went over|debugged|made|built|started
|drafted|saw|came up with|worked on|were discussing|were talking|were working)"""
_DID = r"(?:(?!need|want|used to|must)[a-z]+ed|had|did|took|gave|found|got|put|ran|read|cut|kept|left|drew|sent)"
_MADE = r"(?:gave|wrote|made|sent|found|drafted|built|created)"
_GAVE = rf"""(?:told|mentioned|suggested|recommended|said|advised|promised|proposed|explained|showed|brought up
|edited|helped|listed|described|outlined|{_MADE})"""
_YOU = r"(?:you|u)(?: had|'ve| have|'d)?(?: already| once| previously)?"
_GIVE = r"(?:bring up|tell|mention|suggest|recommend|say|advise|propose|explain)"
_ASK = r"(?:what|which|why|when|where|how|who|whose)"

ENGLISH: tuple[Sign, ...] = (
    Sign(
        "our last chats",
        "recent",
        rf"\b(?:my|our)(?: {_NUMBER}| most)? ?(?:last|recent|latest)(?: {_NUMBER})? {_TALKS}\b",
    ),
    Sign("chats of a time", "recent", rf"\b(?:my|our) {_TALKS} (?:from|of|in) (?:last|this|the past|yesterday)\b"),
    Sign(
        "what we talked about then",
        "recent",
        rf"""\b(?:what|which (?:topics|things)) (?:did|have) we (?:been )?(?:talk(?:ed|ing)?|speak|spoken|chat(?:ted)?
        |discuss(?:ed|ing)?|do|cover(?:ed)?)(?: about| on)? {_PAST}|\bwhat we (?:covered|discussed
        |talked about) {_PAST}
        |\bwhat did i ask(?: you)? {_PAST}""",
    ),
    Sign(
        "when we last talked",
        "recent",
        r"""\bwhen did we last (?:talk|speak|chat)|\b(?:first|last) (?:thing|question) i (?:ever )?asked(?: you)?\b
        |\bwhat (?:was|did) i (?:ever )?(?:first|last) ask""",
    ),
    Sign(
        "goes on with something from before",
        "topic",
        rf"""\b(?:continue|resume|pick up|carry on|go on|go back to|get back to)\b(?: with)? (?:the|our|my
        |that) [^.?!]{{2,60}}\b
        (?:we|you|i) (?:{_SHARED}|left (?:it|off))\b|\b(?:continue|resume|carry on
        |let's continue)(?: with)? (?:the|our|my) [^.?!]{{2,60}} from {_PAST}""",
    ),
    Sign(
        "where we left off",
        "recent",
        r"""\bwhere (?:we|you|i) (?:had )?(?:left off|left it|left things|stopped|were)\b|\bwhere (?:were
        |was) (?:we|i)\b(?= ?[?.!,]|$)
        |\b(?:what|whatever) (?:were )?we (?:were )?(?:doing|working on|at)\b
        |\b(?:same (?:\w+ )?as|keep going from|go on from|continue from|carry on from|resume from) (?:yesterday
        |last (?:time|night|week))\b
        |\b(?:what|which)(?:'s| was| were| is)? (?:the )?last (?:thing|things|topics?|task)?\s?(?:that )?we\b
        |\b(?:what|which) we did (?:on|last|yesterday)\b
        |\btopics have i (?:been )?\w+
        |\b(?:continue|resume|carry on|pick up|back to)\b[^.?!]{0,30}\b(?:last|previous|earlier
        |yesterday's) (?:session|chat|conversation|discussion)""",
    ),
    Sign(
        "an earlier chat",
        "topic",
        rf"""\bour (?:discussions?|conversations?|talks?|chats?) (?:on|about|of)\b
        |\b(?:(?:our|my|your)(?: \w+)? (?:past|previous|earlier|prior|older|old|last|other)|(?:an|some
        |all the|the|in) (?:earlier|previous|prior)
        |(?:past|previous|earlier|prior)
        |(?:in )?(?:another|the other|a different)(?= (?:chat|conv|disc)))(?: {_TALKS})\b|\b(?:across|in
        |through|all) (?:all )?our {_TALKS}\b
        |\b(?:chat|conversation|session|thread) (?:where|in which|when) (?:we|i|you)\b|\b(?:throughout|from
        |based on|of) (?:all )?our (?:conversations|chats|discussions?|conversation)\b|\bour last (?:chat
        |conversation|session)\b""",
    ),
    Sign("your memory", "topic", r"\b(?:check|search|look in|consult|use|from) your (?:memory|memories|notes)\b"),
    Sign(
        "what you said before",
        "topic",
        rf"""\bdid (?:you|u) (?:not )?{_GIVE}\b|\b{_ASK}\b[^.?!]{{0,60}}(?<!\bas )(?<!\blike )\b{_YOU} {_GAVE}\b
        |(?<!\bas )\b{_YOU} {_GAVE}\b[^.?!]{{0,60}}\b(?:{_PAST}|once|before|earlier|previously)\b
        |\b{_PAST}[^.?!]{{0,30}}\b{_YOU} (?:{_GAVE}|told)\b|\byou(?: had|'ve)? (?:once|previously|already) {_GAVE}\b
        |(?<!\bas )\b{_YOU} (?:{_MADE} (?:me|us|up for (?:me|us)|for (?:me|us))\b|(?:told|recommended to
        |helped) (?:me|us)\b)""",
    ),
    Sign(
        "what I told you",
        "topic",
        rf"""\bi(?:'ve| have|'d| had)?(?: already| once| ever| previously)? (?:told|asked|gave|sent|showed
        |explained|mentioned|described)\b[^.?!]{{0,40}}
        \b(?:to )?you\b|\b(?:did|have|had) i (?:ever |already )?(?:tell|told|ask|asked|mention|mentioned|give
        |given|say|said|prefer|explain|explained)\b
        |\bwhat i (?:said|told you|asked|wrote)(?: \w+)? about\b|\b(?:i|we) (?:mentioned|brought up
        |told you)\b[^.?!]{{0,60}}\b{_PAST}
        |\b(?:as|like) i(?:'ve| have)? (?:already )?(?:said|mentioned|explained|wrote)(?: to you)? (?:before
        |earlier|last|previously|once|yesterday)""",
    ),
    Sign(
        "asks about the user's own past",
        "topic",
        r"""(?:^|[.!?] )(?:and |so |hey |ok,? |do you know )?(?:what|which|who|whom|where|when|how (?:many|much
        |long|often|old))\b[^.?!]{0,80}
        \b(?:did|have|had|was|were|am) i (?!do(?:ing|ne)? wrong|go wrong|miss|supposed|looking|even|right|wrong
        |to\b|not\b|need|allowed|able|just|forget)[^.?!]{2,120}\?\s*$
        |(?:^|[.!?] )have i (?:ever|already|been|met|worked|read|told|completed|finished|visited)\b[^.?!]*\?\s*$""",
    ),
    Sign(
        "what we decided",
        "topic",
        rf"""\b{_ASK}\b[^.?!]{{0,60}}\b(?:did|had|have) we (?:ever |already |finally |then )?(?:{_TOGETHER}
        |{_SHARED})\b
        |\bdid(?:n't| not)? we (?:ever |already )?(?!do\b|use\b|call\b|set\b|leave\b|write\b|start\b)(?:{_TOGETHER})\b
        |\bhave we (?:ever |already )?(?:{_SHARED}|spoken|chosen)\b""",
    ),
    Sign(
        "something we made or agreed",
        "topic",
        rf"""\b(?:the|that|those|same|this|which|what
        |everything)\b[^.?!,]{{0,40}}?(?<!\bsay )(?<!\bsays )(?<!\bsaid )(?<!\bthink )
        (?<!\bmeans )(?<!\bif )(?<!\bonce )\bwe(?:'ve| have|'d| had)?(?: both| already)?(?: so far)? (?:{_SHARED})\b
        |\b(?:the|those|same|which|what)\b (?!(?:team|company|minutes|people|board|fact|reason|way|moment|day
        |year)\b)(?:[\w'-]+ ){{0,3}}
        (?:that |which )?(?<!\bhave )(?<!\bdo )(?<!\bshould )we(?:'d| had)? {_DID}\b[^.?!]*\?|\b(?:since
        |when) we (?:last|did the|made the|wrote the)\b
        |\bwe(?:'ve| have)? (?:talked about|discussed|went over|gone over|spoke about|covered) (?:this
        |that|it) (?:before|already|earlier|once)|\bwe were (?:discussing|talking about|working on|planning
        |writing|building)|\bwe'd (?:settled
        |agreed|decided|chosen|picked)\b
        |\b(?:our|per our) (?:earlier|previous|prior) (?:agreement|decision|plan|approach|arrangement
        |understanding|choice)\b
        |\b(?:one|version|draft|note) from (?:{_PAST})""",
    ),
    Sign(
        "what you know",
        "topic",
        r"""\byou (?:already|still) (?:know|have|got|remember) (?:my|our|me|about|what i|how i|the)\b
        |\bany chance you still (?:have|know)\b
        |\bdo you still (?:have|know|remember) (?:my|our|the)\b|\bi know i (?:gave|told|sent|showed) you\b
        |\bwhat i(?:'ve| have) (?:shared|told you|said)\b""",
    ),
    Sign(
        "as we discussed",
        "topic",
        r"""\b(?:as|like) we(?:'ve| have|'d| had)? (?:already )?(?:discussed|agreed|decided|said|talked|planned)\b
        |^(?:as|like) (?:discussed|agreed)(?: (?:before|earlier|yesterday|last \w+))?[,:]""",
    ),
    Sign(
        "asks whether you remember",
        "topic",
        rf"""\b(?:you|u) (?:still )?(?:remember|recall)\b[^.?!]{{0,50}}\b(?:i|we|me|my|our|from {_PAST})\b
        |\b(?:remind me|tell me again|refresh my memory)\b[^.?!]{{0,30}}\b(?:we|i|you) (?!can\b|could|should
        |need|have to|must|do\b|would|are\b|am\b)\w+""",
    ),
    Sign(
        "as last time",
        "topic",
        r"\blast time (?:we|you|i (?:asked|told) you)\b|\b(?:like|as|than|used|did) (?:it )?last time\b",
    ),
    Sign(
        "the usual",
        "topic",
        r"""\b(?:the way|like|just how) i (?:always )?(?:like|want|prefer) (?:it|them|that)?(?=[.!,]|$)
        |\bin my house style\b|\bmy (?:usual|regular|preferred|go-to)(?= [a-z]|[.,!?]|$)
        |\b(?:make|do|order|get|use|apply|add|book|send)\b[^.?!]{0,20}\bthe usual\b(?! suspects| side| way to)
        |\bas (?:always|usual)(?=[,.:!?])|\bi always (?:send|use|order|get|book|write|add)\b[^.?!]{0,20}\bto\b
        |\byou know (?:which|what|who)\b
        |\bcompared to when we\b""",
    ),
    Sign(
        "something of mine",
        "topic",
        r"""\bwhat(?:'s| is| was| were| are) my (?!ip\b|options|chances|rights|next|horoscope|purpose|balance
        |account|mac\b|best|total|screen|current|name servers)
        (?:[a-z]+(?:'s)? ){0,2}[a-z]+(?: again)?\s*\?\s*$""",
    ),
)

ELSEWHERE: tuple[Sign, ...] = (
    Sign(
        "with someone else, or elsewhere",
        None,
        r"""\b(?:in|at|during|from) (?:the|a|an|our|my|this|that|yesterday's|today's) (?:\w+ )?(?:meeting|call
        |standup|workshop|class|lecture|paper|article|readme|docs?|documentation|minutes|contract|email|team
        |book|thread|tutorial|manual|attached|court|board)\b
        |\b(?:wife|husband|boss|partner|landlord|mother|father|mum|mom|dad|friend|doctor|colleague|sister
        |brother|team|hr|he|she|they|someone|somebody) and (?:i|me)\b
        |\b(?:he|she|they|someone|wife|husband|sister|brother|friend|doctor|boss|landlord|teacher|team|minutes
        |report) (?:says?|said|claims?|claimed|told|mentioned|agreed|decided)\b
        |\b(?:chats?|conversations?|discussions?|talks?|sessions?|talked|spoke|agreed|spoken|discussed it) with (?:the
        |my|our|a|an|his|her|him|them|some|hr)\b""",
    ),
    Sign(
        "in view",
        None,
        r"""\b(?:you|i|we|u) just [a-z]+|\b(?:above|below)\b|\bin this (?:chat|conversation|thread|message)\b""",
    ),
    Sign(
        "with someone else (other languages)",
        None,
        r"""\b(?:im|in unserem) (?:team|meeting|verein|vorstand)\b|\bin der (?:sitzung|besprechung|norm)\b
        |\bmit (?:meine[mr]|unsere[mr]|de[mr]) \w+|\bavec (?:ma|mon|mes|notre|nos|le|la|les) \w+|\ben reunion\b
        |\ben la reunion\b
        |\bcon (?:mi|mis|nuestr[oa]|el|la|il|lo(?! (?:que|de)\b)|mio|mia) \w+|\bin riunione\b|\bna reuniao\b
        |\bcom (?:meu|minha|o|a) \w+|\bmet (?:mijn|de|het|onze) \w+|\bin de vergadering\b""",
    ),
)
