package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"evoke/store"
)

// english are the English rules. An apostrophe may be straight or curly.
var english = &language{
	user: "The user", hint: anyWord("i", "my", "me", "always", "never", "please", "don", "do", "now", "going", "future", "whenever", "wrong", "mistake", "typo", "misspoke", "was", "actually", "here", "today"), corrected: "{who} corrected: {v}", words: true, most: 25,
	question: has(`\?\s*["”']?\s*$|^(?:(?:and|but|so|well|ok|okay|hey|hi),? )?(?:do|does|did|is|are|am|was|were|can|could|would|should|shall|will|have|has|what|what['’]s|whats|who|whose|where|when|why|how|which)\b`),
	doubt: has(`\b(?:if|unless|would|wouldn['’]t|might|maybe|perhaps|probably|possibly|suppose|supposing|imagine|pretend|hypothetical(?:ly)?|let['’]s say|wish|wished|what if|role-?play(?:ing)?|in character|assume|assuming|were i)\b` +
		`|\bi['’]d\b|\b(?:i guess|not sure|unsure|i['’]m joking|just kidding|jk|sarcas\w*)\b` +
		`|\b(?:said|says|saying|tells|told|asked|asks|wrote|writes|written|claims?|claimed|replied|shouted|yelled|thinks|believes|according to|quotes?|quoted|quoting|lyrics?|sings|sang|the song|character|protagonist|narrator|novel|fictional|screenplay|translate|translation|sentence|phrase|grammar|for example|e\.g\.|rewrite|rephrase|proofread|paraphrase|essay|poem|dream(?:ed|t) that)\b`),
	noDoubt: enNoDoubt, asking: enAskingTail, tag: enTag, reason: enReason, reasonEnd: enReasonEnd,
	takesBack: regexp.MustCompile(`(?i)^(?:(?:no|nope|wait|sorry|oops|hmm|oh|ah|well|hold on)[\s,.!—-]+)*(?:no[\s,.—-]+(?:wait[\s,.—-]+)?actually|actually[\s,.—-]+no|sorry[\s,.—-]+actually|wait[\s,.—-]+actually|correction|i misspoke|my mistake|i (?:made|had) a (?:mistake|typo)|that['’]?s (?:wrong|not right|incorrect|not correct)|i was wrong|let me correct (?:that|myself))[\s,.:!—-]*`),
	boundary: has(`[,;:()—]\s*(?:and |but |so |or |because |though |while |then |which )*((?:i|i['’]m|i['’]ve|i['’]ll|my|we|we['’]re|our|he|she|they|it|it['’]s|you|your|his|her|their|there|this|that|these|those|please|call|always|never|the|people|everyone)\b)` +
		`|[,;:()—]\s*(?:and |so )?(?:but|because|since|so|though|although|while|which|who|where|however|thanks|thank you|nice|pleased|hello|hi|hey|not)\b` +
		`|\s(?:and|but|because|since|so|although|though|while|however|then|which|whereas|plus)\s+((?:i|i['’]m|i['’]ve|my|we|he|she|they|it|it['’]s|you|please|people|everyone)\b)` +
		`|[;:()—]\s*|\s-+\s`),
	lead:  has(`^(?:(?:well|so|oh|ah|um|hi|hello|hey|hi there|hey there|good (?:morning|evening|afternoon)|actually|no|yes|yeah|yep|ok|okay|sure|thanks|thank you|btw|by the way|also|and|but|because|honestly|to be honest|frankly|you know|fyi|for your information|just so you know|for the record|in fact|personally|in general|generally|speaking of which|speaking of [^,]{2,40}|as (?:an?|the) [^,]{2,40}|since (?:the|last|this) [^,\s]+(?:,| of [^,]{2,12},)?|since|as such|that (?:being )?said|having said that|as it happens|good news|bad news|big news|even though|although|though|given that|not yet|great|wow|as for me|these days|nowadays|currently|right now|at the moment|please (?:note|remember|keep in mind)(?: that)?|remember(?: that)?|note(?: that)?|keep in mind(?: that)?|i think|i should mention(?: that)?|i (?:just )?(?:want|wanted) to (?:mention|let you know|add)(?: that)?|one more thing|first(?: of all)?|second|finally)[\s,.:!—-]+)+`),
	tail:  has(`[\s,]+(?:too|as well|though|lol|haha|for now|for the moment|for the time being|now|right now|at the moment|at present|currently|these days|nowadays|by the way|btw|please|very much|so much|a lot|the most|most of all|more than anything|thanks|thank you|you know|ok|okay|of course|honestly|actually|either|anymore|any more|at all|again)$`),
	third: englishThird,
	vague: has(`^(?:it|that|this|well|no harm|what|every|to (?:ask|write|reply|tell|send|call)|you|him|her|them)\b`),
	meant: []meantRule{
		{re: is(`(?:no[\s,]+|sorry[\s,]+|oops[\s,]+|wait[\s,]+)*i (?:actually )?meant(?: to say)? (?P<new>[^,]{2,80}?)(?:,? (?:and )?not (?P<old>[^,]{2,80}))?`)},
		{re: is(`(?:no[\s,]+|sorry[\s,]+|oops[\s,]+|wait[\s,]+)*not (?P<old>[^,]{2,60}), (?:but |it['’]s )?(?:i meant )(?P<new>[^,]{2,60})`)},
		{re: is(`(?:it|that)(?:['’]s| is| was) (?:actually )?(?P<new>[^,]{2,80}?)(?:, not (?P<old>[^,]{2,80}))?`), after: true},
	},
	starts:    has(`^(?:i|my|call|calls|please|you|just|people|everyone|friends|as someone|someone|being someone)\b|\b(?:makes? me|for me|me (?:best|better|well)|my (?:thing|cup of tea|style|jam|taste))\b`),
	greetings: englishGreetings,
	facts:     englishFacts,
	sentences: englishInstructions,
	orderly:   ordersEnglish, orders: englishOrders, requests: englishRequests, task: enTask, taskLead: enTaskLead, project: enProject,
}

const (
	enAm  = `i(?:['’]m| am)`
	enKin = `wife|husband|spouse|partner|fiancée?|girlfriend|boyfriend|son|daughter|baby|mother|mom|mum|father|dad|brother|sister|dog|cat|puppy|kitten|pet|horse|rabbit|parrot|boss|manager|doctor|best friend|roommate|flatmate`
)

var (
	notPronoun = refuse(`(?:to|a few|some|many|it all)$|(?:the (?:[\p{L}\d' -]{0,40} ?(?:idea|concept|suggestion|approach|option|plan|theme|sound)s?$|suggestions?|ideas?|first|second|third|last|options?|sound|look|approach|tips?|plan|part|one|recommendations?|point)\b|it|that|this|them|these|those|you|him|her|us|what|how|when|where|why|your|the way|the idea|the fact|to (?:know|ask|see|hear|say|think|point|add|thank)|one|ones|both|all of|everything|something|nothing|anything|being able)\b`)
	notPlace   = refuse(`(?:a|an|my|his|her|their|this|that|your|our|here|there|fear|hope|peace|poverty|pain|denial|dread|luxury|isolation|silence|harmony|constant|total|the (?:past|present|moment|future|dark|middle|same|shadow|real|now|hope|fear)|not)\b`)
	notFirm    = refuse(`(?:a|an|my|his|her|their|home|night|nights|the moment|present|least|myself|free|fun|it|this|that|him|them|you|money|weekends|hours|days|years|months|not|\d)\b`)
	notAim     = refuse(`(?:to|a few|some|on|for|a|the)$|.*\b(?:it|them|this|that|those|these|you|your)\b|(?:know|ask|hear|see|say|thank|talk|speak|understand|make sure|check|discuss|tell|share|add|point|clarify|go back|continue|start by|apologi[sz]e|be (?:clear|sure|honest)|get your|give you|show|confirm|mention|emphasi[sz]e|figure|use (?:this|that|it|you)|be able|order|do (?:it|this|that)|try (?:it|this|that)|sleep|cry|die|scream|not)\b`)
	notAct     = refuse(`(?:give up|say never|lose hope|stop (?:believing|dreaming|learning)|underestimate|remember|here|up for|good|nice|great|happy|glad|down|love|fun|open|ready|worth|mind|again|been|seen|had|heard|have|has|was|were|is|are|am|did|does|the|a|an|better|too|knew|thought|wanted|felt|feel|loved|liked|hated|enjoyed|known|gonna|going|got|in|on|at|ever|really|quite|so|i|my|we|he|she|they|it|you|there|sunny|wrong|right|late|early|busy|\w+ed|\w+ing)\b`)
	notDont    = refuse(`(?:worry|know|mind|think|care|bother|understand|see|believe|want|have|need|like|feel|be (?:sad|sorry|silly|mad|angry)|get me wrong|forget|hesitate|you|i|we|they)\b`)
	enMonth    = has(`\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|first|second|third|\w+th|christmas|halloween|new year)\b`)
	enCutTime  = has(`\s+(?:since|for (?:now|the|about|over|a|an|almost|nearly|\d|two|three|four|five|six|seven|eight|nine|ten|many|several)|with (?:my|a|two|three)|now|last|this|next|in (?:19|20)\d\d|because|from \d|until|and (?:work|study|have|love|like|am|spend|teach|run)|as an?|when|where|so|by|near (?:my|the)|to (?:be|work|study|start|live)|after|before|a (?:few|couple)|two|three|\d+ (?:years|months|weeks|days) ago|recently|alone|together)\b.*`)
	enNotOn    = has(`\s+(?:because|since|as (?:a|it|they)|when (?:i|you|we)|so (?:i|please|that)|and (?:i|my|we|would|am|will)|but|which|even though)\b.*`)
	enJobs     = has(`\b(?:engineer|developer|programmer|teacher|professor|lecturer|tutor|nurse|doctor|physician|surgeon|dentist|pharmacist|therapist|psychologist|veterinarian|vet|student|designer|manager|director|lawyer|attorney|paralegal|writer|author|editor|journalist|reporter|scientist|researcher|artist|painter|musician|singer|actor|actress|chef|cook|baker|barista|waiter|waitress|accountant|auditor|analyst|consultant|architect|electrician|plumber|carpenter|mechanic|pilot|driver|photographer|librarian|translator|interpreter|historian|biologist|chemist|physicist|mathematician|economist|firefighter|paramedic|policeman|policewoman|soldier|farmer|gardener|freelancer|entrepreneur|founder|retiree|salesperson|receptionist|secretary|administrator|technician|coach|trainer|social worker|ceo|cto|cfo|postdoc|intern|stay-at-home (?:mom|mum|dad|parent))$`)
	enDiet     = `(?:a |an )?(?:strict )?(?:vegetarian|vegan|pescatarian|flexitarian|lactose[- ]intolerant|gluten[- ]intolerant|celiac|coeliac|teetotal(?:l?er)?|diabetic|left-handed|colou?r-?blind)`
	enDemonym  = has(`^(?:american|german|canadian|australian|italian|indian|russian|brazilian|mexican|asian|european|african|muslim|jewish|catholic|british|english|french|chinese|japanese|korean|spanish|polish|irish|scottish|welsh|dutch|swedish|norwegian|danish|finnish|turkish|greek|vegan|vegetarian|new|back|here|sorry|happy|glad|fine|good|great|ok|okay|looking|trying|not|very|so|just|having|working|writing|thinking|wondering|interested|curious|tired|sick|sure|done|ready|late|busy|free|from|in|at|on|a|an|the|your)\b`)
)

var englishFacts = slices.Concat(englishContext, englishPreferences)

var englishContext = []rule{
	{re: is(`my (?:full |real |first |given )?name(?:['’]s| is)(?: actually)? (?P<v>.+)`), category: store.Context, subject: "name", exclusive: true, say: "{who}'s name is {v}", confidence: .95, importance: .8, cut: firstPart, ok: nameLike(1)},
	{re: is(enAm + ` (?:called|named) (?P<v>.+)`), category: store.Context, subject: "name", exclusive: true, say: "{who}'s name is {v}", confidence: .9, importance: .8, cut: firstPart, ok: nameLike(1)},
	{re: is(`(?:please |you can |just |you may |people |everyone |my friends |friends )*calls? me (?P<v>.+)`), category: store.Preference, subject: "called", exclusive: true, say: "{who} goes by {v}", confidence: .85, importance: .8, cut: firstPart, ok: nameLike(2)},
	{re: is(`i go by (?P<v>.+)`), category: store.Preference, subject: "called", exclusive: true, say: "{who} goes by {v}", confidence: .85, importance: .8, cut: firstPart, ok: nameLike(2)},
	{re: is(`i(?:['’]m| am)? (?:currently |now |still )?(?:live|living|reside|residing|based) in (?P<v>.+)`), category: store.Context, subject: "home", exclusive: true, say: "{who} lives in {v}", confidence: .9, importance: .7, cut: cutAt(enCutTime), ok: both(notPlace, placeLike)},
	{re: is(`i(?:['’]ve| have)? (?:just |recently |finally )*(?:moved|relocated) (?:back |here )?to (?P<v>.+)`), category: store.Context, subject: "home", exclusive: true, say: "{who} lives in {v}", confidence: .85, importance: .7, cut: cutAt(enCutTime), ok: both(notPlace, placeLike)},
	{re: is(`i(?:['’]m| am)? (?:currently |now |still )?(?:work|working) (?:at|for) (?P<v>.+)`), category: store.Context, subject: "employer", exclusive: true, say: "{who} works at {v}", confidence: .85, importance: .65, cut: cutAt(enCutTime), ok: notFirm},
	{re: is(`i(?:['’]ve| have)? (?:just |recently |finally )*(?:started working at|started at|got (?:a|my) (?:new )?job at|joined) (?P<v>.+)`), category: store.Context, subject: "employer", exclusive: true, say: "{who} works at {v}", confidence: .75, importance: .65, cut: cutAt(enCutTime), ok: both(notFirm, capital)},
	{re: is(`i(?:['’]m| am)? (?:currently |now |still )?(?:work|working) as (?:an? |the )?(?P<v>.+)`), category: store.Context, subject: "job", exclusive: true, say: "{who} works as {v}", confidence: .9, importance: .65, cut: jobOnly},
	{re: is(enAm + ` (?:an?|the) (?P<v>.+)`), category: store.Context, subject: "job", exclusive: true, say: "{who} works as {v}", confidence: .8, importance: .65, cut: jobOnly, ok: func(v, _ string) bool { return enJobs.MatchString(v) && !strings.HasPrefix(v, "big ") }},
	{re: is(enAm + ` (?:also |actually )?(?P<v>` + enDiet + `)`), category: store.Preference, subject: "diet:{v}", exclusive: true, say: "{who} is {v}", confidence: .9, importance: .8},
	{re: is(`(?:` + enAm + `|i come) (?:originally )?from (?P<v>.+)`), category: store.Context, subject: "origin", exclusive: true, say: "{who} is from {v}", confidence: .85, importance: .6, cut: cutAt(enCutTime), ok: both(notPlace, placeLike)},
	{re: is(`i was born on (?P<v>.+)`), category: store.Context, subject: "birthday", exclusive: true, say: "{who}'s birthday is {v}", confidence: .9, importance: .7, ok: func(v, _ string) bool { return enMonth.MatchString(v) }},
	{re: is(`i (?:was born|grew up) in (?P<v>.+)`), category: store.Context, subject: "origin", exclusive: true, say: "{who} is from {v}", confidence: .8, importance: .6, cut: cutAt(enCutTime), ok: both(both(notPlace, placeLike), capital)},
	{re: is(`my birthday(?:['’]s| is)(?: on)? (?P<v>.+)`), category: store.Context, subject: "birthday", exclusive: true, say: "{who}'s birthday is {v}", confidence: .95, importance: .7, ok: func(v, _ string) bool {
		return enMonth.MatchString(v) && !strings.HasPrefix(strings.ToLower(v), "not ")
	}},
	{re: is(enAm + ` (?P<v>\d{1,3})(?: years? old)?`), category: store.Context, subject: "age", exclusive: true, say: "{who} is {v} years old", confidence: .8, importance: .5},
	{re: is(`my (?:all-time |absolute |personal |current )*favou?rite (?P<x>[\p{L}\d' -]{2,40}?) (?:is|are|has to be) (?P<v>.+)`), category: store.Preference, subject: "favourite:{x}", exclusive: true, say: "{who}'s favourite {x} is {v}", confidence: .9, importance: .6, cut: cutAt(enNotOn), ok: func(v, x string) bool {
		return !enVagueThing.MatchString(x) && refuse(`(?:not|that|when|what|how|where)\b`)(v, x)
	}},
	{re: is(enAm + ` (?:no longer|not) (?:really |actually )?(?:allergic|intolerant) to (?P<v>.+?)(?: after all)?`), subject: "allergy:{v}", retract: true, say: "{v}", confidence: .85, importance: .6, ok: notPronoun},
	{re: is(`i (?:(?:don['’]t|do not) (?:work|live) (?:at|for|in) (?P<v>.+?) (?:anymore|any more|any longer)|no longer (?:work|live) (?:at|for|in) (?P<v>.+))`), subject: "employer home", retract: true, say: "{v}", confidence: .85, importance: .6, ok: notPronoun},
	{re: is(`i (?:just |recently |finally )*(?:quit my job at|resigned from|got fired from|was laid off (?:from|by)|moved (?:out of|away from)|left my job at) (?P<v>.+)`), subject: "employer home", retract: true, say: "{v}", confidence: .85, importance: .6, cut: cutAt(enCutTime), ok: notPronoun},
	{re: is(enAm + ` (?:severely |very |highly |also |deathly |really |slightly )*(?:allergic|intolerant) to (?P<v>.+)`), category: store.Context, subject: "allergy:{v}", exclusive: true, say: "{who} is allergic to {v}", confidence: .95, importance: .9, ok: notPronoun},
	{re: is(`i have an? (?:severe |bad |mild |serious )*(?P<v>[\p{L}' -]{2,40}) allergy`), category: store.Context, subject: "allergy:{v}", exclusive: true, say: "{who} is allergic to {v}", confidence: .9, importance: .9},
	{re: is(`i(?:['’]ve got| have) (?P<v>(?:an?|one|two|three|four|five|six|seven|eight|twin|\d{1,2}) (?:[\p{L}-]+ ){0,3}(?P<x>kid|child|children|son|daughter|brother|sister|sibling|dog|cat|pet|puppy|kitten|horse|parrot|rabbit|hamster|turtle|wife|husband|girlfriend|boyfriend|fiancée?|grandchild|grandchildren|grandson|granddaughter|twin)s?(?: (?:named|called) .+)?)`), category: store.Context, subject: "has:{x}", exclusive: true, say: "{who} has {v}", confidence: .85, importance: .6, ok: func(v, _ string) bool { return !enAbout.MatchString(v) }},
	{re: is(`my (?P<x>` + enKin + `)(?:['’]s name is|['’]s called| is called| is named|['’]s named) (?P<v>.+)`), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}'s {x} is called {v}", confidence: .9, importance: .6, cut: firstPart, ok: nameLike(1)},
	{re: is(`my (?P<x>native language|mother tongue|first language|time ?zone|blood type|hometown|home town|major|pronouns|e-?mail(?: address)?|phone number|shoe size|zodiac sign|nationality) (?:is|are) (?P<v>.+)`), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}'s {x} is {v}", confidence: .85, importance: .6, ok: refuse(`(?:not|going|getting|too|very|so|really|being|killing|stressful|boring|hard|great|good|bad|fun|ok|okay|unknown|important)\b`)},
	{re: is(`my (?:current |new )?(?:job|occupation|profession) is (?:an? )?(?P<v>.+)`), category: store.Context, subject: "job", exclusive: true, say: "{who} works as {v}", confidence: .85, importance: .65, cut: jobOnly, ok: func(v, _ string) bool { return enJobs.MatchString(v) }},
	{re: is(`i (?:can )?speak (?:fluent |native )?(?P<v>\p{Lu}\p{L}+(?:(?:, | and |, and )\p{Lu}\p{L}+)*)(?: fluently| natively| at home)?`), category: store.Knowledge, subject: "speaks:{v}", exclusive: true, say: "{who} speaks {v}", confidence: .8, importance: .5, ok: capital},
	{re: is(`(?:` + enAm + ` studying|i study|` + enAm + ` majoring in|i major in) (?P<v>.+)`), category: store.Context, subject: "studies", exclusive: true, say: "{who} studies {v}", confidence: .75, importance: .6, cut: cutAt(enCutTime), ok: refuse(`(?:for|at|in|with|hard|this|that|it|a|an|the)\b`)},
	{re: is(`my (?:main |biggest |ultimate |long-term |current )?(?:goal|dream|ambition|resolution|aim)(?: for .{2,30}?| this year)? is (?:to )?(?P<v>.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}'s goal: {v}", confidence: .85, importance: .7, ok: refuse(`(?:not|that|what|simple|clear|still)\b`)},
	{re: is(enAm + ` (?:also |still |currently |now )*(?:planning|hoping|aiming|intending|preparing|working towards?|saving(?: up)?|training) (?:to|on|for)? ?(?P<v>.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}'s goal: {v}", confidence: .75, importance: .6, ok: notAim},
	{re: is(`i (?:really |also |still |eventually |currently )*(?:want|plan|hope|intend|aim) to (?P<v>.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}'s goal: {v}", confidence: .75, importance: .6, ok: notAim},
}

var englishGreetings = []rule{
	{re: is(`(?:hi|hello|hey)(?: there| everyone| all)?[\s,!]+(?:` + enAm + `|this is) (?P<v>[\p{L}'’-]+(?: [\p{L}'’-]+)?)(?:(?:,| and | from | - ).*)?`), category: store.Context, subject: "name", exclusive: true, say: "{who}'s name is {v}", confidence: .75, importance: .8, ok: func(v, _ string) bool { return !enDemonym.MatchString(v) && nameLike(2)(v, "") }},
}

var englishInstructions = []rule{
	{re: is(`(?P<v>(?:please )?(?:from now on|from today on|going forward|from here on|in (?:the )?future|for future reference|whenever you (?:answer|reply|respond)[^,]*),? .+)`), category: store.Behavior, say: "{who} asks: {v}", confidence: .85, importance: .9, standing: true, ok: func(v, _ string) bool { return !enAside.MatchString(v) }},
	{re: is(`(?P<v>(?:please )?(?:always|never) (?P<x>.+))`), category: store.Behavior, say: "{who} asks: {v}", confidence: .85, importance: .9, standing: true, ok: func(_, x string) bool { return notAct(x, "") }},
	{re: is(`(?P<v>(?:i (?:want|need|['’]d like) you to|you (?:should|must|need to)|make sure (?:that )?you|make sure to) (?:please )?(?:always|never) .+)`), category: store.Behavior, say: "{who} asks: {v}", confidence: .85, importance: .9, standing: true},
	{re: is(`(?P<v>please (?:don['’]t|do not) (?:ever )?(?P<x>.+))`), category: store.Behavior, say: "{who} asks: {v}", confidence: .75, importance: .85, standing: true, ok: func(_, x string) bool { return notDont(x, "") }},
	{re: is(`(?P<v>(?:don['’]t|do not) ever (?P<x>.+)|(?:don['’]t|do not) .+ (?:again|anymore|any more|in (?:the )?future|from now on))`), category: store.Behavior, say: "{who} asks: {v}", confidence: .8, importance: .9, standing: true, ok: func(v, _ string) bool { return len(v) < 200 }},
}

var enVagueThing = has(`\b(?:part|thing|things|one|ones|aspect|bit)\b`)

var enAbout = has(`\b(?:about|of|for|with|on|from|to|the|question|questions|photos?|pictures?|book|books|story|idea)\b`)

var enAside = has(`^(?:please )?(?:from now on|from today on|going forward|from here on|in (?:the )?future|for future reference),? (?:i|we|he|she|they|it|my|the|there)\b`)

var enFirst = regexp.MustCompile(`(?i)\b(?:i['’]m|i am|i['’]ve|i have|i['’]ll|i was|i|my|mine|myself|me|our|ours|ourselves|us|we['’]re|we are|we)\b`)

var enThird = map[string]string{
	"i'm": "they're", "i am": "they are", "i've": "they've", "i have": "they have", "i'll": "they'll", "i was": "they were", "i": "they",
	"my": "their", "mine": "theirs", "myself": "themselves", "me": "them", "our": "their", "ours": "theirs", "ourselves": "themselves", "us": "them",
	"we're": "they're", "we are": "they are", "we": "they",
}

// englishThird puts a value into the third person. Instructions keep the user's words: they are addressed to the agent.
func englishThird(v string) string {
	var b strings.Builder
	from, quoted := 0, false
	for _, m := range append(enQuotes.FindAllStringIndex(v, -1), []int{len(v), len(v)}) {
		part := v[from:m[0]]
		if !quoted { // a quotation keeps its words
			part = enFirst.ReplaceAllStringFunc(part, func(w string) string {
				return enThird[strings.ReplaceAll(strings.ToLower(w), "’", "'")]
			})
		}
		b.WriteString(part)
		b.WriteString(v[m[0]:m[1]])
		from, quoted = m[1], !quoted
	}
	return b.String()
}

var enQuotes = regexp.MustCompile(`["“”]`)

var enAsideTail = has(`,\s+(?:as|since|so|which|who|because|but|even|though|although|when|where|while|plus|especially|particularly|given|thanks|with|it['’]s|that['’]s)\b.*`)

// cutAt ends a value where the pattern begins, or where an aside does.
func cutAt(re *regexp.Regexp) func(string) string {
	return func(v string) string {
		if m := re.FindStringIndex(v); m != nil && m[0] > 0 {
			v = v[:m[0]]
		}
		if m := enAsideTail.FindStringIndex(v); m != nil {
			v = v[:m[0]]
		}
		return v
	}
}

func firstPart(v string) string {
	v, _, _ = strings.Cut(v, ",")
	if i := strings.Index(v, " and "); i > 0 {
		v = v[:i]
	}
	for _, sep := range []string{" but ", " - ", " by the way", " from ", " (", " for short", " instead", " because "} {
		v, _, _ = strings.Cut(v, sep)
	}
	return v
}

func jobOnly(v string) string {
	v, _, _ = strings.Cut(v, ",")
	for _, sep := range []string{" at ", " in ", " for ", " with ", " and ", " from ", " who ", " based ", " living ", " since ", " by "} {
		v, _, _ = strings.Cut(v, sep)
	}
	return v
}

func capital(v, _ string) bool {
	for _, r := range v {
		return unicode.IsUpper(r) || unicode.IsDigit(r)
	}
	return false
}

// placeLike: a place is short and, when it is more than one word, spelled with a capital.
func placeLike(v, _ string) bool {
	words := strings.Fields(v)
	return len(words) <= 7 && (len(words) == 1 || strings.ContainsFunc(v, unicode.IsUpper))
}

var notName = has(`^(?:not|later|back|when|maybe|a|an|the|crazy|tomorrow|tonight|today|at|on|in|if|after|before|anytime|any|whatever|what|names?|out|old|lazy|stupid|sir|madam|right|now|again|soon|this|that|it|important|common|hard|difficult|unusual|spelled|pronounced|too|very|really|for|to|as)\b`)

// nameLike accepts one to four words. A single word may be in lower case when the pattern is as sure as strict 1.
func nameLike(strict int) func(v, x string) bool {
	return func(v, _ string) bool {
		words := strings.Fields(v)
		if len(words) == 0 || len(words) > 4 || notName.MatchString(v) || strings.ContainsAny(v, "0123456789@/:=") {
			return false
		}
		if len(words) == 1 && strict == 1 {
			return true
		}
		for _, w := range words {
			if !capital(w, "") && !strings.Contains(" de van von der den da di la le bin al del ", " "+w+" ") {
				return strings.ContainsFunc(w, func(r rune) bool { return r > 0x2E80 })
			}
		}
		return true
	}
}
