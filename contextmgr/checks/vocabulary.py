"""The words the checks know: function words, negations and opposites in English, German, French, Spanish and others.

Small on purpose: a word that is missing makes a check a little stricter or a little kinder, never wrong for good.
"""

from __future__ import annotations


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _listed(
    """
    a about all also although am an and any are as at be been being both by can could did do does doing done
    each either else etc for from get gets getting got had has have having he her here hers him his how i if in
    into is it its itself just let lets like ll may me might must my need needs of on once one or our ours out
    own please re s shall she should so some such t than thanks that the their theirs them then there these they
    this those through to too u until up upon us use used using ve very via was we were what when where which
    while who whom whose why will with would you your yours yourself assistant user users agent claude now still
    even well really actually going go goes make makes made yes yeah yep ok okay sure right want wants wanted
    currently already

    aber als am auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des die dies diese dieser
    dieses doch du durch ein eine einem einen einer eines er es etwas für hat hatte haben habe ich ihm ihn ihr
    im ist ja jede jeden jeder jedes kann können man mein meine mich mir mit muss müssen nun nur ob oder schon
    sehr sein seine sich sie sind soll sollen sollte über um und uns unser von vom war waren weil wenn werden
    wie wir wird wo wurde würde zu zum zur nutzer benutzer assistent

    ne à au aux avec ce ces cette dans de du elle elles en est et être il ils je la le les leur lui ma mais mes
    moi mon nous ont ou où par pour qu que qui quoi sa se ses si sont sur ta te tes toi ton tous tout toute
    toutes tu un une vos votre vous y été doit doivent faut peut oui utilisateur

    al algo como con cual cuando del desde el ella ellas ellos era es esa ese eso esta está estas este esto
    estos fue ha hay las lo los mi mis muy o para pero porque ser sí sobre son su sus también tiene todo todos
    toda todas uno unos ya debe deben puede usuario asistente

    um uma os com por mais e gli che di
    """
)
"""Words that carry no content; those that deny are not among them."""

NEGATIONS = _listed(
    """
    not no never none nor neither nobody nothing nowhere without cannot non dont doesnt didnt isnt wasnt arent shouldnt
    cant wont couldnt wouldnt havent hasnt mustnt
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder nichts niemand
    pas jamais aucun aucune sans rien ni
    nunca jamás sin ningún ninguna ninguno nada nadie tampoco
    não nem sem
    не нет никогда без нельзя
    """
)
"""Words that deny by themselves."""

DENYING = _listed(
    """
    forbid forbids forbidding forbidden forbade prohibit prohibited prohibits disallow disallowed avoid avoided avoiding
    refuse refused refuses reject rejected rejects decline declined declines veto vetoed unable impossible ineligible
    verboten verbot verbietet untersagt vermeide vermeiden vermeidet unmöglich
    interdit interdite interdire évite évitez éviter
    prohibido prohibida prohíbe evitar evita evite imposible
    """
)
"""Words that deny by what they mean."""

CONJUNCTIONS = _listed("but however although aber sondern mais pero sino")
"""Words at which a clause ends: a negation does not reach past them."""

OPPOSITES = tuple(
    (one, other)
    for one, _, other in (
        pair.partition("/")
        for pair in sorted(
            _listed(
                """
                always/sometimes enable/disable enabled/disabled include/exclude add/remove added/deleted create/delete
                keep/remove keep/delete keep/drop increase/decrease increase/reduce accept/reject pass/fail
                success/failure succeed/fail successful/failed before/after more/less more/fewer minimum/maximum min/max
                first/last open/close open/closed start/stop true/false above/below required/optional valid/invalid
                possible/impossible safe/unsafe supported/unsupported compatible/incompatible correct/incorrect
                correct/wrong public/private upgrade/downgrade old/new older/newer larger/smaller higher/lower
                faster/slower earlier/later allow/block allowed/blocked local/remote same/different
                aktivieren/deaktivieren erlaubt/verboten vor/nach mehr/weniger avant/après plus/moins activer/désactiver
                antes/después más/menos activar/desactivar
                """
            )
        )
    )
)
"""Pairs of words of which one cannot stand for the other."""

WEIGHTY = tuple(
    map(
        _listed,
        (
            "delete remove drop wipe erase destroy purge clear discard löschen lösche supprimer borrar eliminar",
            "push publish release deploy ship upload veröffentlichen pousser publier subir",
            "merge rebase squash mergen fusionner fusionar",
            "send email mail forward post share senden schicken envoyer partager enviar compartir",
            "pay refund charge buy purchase order book bezahlen erstatten kaufen buchen payer acheter pagar comprar",
            "cancel terminate stornieren kündigen annuler cancelar",
            "transfer überweisen transférer transferir",
            "force overwrite reset revert restore rollback überschreiben écraser sobrescribir",
            "revoke grant rotate widerrufen accorder revocar otorgar",
            "most maximum max limit cap exceed more höchstens maximal máximo",
            "least minimum min fewer less mindestens minimal mínimo",
            "only exclusively solely nur ausschließlich seulement uniquement solo sólo solamente",
            "skip bypass ignore disable deactivate überspringen ignorer omitir ignorar",
        ),
    )
)
"""Acts that are hard to take back, and limits, in groups that mean about the same: what is told of the user with one of
a group, the user has to have said with one of it."""
