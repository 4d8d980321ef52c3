"""The signs of a standing instruction in English, with their weights.

The weights were set by hand, in steps of what the words mean, and not fitted: labelled examples are far too few.
"""

from __future__ import annotations

from contextmgr.pins import PinKind
from contextmgr.suggestions.sign import Sign

# Where a clause can begin; a verb right after it is an imperative, not a description.
_CLAUSE = r"(?:^|[,;:(–—!]\s*|\.\s+|\b(?:and|but|or|so|please|pls|also|then|just|ok|yes|no)[, ]+)"
# Verb forms that describe: "always lists", "never called".
_TELLING = (
    r"(?:(?:mind|seem|had|has|happen|been|the|an?|on|in)\b"
    r"|(?!(?:embed|proceed|exceed|feed|seed|bring|string)\b)[a-z]+(?:ed|[^s]s|[a-z]{2}ing)\b)"
)
_POINTED = r"(?:it|this|that|these|those|them|him|her|me|us)"
_MENTAL = (
    r"(?:so|bother|worry|forget|think|know|get|see|understand|have|believe|care|remember|mind|feel|seem|want|need|like)"
)
_KIND = r"(?:all|every|each|any|both|no(?= )(?! (?:i|we|it|this|that|you)\b))(?! (?:you|i|we) )"

SIGNS: tuple[Sign, ...] = (
    Sign(
        "from now on",
        3.5,
        r"""\b(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|henceforth|hereafter
        |(?:^|, )moving forward|in (?:the )?future,|for the (?:rest|remainder) of (?:this|the|our)
        |until (?:i|we) (?:say|tell|lift|agree)
        |unless (?:i|we|the user) (?:explicitly |specifically )?(?:say|ask|tell|approve|request|agree)s?)\b""",
    ),
    Sign(
        "no exceptions",
        3.5,
        r"""\b(?:non[- ]?negotiable|no exceptions?|without exception|under no circumstances|at all times
        |(?:hard|strict|golden|absolute|standing|house|general|fixed) (?:rule|requirement|constraint|limit)s?
        |as a (?:general )?(?:rule|convention|policy)|by convention)\b""",
    ),
    Sign(
        "says what is policy",
        2.5,
        r"""\b(?:our|the|my|company|team|house) (?:overriding |general |coding |naming |overall )?
        (?:policy|convention|standard|style guide|directive|principle|rule)s?\b
        [ ](?:is|are|says?|requires?|forbids?)\b""",
    ),
    Sign("always or never do", 2.8, _CLAUSE + r"(?:always|never)(?: ever| again)? (?!" + _TELLING + ")[a-z]{2,}"),
    Sign(
        "must always or never",
        2.8,
        r"""\b(?:(?:must|should|shall|may) (?:always|never)|can never
        |(?:can|could|would|will) you (?:please )?(?:always|never)
        |(?:want|need|expect|ask|sure|remember|careful|like)(?: you| us)? to (?:always|never))\b""",
    ),
    Sign(
        "all of a kind must",
        2.8,
        r"\b"
        + _KIND
        + r""" [^.?!,;]{2,70}?\b
        (?:must|shall|has to|have to|needs? to|may (?:not|only)|(?:can|may) never|can ?not|can't|are to|is to)\b""",
    ),
    Sign("all of a kind should", 2.2, r"\b" + _KIND + r" [^.?!,;]{2,70}?\b(?:should|needs|requires)\b"),
    Sign("must", 2.2, r"\bmust(?: not|n't)? (?!have\b|be (?:an?|the|some|something|because|due)\b)[a-z]+"),
    Sign(
        "is required or forbidden",
        2.2,
        r"""\b(?:is|are) (?:strictly |absolutely )?
        (?:required|mandatory|forbidden|prohibited|not allowed|not permitted|off[- ]limits|out of scope)\b""",
    ),
    Sign(
        "forbids",
        2.1,
        _CLAUSE
        + r"(?:don['’]?t|do not|dont|never) (?!(?:"
        + _POINTED
        + "|"
        + _MENTAL
        + r")\b|"
        + _TELLING
        + r""")
        [a-z]{2,} (?!"""
        + _POINTED
        + r"""\b(?:\s*(?:[.,;!?]|$|yet|now|and|but|let)))""",
    ),
    Sign("forbids", 2.1, r"^no [a-z][\w-]+(?: [a-z][\w-]+){0,2}(?:!|[,;] (?:use|only|just) )"),
    Sign(
        "avoid",
        2.2,
        _CLAUSE + r"(?:avoid|refrain from|steer clear of|stay away from) (?!" + _POINTED + r"\b)[a-z]+|\bstop using\b",
    ),
    Sign(
        "prefers",
        2.5,
        r"""\b(?:i(?:['’]d| would| do|) (?:always |generally |usually |really |strongly |much )?prefer(?:red)?
        |my preference is|i(?:['’]d| would) rather (?:you|we|have|not))\b(?! if\b)""",
    ),
    Sign(
        "habit or dislike of the user",
        2.3,
        r"""\bi (?:always|never|only|generally|usually|typically|don['’]?t|do not) (?:ever )?
        (?:want|like|use|eat|drink|work|take|accept|allow|tolerate|buy|fly|travel)\b
        (?! to\b|(?: it| that| this)\b)""",
    ),
    Sign(
        "wants all of a kind",
        2.3,
        r"""\bi (?:want|need|expect|would like|['’]d like)
        [ ](?:you to (?:always|never|only)|all|every|each|everything|any)\b""",
    ),
    Sign(
        "keeps something",
        2.3,
        _CLAUSE
        + r"""(?:keep|maintain|preserve|retain|ensure|guarantee|stay|remain)\b[^.?!]{0,40}\b(?:compatib\w*|compliant
        |invariants?|in sync|aligned|consistent|consistency|reproducible|deterministic|intact)\b""",
    ),
    Sign(
        "leaves something out for good",
        2.0,
        r"""\b(?:we|i) (?:(?:don['’]?t|do not|dont) think we (?=need|want|should)|don['’]?t |do not |dont |no longer[ ]
        |won['’]?t )(?:need|want|support|care about|use|have to support)
        [ ](?!(?:to|it|that|this|any of|you|more)\b)[a-z]""",
    ),
    Sign(
        "keeps to something",
        1.8,
        _CLAUSE
        + r"""(?:stick (?:to|with)|adhere to|follow|comply with|conform to|respect|honou?r|obey
        |(?:limit|restrict) yourself to) (?!(?:it|this|that|up)\b)""",
    ),
    Sign(
        "names or format",
        1.8,
        r"""\b(?:call (?:ours|them all|it) |name (?:them|all|every|each)|write all
        |format (?:all|every|each|dates|numbers)
        |use\b[^.?!]{2,60}\b(?:instead of|rather than|not|everywhere|throughout|consistently|only|no
        |for (?:all|every)|in (?:all|every)|to be consistent))\b""",
    ),
    Sign(
        "gives a role",
        2.6,
        r"""^(?:you are (?:the|an?|my|our) |your (?:role|job) is |act as (?:the|an?|my)[ ]
        |you (?:must|may only|may not|will only|will never|should (?:always|never|only)|are (?:not )?allowed))""",
    ),
    Sign("only", 1.6, r"(?:^|[,;:] )(?:(?:only|exclusively) [a-z]+|[a-z]+ only[.!]|use only)\b"),
    Sign(
        "to be remembered",
        2.2,
        r"""(?:^|[,;:.] )(?:please )?(?:remember (?:to|this)|make (?:it )?a (?:habit|rule)
        |keep (?:this |it )?in mind to|take note)\b""",
    ),
    Sign(
        "every time",
        1.8,
        r"""\b(?:every ?time|each time|whenever|any ?time|when (?:i|you|we)
        [ ](?:ask|write|add|create|change|commit|make|answer|respond|reply|suggest|generate
        |give|show|describe|discuss))\b""",
    ),
    Sign(
        "everywhere",
        1.2,
        r"""\b(?:everywhere|throughout|across (?:all|the (?:whole|entire))|(?:in|for) all (?:of )?(?:the|our|my)
        |(?:in|for) every|in (?:this|the|our) (?:whole |entire )?
        (?:repo(?:sitory)?|project|code ?base|workspace|organi[sz]ation))\b""",
    ),
    Sign(
        "for consistency",
        1.2,
        r"\b(?:to be consistent|for consistency|stay consistent|common (?:denominator|standard)|as standards?)\b",
    ),
    Sign(
        "limit",
        1.6,
        r"""\b(?:no (?:more|less|fewer|later|earlier) than|at most|not (?:exceed|be more than|go over)|maximum of
        |stay (?:under|within|below)|(?:my|our|the) (?:budget|deadline|limit|cap|maximum) (?:is|of))\b""",
    ),
    Sign(
        "emphasis", 1.0, r"\b(?:MUST|NEVER|ALWAYS|DO NOT|DON'T|NOT|ONLY|ALL|EVERY|IMPORTANT)\b(?=.*[a-z])", cased=True
    ),
    Sign(
        "emphasis",
        1.0,
        r"""(?:^|[,;:] )(?:important|critical|note|rule|reminder|constraint|requirement)(?:ly)?\s*[:!]
        |\b(?:it is|it['’]s) (?:important|critical|crucial|essential) (?:that|to)\b""",
    ),
    Sign(
        "secret",
        1.2,
        r"""\b(?:confidential|(?:is|are) (?:an? )?(?:secret|private)|public repo(?:sitory)?
        |(?:not|never|n['’]t) (?:\w+ )?(?:share|mention|disclose|reveal|leak|publish))\b""",
    ),
    Sign(
        "under a heading of rules",
        1.4,
        r"""\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|principles?|polic(?:y|ies)|invariants?
        |acceptance|role|prohibit\w*|to enforce|do nots?|must(?:s| nots?)?|non-goals?|preferences?)\b""",
        heading=True,
    ),
    Sign(
        "permission",
        2.3,
        r"""\b(?:you (?:have|['’]ve got) (?:my )?(?:permission|approval)
        |(?:i|we) (?:hereby )?(?:approve|authori[sz]e)[ ]
        |approved[:,] |you(?:['’]re| are) (?:authori[sz]ed|cleared) to)\b""",
    ),
    Sign(
        "decides",
        2.1,
        r"""\b(?:(?:we|i)(?:['’]ve| have)? (?:decided|agreed|settled) (?:on|to|that)|decision:|final decision
        |(?:we|i) (?:will|['’]ll) (?:always|never|only)|it(?:['’]s| is) (?:decided|settled|final))\b""",
    ),
)

KINDS: tuple[tuple[PinKind, str], ...] = (
    (PinKind.APPROVAL, r"\b(?:permission|approv(?:e|ed|al)|authori[sz]ed?|cleared to)\b"),
    (
        PinKind.DECISION,
        r"""\b(?:decided|decision|agreed|settled|(?:we|i) (?:don['’]?t|do not|no longer)[ ]
        (?:need|want|support|care|think we)
        |prefer|rather|let['’]s|instead)\b""",
    ),
)
