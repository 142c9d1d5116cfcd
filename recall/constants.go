package recall

import (
	"time"

	"evoke/scoring"
	"evoke/store"
)

// Every constant of the ranking stands here, fitted on the development halves of LoCoMo, MemoryBank (English and
// Chinese), LoCoMo's observations and PrefEval with multilingual-e5-small; the scores are flat around these values
// unless a line says otherwise. The ends of the cosines belong to the model (embed.Model).

// The terms of the sum that becomes "semantic": A = A0 + these, each term in [0,1].
const (
	weightLexical = 0.45 // of A0, with a dense score beside it: flat from 0.35 to 0.5
	weightDense   = 0.55
	weightAlone   = 0.70 // of A0 for the lexical score when no dense arm answers: the other terms must not outweigh it

	weightSpeaker = 0.15 // the question names the item's speaker
	weightWhen    = 0.12 // the question asks for a time and the item speaks of one
	weightDate    = 0.15 // the item is of a date that the question names
	weightUser    = 0.10 // not said by the assistant
	weightSession = 0.30 // the mean of the best three A0 of the item's session

	sessionBest = 3
)

// How a short item speaks and what stands beside it, in scoreManner: fitted on LoCoMo with one conversation left out at a
// time (R@5 +1.2, R@10 +1.1, NDCG@10 +1.2 on those left out), held against the other sets; flat for a half more or less.
const (
	weightName    = 0.19 // names and titles in it, where the question asks for one
	weightNames   = 0.06 // … whatever the question, between people
	weightAsks    = 0.06 // taken for being a question, between people
	weightAddress = 0.07 // taken for speaking to "you", with an assistant (MemoryBank)
	weightReply   = 0.07 // of A0 of the question that it answers
	weightWish    = 0.10 // a lasting wish of the person, where the question asks for help (BEAM): flat from 0.075 to 0.15
	weightNext    = 0.12 // of what A0 of the turn behind it is over nextMiddle
	nextMiddle    = 0.35 // A0 of a candidate that has little to do with the question
)

// The second look, at what stands behind the first few: see secondLook. Set on LoCoMo with three rankings (both models and
// none), held against the other sets; flat for a third more or less. With fewer kept, sessions of the evidence leave the
// first five.
const (
	secondKeeps  = 5
	weightAhead  = 0.20 // of what A0 of the better of the two turns behind it has more than its own
	weightAround = 0.20 // of the best A0 of its session, between people: with an assistant a session has many matters
	secondGap    = 1e-9 // of the score, below the last that is kept
)

// The comparison word by word (late interaction). The ends are those of its mean cosines.
const (
	weightLate        = 0.30 // of A0, flat from 0.2 to 0.4
	weightLateLexical = 0.26 // of A0 beside it
	weightLateDense   = 0.44
	lateLow           = 0.10
	lateHigh          = 0.80
	latePrev1         = 0.05 // taken from a word of the turn before
	latePrev2         = 0.10 // … of the one before that
	lateDepth         = 100  // of a scope's candidates are compared, the best by all else
	lateStep          = 16   // candidates between looks at the time

	lateStepName = "late"
)

// spellingModel names the table whose words are taken to be spelt as meant.
const spellingModel = "multilingual-e5-small-q4"

// weightRerank is the reranker's share of a candidate's semantic score. Not fitted: no weights of one were at hand.
const weightRerank = 0.5

// contextWords: longer items have no context.
const contextWords = 80

// chunkPenalty times ln n is taken from the dense score of an item of n chunks: the best of many is high by chance.
const chunkPenalty = 0.08

// The dense score that an item without a vector may be expected to have, given its lexical score: a line fitted over
// candidates that have both. Without it an item would fall behind everything embedded until its vector follows.
const (
	expectedDenseBase  = 0.40
	expectedDenseSlope = 0.65
)

// lexicalParams are the constants of the lexical arm: see package scoring.
//
// Beside a dense score a query word that no item has counts against the lexical score. Otherwise a question in one
// language, whose few chance hits are all that the scope knows of its words, would outrank the answer in another (of the
// sample's five hard questions, none was found without and four with it; on the development sets the difference is
// within the noise). Alone, the score must not be outweighed by the small terms, so there such words are left out.
func lexicalParams(dense bool) scoring.LexicalParams {
	p := scoring.LexicalParams{K1: 0.9, B: 0.4, ChunkPenalty: chunkPenalty, ContextWords: contextWords}
	if dense {
		p.AbsentShare = 1
	}
	return p
}

// profiles are the weights of the final score.
var profiles = map[string]Weights{
	"":        {Semantic: 0.97, Recency: 0.01, Importance: 0.02},
	"default": {Semantic: 0.97, Recency: 0.01, Importance: 0.02},
	"classic": {Semantic: 0.5, Recency: 0.3, Importance: 0.2},
}

// The contest of new and old within a page, fitted on BEAM's updates and held against LoCoMo's order. Terms that name a
// speaker do not count as shared.
const (
	contestSimilarity  = 0.10 // likeness of the two texts, at the least
	contestShared      = 0.70 // share of the question's terms, by idf, that both hold
	contestSharedValue = 0.30 // … where both state figures or negations and these differ
	contestReach       = 0.15 // an item further below is not lifted for likeness
)

// contestBands are the ends of the groups of ranks within which likeness may change the order.
var contestBands = [...]int{5, 10, 20}

// The weights of Response.Confidence: logistic regressions at even odds. Positive: the answerable questions of LoCoMo
// (lexical: and of MemoryBank zh and BEAM). Negative, half each: LoCoMo's adversarial questions, and questions asked of
// another scope than their own. Late, with multilingual-e5-small, each conversation judged by weights from the others: AUROC
// 0.80 against the adversarial ones, which have the words of what somebody else said, and 0.99 against another scope's.
// Without the words' vectors 0.78, lexical 0.76. Its base (-6.3 by LoCoMo alone) is raised so that BEAM's and MemoryBank's
// answerable questions do not fall under 0.3 by half: 18 % do, and 86–94 % of another scope's. It does not tell BEAM's abstention questions (0.5): they ask for a detail
// that was never given of matters spoken of at length, and every signal of retrieval is as strong there as for an answer.
var (
	confidenceLate    = confidenceWeights{base: -5.0, strength: 7.7, met: 2.0, speaker: 1.2, speakerMet: 4.3}
	confidenceDense   = confidenceWeights{base: -3.9, strength: 7.5, speaker: 3.0}
	confidenceLexical = confidenceWeights{base: -4.5, strength: 2.4, known: 4.5, speaker: 3.2}
)

// confidenceDepth is how many of the best candidates the confidence rests on, whatever the limit.
const confidenceDepth = 20

// undatedRecency is the recency of an item whose time is not known.
const undatedRecency = 0.5

// Defaults of Options.
const (
	defaultLimit         = 5
	defaultMinScore      = 0.1
	defaultBlockLimit    = 20
	defaultQueryBytes    = 32 << 10
	defaultArm           = 100
	defaultFreshArm      = 20
	defaultDuplicate     = 0.9
	defaultEmbedTimeout  = 3 * time.Second
	defaultSearchTimeout = 10 * time.Second
	defaultLateTimeout   = time.Second
	defaultRerankDepth   = 30
	defaultRerankTimeout = 400 * time.Millisecond
)

// Parts of the time left until a call's deadline.
const (
	embedShare  = 0.4 // the query's vector
	searchShare = 0.9 // all scopes together; the rest is for scoring
	lateShare   = 0.5 // of what is then left: comparing words
	rerankShare = 0.7 // of what is then left: the reranker
)

// defaultHalfLife is how long a kind takes to lose half its recency.
func defaultHalfLife(k store.Kind) time.Duration {
	const day = 24 * time.Hour
	switch k {
	case store.Semantic:
		return 180 * day
	case store.Procedural:
		return 365 * day
	default:
		return 14 * day
	}
}

// Ranges of a request.
const (
	maxLimit     = 1000
	maxTokens    = 100_000
	maxTimeout   = 10 * time.Minute
	maxScopes    = 8
	maxArm       = 10_000
	roundingRoom = 1e-9 // a sum of weights may exceed 1 by this much
)
