package scoring

// hanFunction are Chinese characters that carry grammar: particles, pronouns, question words.
const hanFunction = "的了吗嗎呢吧啊呀哦嘛我你您他她它们們这這那哪什么麼谁誰"

// Function words, accents folded. They never carry what a memory is about; the lists are kept short on purpose, since a
// word wrongly dropped can never be found.
var (
	englishStop = set(`a an the and or but if then else of at by for with about to from in out on off over under again
		further is are was were be been being have has had having do does did doing i me my we our you your he him his she
		her it its they them their what which who whom this that these those am as until while because so than too very can
		will just don should now not no nor only own same such both each few more most other some any all how when where why
		there here into through during before after above below up down between s t d ll m re ve`)

	// ambiguousStop are function words of one language that are words or names in English or in several others: they
	// are dropped with their language but do not vote.
	ambiguousStop = set(`die war hat man also den des mit bin tan son sur pour sous dans elle lui plus est ni si se le
		la los las el de da di do e o y te tu un al con van een dan wat was men has hij ter ten toe far sin per una come
		chi dove var han hon far for man vi du den sig dig fra os med sad par mas som ja nein ser este nos no com sem`)

	germanStop = set(`der die das den dem des ein eine einen einem einer eines und oder aber ich du er sie es wir ihr mich
		dich mir dir uns euch mein meine meinen meinem meiner dein deine deinen sein seine ihre ihren ist sind war waren bin
		bist hat habe haben hatte hatten wird werden wurde nicht kein keine keinen mit von vom zu zum zur im auf aus bei
		nach fur uber unter durch gegen ohne um wie wer wann wo warum welche welcher welches dass weil wenn als auch noch
		nur schon sich man`)
	frenchStop = set(`le la les un une des du de et ou mais je tu il elle on nous vous ils elles me te se moi toi lui leur
		mon ma mes ton ta tes son sa ses notre votre nos vos ce cet cette ces que qui quoi dont est sont suis es etait etaient
		ai as avons avez ont avait ne pas plus dans sur sous avec sans pour par en au aux quel quelle quels quelles
		comment quand pourquoi c j l n qu si y`)
	spanishStop = set(`el la los las un una unos unas de del al y o pero yo tu usted ella nosotros ellos ellas mi mis su
		sus nuestro nuestra que quien cual cuales como cuando donde cuanto es son soy eres era eran fue ser esta estan estoy
		estaba ha he han hay habia no se me te le les lo nos en con sin por para sobre entre muy mas este esta estos estas
		ese esa eso porque si`)
	italianStop = set(`il lo la i gli le un uno una di del dello della dei degli delle da dal dalla a al alla ai alle in
		nel nella nei con su sul sulla per tra fra e o ma io tu lui lei noi voi loro mi ti si ci vi mio mia miei tuo tua suo
		sua che chi cosa come quando dove perche quale quali e sono sei siamo era erano ho hai ha abbiamo hanno non piu
		questo questa questi queste`)
	portugueseStop = set(`o a os as um uma uns umas de do da dos das ao aos em no na nos nas por pelo pela para com sem e ou
		mas eu tu ele ela voce voces eles elas meu minha meus minhas seu sua seus suas que quem qual quais como quando onde
		porque e sao sou era eram foi ser esta estao estou tem tenho nao se me te lhe muito mais este esta isso isto`)
	dutchStop = set(`de het een en of maar ik jij je hij zij ze wij we jullie mijn jouw zijn haar ons onze hun is was waren
		ben bent heb hebt heeft hebben had niet geen met van voor op aan uit bij naar over onder door tegen zonder om te wat
		wie wanneer waar waarom hoe welke dat die dit deze als ook nog al er`)
	swedishStop = set(`en ett den det de och eller men jag du han hon vi ni dom mig dig honom henne oss er min mitt mina din
		ditt dina sin sitt sina ar var varit har hade inte ingen med av till fran pa i om under over mellan utan vad vem nar
		hur varfor vilken vilket vilka att som ocksa`)
	danishStop = set(`en et den det de og eller men jeg du han hun vi i mig dig ham hende os jer min mit mine din dit dine
		sin sit sine er var har havde ikke ingen med af til fra pa om under over mellem uden hvad hvem hvornar hvor hvordan
		hvorfor hvilken hvilket at som ogsa`)
	norwegianStop = set(`en ei et den det de og eller men jeg du han hun vi dere meg deg ham henne oss min mitt mine din ditt
		dine sin sitt sine er var har hadde ikke ingen med av til fra pa om under over mellom uten hva hvem nar hvor hvordan
		hvorfor hvilken hvilket at som ogsa`)

	russianStop = set(`и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от
		меня о из ему когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом себя ей они тут где
		есть надо ней для мы тебя их чем была сам чтоб без будто чего тоже себе под будет тогда кто этот того потому этого
		какой ним здесь этом мой тем чтобы нее были куда при об это эта эти моя мои`)
	arabicStop = set(`في من على إلى عن مع هذا هذه ذلك تلك التي الذي هو هي أنا أنت نحن هم كان كانت يكون ما لا لم لن إن أن أو ثم
		قد كل بعد قبل بين עם של את על זה הוא היא אני אתה אנחנו הם לא כן או גם אם כי מה מי איפה מתי`)
	// hanContent are the bigrams with a function character that still say something.
	hanContent = set(`目的 的地 的士 的确 了解 吉他 其他 其它 自我 自他 那边 他人 他乡 维他 他命 什锦 喀什 布什 了结 了断 酒吧 网吧 吧台 贴吧 吗啡
		嗎啡 喇嘛 哪吒 刹那 我慢 怪我 我家`)
	// thaiStop cuts out Thai pronouns and question words, which stand without spaces among the others. They are few
	// because a word that holds one loses it, in the text as in the question: "ของขวัญ" is found by what is left.
	thaiStop = blanked(`ดิฉัน ฉัน ของ อะไร ใคร ไหน เมื่อไหร่ เมื่อไร เท่าไหร่ เท่าไร อย่างไร ยังไง ทำไม และ หรือ`)
	kanaStop = set(`ます まし した です でし する して ある いる ない から まで ので こと もの これ それ あれ この その あの には では
		とは のは へは って だっ ため よう さん`)
)
