"""The signs in other languages, in folded text: small letters, without accents of European scripts."""

from __future__ import annotations

from contextmgr.trigger.sign import Sign

LANGUAGES: tuple[Sign, ...] = (
    # German
    Sign(
        "where we stopped (de)",
        "recent",
        r"""\b(?:von|wie) (?:gestern|letzter? \w+|neulich)\b[^.?!]{0,12}\b(?:weiter\w*|fort\w*)\b
        |\bwo (?:wir|ich)\b[^.?!]{0,40}\b(?:aufgehort|stehen ?geblieben|unterbrochen)|\bwo waren wir\b
        |\b(?:woruber|wovon|was) haben wir\b[^.?!]{0,25}\b(?:gesprochen|geredet|gemacht|besprochen)\s*\?
        |\b(?:meine|unsere) (?:letzten|jungsten) (?:\w+ )?(?:chats|gesprache|unterhaltungen)""",
    ),
    Sign(
        "said before (de)",
        "topic",
        r"""\bdu (?:mir|uns) (?:\w+ ){0,2}(?:empfohlen|genannt|gesagt|geraten|vorgeschlagen|geschrieben
        |gegeben|gezeigt|erklart)\b
        |\b(?:hatte|habe?) ich (?:dir|ihnen)\b[^.?!]{0,50}\b(?:erzahlt|gesagt|gegeben|geschickt|erklart)\b
        |\b(?:unser|unserem|unseres) (?:letzte\w*|vorige\w*) (?:gesprach|chat|unterhaltung)
        |\b(?:was|wie|warum|wann|wo|welche\w*|wofur)\b[^.?!]{0,30}\b(?:haben
        |hatten) wir\b[^.?!]{0,60}\b\w*ge\w{2,}(?:t|en)\b
        |\b(?:den|die|das|dem|der) wir (?:neulich|letztens|damals|gestern|letzte\w*|zusammen)\b
        |\bhast du noch\b[^.?!]{0,40}\b(?:wir|mein\w*|unser\w*)\b
        |\b(?:ich habe?|hab ich) (?:dir|ihnen) (?:doch )?(?:schon|bereits)\b
        |\b(?:was|wie|warum|wann|wo|welche\w*|wofur|wogegen) (?:haben
        |hatten) wir\b[^.?!]{0,60}\b(?:entschieden|beschlossen|vereinbart|ausgemacht|besprochen|gewahlt|gelost
        |genommen|festgelegt)
        |\b(?:erinnerst du dich|weisst du noch|weist du noch)\b[^.?!]{0,60}\b(?:ich|wir|mir|mein\w*|unser\w*)\b
        |\bwie (?:besprochen|vereinbart|abgemacht|ausgemacht|gehabt)(?= (?:soll|bitte|werd|mach|schreib)|[,:.]
        | (?:gestern|letzte))
        |\bwie ich (?:\w+ )?(?:schon|bereits|dir)\b[^.?!]{0,25}\b(?:gesagt|erwahnt|erzahlt|erklart)
        |\b(?:du|sie) (?:hattest|hast|hatten|haben) (?:mir|uns)\b[^.?!]{0,50}\b(?:empfohlen|gesagt|geraten
        |vorgeschlagen|erzahlt|geschrieben|gegeben|erklart|gezeigt)
        |\b(?:fruheren|vorigen|letzten|vergangenen|anderen|alten) (?:gesprach\w*|chats?|unterhaltung\w*)
        |\bich (?:habe?|hatte) (?:dir|ihnen)\b[^.?!]{0,40}\b(?:gesagt|erzahlt|gegeben|geschickt|erklart)""",
    ),
    Sign(
        "the usual (de)",
        "topic",
        r"""\b(?:mein|meine|meinen|meinem|meiner) (?:ublich|gewohnt|bevorzugt|ubliche)\w*|\bwie (?:immer
        |ublich)(?=[,.:!])""",
    ),
    # French
    Sign(
        "where we stopped (fr)",
        "recent",
        r"""\bla ou (?:on|nous) en (?:etait|etions)\b
        |\b(?:on|nous|avons-nous) (?:a |avons )?\w+ la derniere fois
        |\bla ou (?:on|nous)\b[^.?!]{0,30}\barrete\w*|\bou en (?:etions-nous|etait-on|sommes-nous)\b
        |\bde quoi (?:avons-nous|on a|a-t-on) (?:parle|discute)|\b(?:mes|nos) (?:dernieres
        |recentes) (?:conversations|discussions)""",
    ),
    Sign(
        "said before (fr)",
        "topic",
        r"""\bje (?:t'|vous )avais (?:\w+ )?(?:dit|parle|donne|envoye|explique)
        |\b(?:qu'on|que nous|qu'est-ce qu'on|quels?|quelles?|pourquoi|comment)\b[^.?!]{0,30}\b(?:on avait
        |nous avions|avions-nous|avait-on|avons-nous)\b
        |\b(?:tu as|vous avez|t'as) (?:encore|toujours) \w+
        |\b(?:on|nous) (?:avait|avions|a|avons) (?:\w+ )?(?:decide|convenu|dit|choisi|parle|conclu|prevu)
        |\b(?:avait-on|avons-nous|avions-nous) (?:\w+ )?(?:decide|convenu|choisi|dit)
        |\b(?:tu te souviens|vous souvenez-vous|te souviens-tu|tu te rappelles)\b[^.?!]{0,60}\b(?:je|j'|nous|on
        |mon|ma|mes|notre)
        |\bcomme (?:convenu|prevu|d'habitude|je (?:te|vous) l'ai dit|je l'ai (?:deja )?dit|on l'a dit)\b
        |\brappelle(?:-moi|z-moi) ce (?:que|qu')|\b(?:tu|vous) m'(?:avais|as|avez|aviez) (?:\w+ )?(?:conseille
        |recommande|dit|propose|donne|suggere|parle)
        |\b(?:nos|notre|une|l') ?(?:ancienne|precedente|derniere|autre)s? (?:conversation|discussion)s?
        |\bje (?:t'|vous )ai (?:deja )?(?:dit|parle|donne|envoye|explique)""",
    ),
    Sign("the usual (fr)", "topic", r"\b(?:mon|ma|mes) \w+ (?:habituel\w*|prefere\w*|de d'habitude)"),
    # Spanish
    Sign(
        "where we stopped (es)",
        "recent",
        r"""\b(?:continuemos|sigamos|seguimos) con lo (?:de (?:ayer|antes|la)|que (?:estabamos
        |hablabamos|hablamos))\b
        |\b(?:hicimos|hablamos|vimos|estabamos) la (?:ultima|otra) vez
        |\bdonde (?:lo )?(?:dejamos|quedamos|estabamos)\b|\ben que (?:nos )?(?:quedamos|estabamos)\b
        |\bde que (?:hablamos|estuvimos hablando|conversamos)|\b(?:mis|nuestras) (?:ultim\w+
        |reciente\w*) (?:conversaciones|chats|charlas)""",
    ),
    Sign(
        "said before (es)",
        "topic",
        r"""\b(?:que|cual|donde|como|por que)\b[^.?!]{0,20}\b(?:elegimos|pusimos|usamos|escribimos|preparamos
        |calculamos|escogimos|vimos)\b
        |\bque te (?:pase|mande|di|dije|conte|envie)\b
        |\b(?:que|cual|por que|cuando|como) (?:decidimos|acordamos|elegimos|dijimos|quedamos)\b
        |\b(?:te acuerdas|recuerdas|se acuerda)\b[^.?!]{0,60}\b(?:te|yo|mi|mis|nos|nuestr\w+|hicimos
        |hablamos|vimos|preparamos|discutimos)\b
        |\bcomo (?:acordamos|quedamos|hablamos|(?:ya )?te (?:dije|comente|conte|mencione)|siempre)\b
        |\b(?:me|nos) (?:recomendaste|dijiste|sugeriste|aconsejaste|diste|propusiste|contaste)\b|\bte (?:dije
        |conte|di|pedi|mencione|explique)\b
        |\b(?:conversaci\w+|charlas?|chats?) (?:anterior\w*|pasad\w+|previ\w+)""",
    ),
    Sign("the usual (es)", "topic", r"\bmis? \w+ (?:de siempre|habitual\w*|preferid\w+)|\blo de siempre\b"),
    # Italian
    Sign(
        "where we stopped (it)",
        "recent",
        r"""\bdove (?:eravamo|siamo|ci siamo|ci eravamo) (?:rimast\w|fermat\w)|\b(?:di )?(?:cosa|che cosa
        |che) abbiamo (?:parlato|discusso)\b
        |\b(?:le (?:mie|nostre) )?ultime (?:conversazioni|chat)\b""",
    ),
    Sign(
        "said before (it)",
        "topic",
        r"""\b(?:ti|vi) (?:avevo|ho) (?:gia )?\w+[ts]o\b[^.?!]{0,40}\b(?:l'altra volta|ieri|prima|settimana)
        |\bl'(?:altra|ultima) volta (?:che )?(?:abbiamo|hai|ti)
        |\b(?:cosa|che cosa|quale|perche|quando|come) (?:abbiamo|avevamo) (?:deciso|scelto|concordato|detto
        |stabilito)
        |\bti ricordi\b[^.?!]{0,60}\b(?:ti|ho|mi[ao]|noi|nostr\w)\b|^come (?:d'accordo|concordato|stabilito
        |al solito|gia detto|(?:ti )?(?:ho|avevo) (?:gia )?detto)
        |\b(?:mi|ci) (?:avevi|hai) (?:\w+ )?(?:consigliato|detto|suggerito|proposto|dato|raccomandato)
        |\bti (?:ho|avevo) (?:gia )?(?:detto|parlato|dato|raccontato|chiesto)
        |\b(?:conversazion\w|chat|discussion\w) (?:precedent\w|passat\w|vecchi\w)|\b(?:precedenti
        |vecchie) (?:conversazioni|chat)""",
    ),
    Sign(
        "the usual (it)",
        "topic",
        r"""\b(?:mio|mia|miei|mie) (?:solit\w|abitual\w|preferit\w)
        |\bil solito\b(?! problema)""",
    ),
    # Portuguese
    Sign(
        "where we stopped (pt)",
        "recent",
        r"""\b(?:de )?onde (?:nos )?(?:paramos|estavamos|ficamos)\b|\bsobre o que (?:nos )?(?:falamos
        |conversamos)|\bo que conversamos\b
        |\b(?:minhas|nossas) ultimas (?:conversas|discussoes)""",
    ),
    Sign(
        "said before (pt)",
        "topic",
        r"""\b(?:que|qual)\b[^.?!]{0,25}\b(?:escolhemos|fizemos|usamos|escrevemos|definimos|preparamos)\b
        |\bque (?:eu )?te (?:passei|mandei|dei|enviei)\b
        |\b(?:o que|qual|por que|quando|como) (?:nos )?(?:decidimos|combinamos|escolhemos|acordamos|discutimos)\b
        |\b(?:se lembra|lembra-se|lembras-te|voce lembra)\b[^.?!]{0,60}\b(?:eu|te|meu|minha|nos|nosso|nossa)\b
        |\bcomo (?:combinamos|combinado|acordamos|eu (?:ja )?(?:te )?disse|sempre)\b
        |\b(?:me|nos) (?:recomendou|disse|sugeriu|indicou|aconselhou|deu|recomendaste|disseste)\b|\b(?:te
        |lhe) (?:disse|contei|dei|pedi|falei)\b
        |\bconversas? (?:anterior\w*|passad\w+|antig\w+)""",
    ),
    Sign(
        "the usual (pt)",
        "topic",
        r"\b(?:meu|minha|meus|minhas) \w+ (?:de sempre|habitua\w+|preferid\w+)|\bo de sempre\b",
    ),
    # Dutch
    Sign(
        "where we stopped (nl)",
        "recent",
        r"""\bwaar (?:we|wij|ik)\b[^.?!]{0,30}\b(?:gebleven|gestopt)\b|\bwaar (?:waren|zijn) (?:we|wij)\b
        |\bwaar (?:hebben|hadden) (?:we|wij) het\b[^.?!]{0,30}\bover\b|\b(?:mijn
        |onze) laatste (?:\w+ )?(?:gesprekken|chats)""",
    ),
    Sign(
        "said before (nl)",
        "topic",
        r"""\b(?:welke|wat|hoe|waarom|waar)\b[^.?!]{0,25}\b(?:hebben|hadden) (?:we
        |wij)\b[^.?!]{0,60}\b\w*ge\w{2,}(?:d|t|en)\b|\book ?alweer\b
        |\b(?:wat|welke|waarom|wanneer|hoe) (?:hebben|hadden) (?:we|wij)\b[^.?!]{0,50}\b(?:besloten
        |afgesproken|gekozen|besproken|opgelost)
        |\b(?:weet je nog|herinner je je)\b[^.?!]{0,60}\b(?:ik|we|mij|mijn|ons|onze)\b
        |\bzoals (?:afgesproken|besproken|gezegd|altijd|ik (?:al|je)\b[^.?!]{0,20}\b(?:zei|vertelde|gezegd))
        |\bje (?:had|hebt) (?:me|mij|ons)\b[^.?!]{0,40}\b(?:aangeraden|verteld|gegeven|aanbevolen|gezegd)
        |\b(?:eerdere|vorige|oude|andere|afgelopen) (?:gesprek\w*|chats?)|\bik (?:je
        |jou) (?:\w+ ){0,4}(?:vertelde|verteld|gaf|gezegd)""",
    ),
    Sign(
        "the usual (nl)",
        "topic",
        r"\bmijn (?:gebruikelijke|vaste|gewone|normale)\b|\bzoals (?:altijd|gewoonlijk)(?=[,.:!])",
    ),
    # Chinese
    Sign(
        "where we stopped (zh)",
        "recent",
        r"接着上次|继续上次|上次(?:聊|说|讨论|做)到|我们(?:聊|谈|讨论|说)(?:了|过)(?:什么|哪些)|最近的(?:对话|聊天)",
    ),
    Sign(
        "said before (zh)",
        "topic",
        r"""上次(?:你|我|我们)
        |(?:还)?记得我|我们(?:[^。？！?]{0,8})(?:决定|商量|约定|选)(?:了|好|过)|(?:之前|以前|上次)(?:我)?(?:告诉|跟你说|说过|提到|讨论)|我(?:告诉过
        |跟你说过)|你(?:之前|上次|以前)(?:[^。？！?]{0,8})(?:推荐|建议|说|写|给)|(?:之前|以前|过去)的(?:对话|聊天)""",
    ),
    Sign("the usual (zh)", "topic", r"我(?:常用|惯用|平时|一直用|习惯)的?|老样子|跟往常一样"),
    # Japanese
    Sign(
        "where we stopped (ja)",
        "recent",
        r"前回の続き|この前の続き|昨日の続き|(?:昨日|先週|この前)(?:は|、)?(?:何|なに)を(?:話|相談)|最近の(?:会話|チャット)",
    ),
    Sign(
        "said before (ja)",
        "topic",
        r"""(?:この前|前回|前に|以前|先日)[^。？！?]{0,8}(?:もらった|くれた|いただいた|頼んだ)
        |(?:私たち|わたしたち|僕たち)(?:は|で)?[^。？！?]{0,8}(?:決め|話し合)|(?:前に|以前|この前|先日|前回)[^。？！?]{0,12}(?:話し|言っ|伝え|教え|相談
        |おすすめ|お勧め|勧め|決め|作っ|書い)|(?:過去|以前|前回)の(?:会話|チャット|やりとり)""",
    ),
    Sign("the usual (ja)", "topic", r"いつもの|いつも通り|いつもどおり"),
    # Russian: without the marks that folding takes away
    Sign(
        "where we stopped (ru)",
        "recent",
        r"""с того места|на чем (?:мы )?остановились|где мы остановились|о чем мы (?:\w+ )?(?:говорили
        |разговаривали|беседовали)
        |(?:мои|наши) последние (?:\w+ )?(?:чаты|разговоры|беседы)""",
    ),
    Sign(
        "said before (ru)",
        "topic",
        r"""\b(?:какое|какую|какие|какои|что|как|когда|почему|где) (?:\w+ )?мы (?:\w+ )?\w+ли\b
        |\b(?:что|какои|какую|почему|когда|как) мы (?:\w+ )?(?:решили|выбрали|договорились|обсуждали|исправили)
        |\b(?:помнишь|помните)\b[^.?!]{0,50}\b(?:я|мы|мне|мои\w*|моя|мою|мое)\b|\bкак (?:мы )?(?:договорились
        |договаривались|обсуждали|я (?:уже )?(?:говорил|сказал|упоминал)\w*)
        |\b(?:ты|вы) (?:мне )?(?:\w+ )?(?:советовал|рекомендовал|говорил|предлагал|писал|посоветовал)\w*
        |\b(?:прошлых|предыдущих|старых|прежних|прошлом|предыдущем) (?:разговор|чат|бесед|диалог)\w*
        |\bя (?:тебе|вам) (?:уже )?(?:говорил|рассказывал|давал)""",
    ),
    Sign(
        "the usual (ru)",
        "topic",
        r"\b(?:мои|моего|моему|моя|мою|моеи|мое) (?:обычн|привычн|любим)\w+|\bкак (?:обычно|всегда)(?=[,.:!])",
    ),
)
