"""Words that carry no match: function words of several languages, and what people say around a question.

Three kinds, because one list would lose meaning: words of `ALWAYS` are never indexed; a word of `IN_LANGUAGE` means
something in another language (the German "die", the Spanish "son") and is dropped from a query only where other
words
show the language; words of `REQUESTS` ("remind me what we discussed") are searched with little weight.
"""

from __future__ import annotations

from collections.abc import Mapping

from contextmgr.ranking.folding import fold


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(text).split())


_ENGLISH = _words("""
a about above after again against all am an and any anyone anything are as at be because been before being below
between both but by can could did do does doing down during each either else etc ever every everyone everything few
for
from further get gets getting got had has have having he her here hers herself him himself his how i if in into is
it
its itself just let lets lot lots many may maybe me might more most much must my myself neither no none nor not of
off
on once one only onto or other others ought our ours ourselves out over own perhaps quite rather really same shall
she
should since so some someone something such than that the their theirs them themselves then there these they this
those
though through thus to too toward under until up upon us very via was we well were what whatever when where whether
which while who whoever whom whose why will with within without would yes yet you your yours yourself yourselves
am aren arent can't cannot cant couldn couldnt didn didnt doesn doesnt don dont hadn hadnt hasn hasnt haven havent
isn
isnt ive im id ill shouldn shouldnt wasn wasnt weren werent won wont wouldn wouldnt youre youve theyre thats whats
hes
shes theres ok okay oh hey hi hello please thanks thank yeah yep yup nope sure hmm uh um wow gonna wanna
""")
_OTHERS: Mapping[str, frozenset[str]] = {
    "es": _words("""
        no sin sobre entre son era tan os de la el los las un una unos unas que qué y o u en por para con del al se
        lo le les su sus es como cómo más
        pero este esta esto estos estas eso esa ese esos esas mi mis tu tus nos yo ella ellos ellas nosotros
        vosotros
        usted ustedes fue ser está están estaba hay había porque cuando cuándo donde dónde cuál cual quién quien muy
        también ya hasta desde ni sí haz puede puedes hacer ha han he hemos fueron tiene tienen
    """),
    "fr": _words("""
        pour dans sur sous par son sa les le la un une des du de et ou où que qui quoi dont en au aux par avec ne
        pas ce cet cette ces mon ma mes ton
        ta tes sa ses nos vos leur leurs je tu il elle ils elles nous vous est sont était être ai avons avez ont
        plus
        mais donc car comme très aussi quand comment pourquoi quel quelle quels quelles cela ça oui c'est qu'il d'un
        d'une n'est s'il l'on j'ai
    """),
    "de": _words("""
        der die das den dem des war man hat sei im an in also ein eine einen einem einer eines und oder aber ist
        sind sein bin nicht kein keine mit von
        vom zu zum zur im auf für bei aus nach über unter vor ich du er sie es wir ihr mich mir dich dir ihn ihm uns
        euch mein meine dein deine seine ihre unser dass daß wenn weil wie wer wo wann warum wurde wurden werden
        wird
        haben habe hatte hatten kann können könnte noch schon nur sehr dann dort hier ja nein doch diese dieser
        dieses
        welche welcher welches
    """),
    "pt": _words("""
        o os um uma uns umas do da dos das no na nos nas ao aos à às pelo pela para com sem por que quê e ou mas se
        não
        sim eu tu ele ela eles elas nós vós você vocês meu minha seu sua isso isto aquilo este esta esse essa foi
        ser
        está estão tem têm como quando onde quem qual porque muito também já mais
    """),
    "it": _words("""
        di da in e sono era il lo gli i le un uno una di del dello della dei degli delle al allo alla ai agli alle
        dal dalla nel nella sul
        sulla con per tra fra e o ma che chi cui non è sono sei siamo io tu lui lei noi voi loro mi ti ci vi si mio
        mia
        tuo suo questo questa questi queste quello quella perché quando dove come quale anche più molto ha hanno
    """),
    "nl": _words("""
        het een en of maar van voor met op aan te uit bij naar over onder dat dit deze die wie wat waar wanneer
        waarom
        hoe ik jij hij zij wij jullie mijn jouw zijn haar ons onze niet geen wel ook nog als dan er heeft hebben
    """),
    "ru": _words("""
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от
        меня еще ещё нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас это эта этот эти для
        мы
        их чем была сам чтоб без где кто почему
    """),
}
_MEANS_SOMETHING = _words("""
    a ai also an as bat bin car chose coin come cui da dal dans den des die dir do dove du e en er era es est fine
    fra fur gate ha had hat he i id im in it ma made mail main man me men mes mi mit na nel net ni no nos note o of
    om on op os over pan par pas per pour sa sei ses si sin so son sous sul sur ta tan te tes ti ton tous u uber un
    uno van via vos war was wel wie y
""")
"""Short foreign function words that are words, names or units elsewhere."""

ALWAYS = _ENGLISH | frozenset(
    word for words in _OTHERS.values() for word in words if word not in _MEANS_SOMETHING or word in _ENGLISH
)
"""Folded words that are never indexed unless they stand as identifiers."""

IN_LANGUAGE: Mapping[str, frozenset[str]] = {name: words - ALWAYS for name, words in _OTHERS.items()}
"""By language, function words that are dropped from a query in that language only."""

TELLING: Mapping[str, frozenset[str]] = {name: words - _ENGLISH - _MEANS_SOMETHING for name, words in _OTHERS.items()}
"""By language, the function words that show it."""

REQUESTS = _words("""
    ask asked asking answer chat conversation conversations discuss discussed discussing discussion earlier explain
    give given help know list looking mention mentioned mentioning previous previously question provide recall
    recommend
    remember remind reminded said say saying share shared show suggest suggested suggestion summarize summary
    comprehensive detail details tell telling talk talked talking thing things throughout told want wanted wondering
    across back brought bring different aspects order specifically exactly kind type various
""")
"""What surrounds a question to a memory; it may also be what the question is about, so it keeps a little weight."""
