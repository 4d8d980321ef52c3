"""The signs against: questions, requests of the moment, tales, conjectures, descriptions of how things are."""

from __future__ import annotations

from contextmgr.suggestions.sign import Sign

_LEAD = r"^(?:(?:and|but|so|ok|okay|hm+|also|now|then|wait|yeah|yes|no|question|q|ah|oh|hey|well)\b[:,]? *)*"

DOUBTS: tuple[Sign, ...] = (
    Sign("a question", -2.5, r"[?？][\"')\]]*$|\b(?:right|or not|correct|no)\?"),
    Sign(
        "asks",
        -2.0,
        _LEAD
        + r"""(?:can|could|would|will|should (?!be\b|not\b|have\b|always\b|never\b)|shall|do (?!not\b)|does|did|is|are
        |was|were|am|isn't|aren't|don't (?:we|you|i|they)|doesn't|didn't|have (?!to\b)|has|had|what|why|how|where
        |when (?:do|does|did|is|are|will)|which|who|whose|any (?:idea|chance|reason|way)|wouldn't|couldn't|shouldn't
        |warum|wie|pourquoi|comment|por qué|cómo)\b""",
    ),
    # Asked, but only out of politeness: takes back what the two above took off.
    Sign("polite", 4.5, r"\b(?:can|could|would|will) you (?:please )?(?:always|never|remember to)\b"),
    Sign(
        "hedged",
        -1.0,
        r"""\b(?:maybe|perhaps|i guess|i suppose|might|not sure|wondering|i wonder|i assume|i'm assuming|or is it
        |what if|in theory|could be|seems?|looks like|probably|if possible|apparently)\b""",
    ),
    Sign(
        "told, not asked for",
        -1.3,
        r"""\b(?:was|were|did|had|got|saw|noticed|happened|found|didn['’]t|wasn['’]t|couldn['’]t|tried|used to
        |i(?:['’]ve)? (?:just|already)|(?:it|they) (?:always|never|still)|keeps? \w+ing)\b""",
    ),
    Sign(
        "for the moment",
        -1.2,
        r"""\b(?:for now|right now|this time|at the moment|today|yet|for the moment|first|next|again|once more
        |temporarily|the last|let['’]s see)\b""",
    ),
    Sign(
        "one job",
        -1.2,
        r"""^(?:(?:ok|okay|yes|yeah|alright|no|now|and|also|then|please|so|just|great|cool|lets?|let['’]s)[,.! ]+)*
        (?:lets?|let['’]s|commit|push|run|check|look|fix|review|rebase|merge|open|delete|remove|undo|revert|show|explain
        |investigate|try|spawn|find|debug|summari[sz]e|tell|give|list|compare|start|continue|implement|create|solve
        |make these?|edit)\b""",
    ),
    Sign(
        "points at one thing",
        -0.6,
        r"""\b(?:this (?:line|file|function|test|commit|branch|bug|error|comment|issue|pr|one|change|button|script)
        |lines? \d+|PR \d+|https?://)|#\d+""",
    ),
    Sign(
        "a conjecture", -0.8, r"\b(?:if (?:we|i|you|it|the) \w+|would (?:be|have|need|make)|couldn['’]t we|suppose)\b"
    ),
    Sign(
        "describes code",
        -1.0,
        r"(?:\b\w*[a-z][A-Z]\w*\b[^.?!]*){3}|(?:\b\w+_\w+\b[^.?!]*){3}|(?:\w+\([^)]*\)[^.?!]*){2}",
        cased=True,
    ),
    Sign(
        "says how things are",
        -1.5,
        r"""\b(?:(?:is|are|was|be|been|gets?) (?:always|never)
        |(?:it|this|that|there|which|who|he|she|they|we|that one) (?:\w+ )?(?:always|never|must|(?:should|must) never)
        [ ](?:be |have )?(?:happen|seem|show|list|work|us(?:e|ing)|been|be)\w*
        |always (?:seems?|have|has)|never (?:called|used|seen|been|works?|happens?|worked|saw|mind|heard)
        |must need|causes? \S+ to|(?:will|can|does) [^.?!]{2,60} but never)\b""",
    ),
    Sign("long-winded", -0.7, r"^[\s\S]{420,}"),
    Sign("too short", -1.2, r"^\W*(?:\S+\s*){1,2}$"),
)

# A sentence that only insists on the one before it: it belongs to that one's quote.
REINFORCES = r"""[ \t]+(?:(?:this|that|it)(?:['’]s| is) (?:non[- ]?negotiable|an? (?:hard|strict|absolute) \w+|mandatory
    |not optional|final|critical|very important|important)|no exceptions?|without exception|period|full stop
    |das ist nicht verhandelbar|c['’]est non négociable|(?:esto )?no es negociable)[.!]+"""
