"""The words the checks know: function words, negations and opposites in English, German, French, Spanish and others.

Small on purpose: a word that is missing makes a check a little stricter or a little kinder, never wrong for good.
"""

from __future__ import annotations

STOP = frozenset(
    """
a about all also although am an and any are as at be been being both by can could did do does doing done each
either else etc for from get gets getting got had has have having he her here hers him his how i if in into is it its
itself just let lets like ll may me might must my need needs of on once one or our ours out own please re s shall she
should so some such t than thanks that the their theirs them then there these they this those through to too u until
upon us use ve very via was we were what when where which while who whom whose why will with would you your yours
yourself assistant user users agent claude now still even well really actually going go goes always make makes made
yes yeah yep ok okay sure right want wants wanted currently already want's ensure

aber als am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des die dies diese dieser
dieses doch du durch ein eine einem einen einer eines er es etwas für hat hatte haben habe ich ihm ihn ihr im in ist
ja jede jeden jeder jedes kann können man mein meine mich mir mit muss müssen nun nur ob oder schon sehr sein
seine sich sie sind so soll sollen sollte über um und uns unser von vom war waren was weil wenn werden wie will wir
wird wo wurde würde zu zum zur nutzer benutzer assistent

à au aux avec ce ces cette dans de des du elle elles en est et être il ils je la le les leur lui ma mais me mes moi
mon nous on ont ou où par pour qu que qui quoi sa se ses si sont sur ta te tes toi ton tous tout toute toutes tu un
une vos votre vous y été doit doivent faut peut oui utilisateur

al algo como con cual cuando de del desde el ella ellas ellos en era es esa ese eso esta está estas este esto estos
fue ha hay la las le les lo los me mi mis muy o para pero por porque que se ser si sí sobre son su sus también te
tiene todo todos todas tu un una uno unos y ya debe deben puede usuario asistente

não um uma os as com por mais e il lo gli che di un una
""".split()
)

NEGATIONS = frozenset(
    """
not no never none nor neither nobody nothing nowhere without cannot dont doesnt didnt isnt wasnt arent shouldnt cant
wont couldnt wouldnt havent hasnt mustnt
nicht kein keine keinen keinem keiner keines nie niemals ohne weder nichts niemand
ne pas jamais aucun aucune sans rien ni
nunca jamás sin ningún ninguna ninguno nada nadie tampoco
não nem sem
не нет никогда без нельзя
""".split()
)
"""Words that deny by themselves."""

DENYING = frozenset(
    """
forbid forbids forbidding forbidden forbade prohibit prohibited prohibits disallow disallowed avoid avoided avoiding
refuse refused refuses reject rejected rejects decline declined declines veto vetoed
verboten verbot verbietet untersagt vermeide vermeiden vermeidet
interdit interdite interdire évite évitez éviter prohibido prohibida prohíbe evitar evita evite
""".split()
)
"""Words that deny by what they mean."""

CONJUNCTIONS = frozenset("but however although aber sondern mais pero sino".split())
"""Words at which a clause ends: a negation does not reach past them."""

OPPOSITES: tuple[tuple[str, str], ...] = (
    ("always", "sometimes"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("include", "exclude"),
    ("add", "remove"),
    ("added", "deleted"),
    ("create", "delete"),
    ("keep", "remove"),
    ("keep", "delete"),
    ("keep", "drop"),
    ("increase", "decrease"),
    ("increase", "reduce"),
    ("accept", "reject"),
    ("pass", "fail"),
    ("passing", "failing"),
    ("success", "failure"),
    ("succeed", "fail"),
    ("successful", "failed"),
    ("before", "after"),
    ("more", "less"),
    ("more", "fewer"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("first", "last"),
    ("open", "close"),
    ("open", "closed"),
    ("start", "stop"),
    ("true", "false"),
    ("above", "below"),
    ("required", "optional"),
    ("valid", "invalid"),
    ("possible", "impossible"),
    ("safe", "unsafe"),
    ("supported", "unsupported"),
    ("compatible", "incompatible"),
    ("correct", "incorrect"),
    ("correct", "wrong"),
    ("public", "private"),
    ("upgrade", "downgrade"),
    ("old", "new"),
    ("older", "newer"),
    ("larger", "smaller"),
    ("higher", "lower"),
    ("faster", "slower"),
    ("earlier", "later"),
    ("allow", "block"),
    ("allowed", "blocked"),
    ("local", "remote"),
    ("same", "different"),
    ("aktivieren", "deaktivieren"),
    ("erlaubt", "verboten"),
    ("vor", "nach"),
    ("mehr", "weniger"),
    ("avant", "après"),
    ("plus", "moins"),
    ("activer", "désactiver"),
    ("antes", "después"),
    ("más", "menos"),
    ("activar", "desactivar"),
)
"""Pairs of words of which one cannot stand for the other."""
