package story

// lexicon has the words of one language, but for those that stand in the tables
// of verdict.go and reason.go. %s and %d stand for what a comment names; both
// languages take the same.
type lexicon struct {
	language Language

	// Punctuation.
	comma, colon, semicolon, stop string
	open, close                   string // parentheses
	quote                         string // text

	units          unitWords
	sources        sourceWords
	ago, ahead     string // duration
	untilLeft      string // moment, duration
	untilOver      string // moment
	rules          ruleWords
	rangeOf        targetWords
	head           headWords
	kinds          kindWords
	labels         labelWords
	facts          factWords
	next           nextWords
	ending         endingWords
	notice         noticeWords
	status         statusWords
	ordered        orderWords
	judged         judgedWords
	talk           talkWords
	waiting, flows string // legend of the drawing
	held           string // the same: a wait before asking
	answered       string // an attempt that worked, beside its bar
	running        string // one that runs
	left           string // one that was not waited for
}

// unitWords follow a number.
type unitWords struct{ ms, s, min, h, d string }

// sourceWords say where a vendor's hint stood.
type sourceWords struct {
	message, body, own string
	header             string // name
}

type scopeWords struct{ route, vendor, key string }

type verbWords struct{ disable, pin, drain string }

type stateWords struct{ open, halfOpen, closed string }

// targetWords name what a circuit or a failure speaks for.
type targetWords struct {
	vendor  string // provider
	model   string // route
	key     string // key, provider
	keyOf   string // key, provider, model
	theKey  string // provider, of a key without a name
	request string // a failure that speaks for nothing but the request
}

type headWords struct {
	request  string // id
	wanted   string // route
	streamed string
	whole    string
	dialect  string // name
}

// kindWords head an attempt; each takes a route.
type kindWords struct {
	primary, wished, retry, failover, key, fallback, probe, resume string
	withKey                                                        string // fingerprint
}

type labelWords struct {
	columns                                                                         int // the widest, with the gap behind it
	because, passed, dropped, waited, answer, said, detail, hint, meaning, concerns string
	paused, testing, healthy, next, tokens, damaged                                 string
}

type factWords struct {
	waited       string // duration
	movedOn      string // duration
	after        string // what was answered, duration
	noAnswer     string // duration
	unheard      string // duration
	broke        string // first content, duration
	complete     string // duration
	content      string // duration to first content, duration
	gaveUp       string // duration
	stillRunning string
	notSent      string
	toldBy       string // rule
	atFirst      string // code in words
	wait         string // duration
	back         string // moment, distance
	again        string // a test that failed: what is paused, until when
	notYet       string // instead of a pause
	passed       string // a test: route
	early        string // a pause that ends before the moment that the vendor named
	damaged      string // count
	noVendor     string
	pluginAnswer string
	noFurther    string
	tokensIn     string // count
	tokensOut    string // count
	cached       string // count
	reasoning    string // count
}

type nextWords struct {
	retry    string
	later    string // duration
	wait     string // duration
	left     string // duration
	failover string // route
	key      string // provider
	fallback string // route
	stop     string
}

type endingWords struct {
	answered        string // route, duration
	instead         string // route, head, duration
	afterOne        string
	afterMany       string // count
	clean           string
	byPlugin        string // duration
	callersFault    string // failure in words
	verbatim        string
	failed          string // duration, failure in words
	unknown         string // a failure that the record does not name
	told            string // status
	again           string // moment, distance
	never           string
	midstream       string // duration, failure in words
	cancelled       string // duration
	cancelledMiddle string // duration
	running         string // duration
}

// noticeWords make the one-line form.
type noticeWords struct {
	switched string // route
	key      string // provider
	again    string // route
	waiting  string // duration, route
	probe    string // route
	resume   string // route
	back     string // route
	skipped  string // route, reason
}

type statusWords struct {
	listening, up, off, refused, store                      string // address; duration; none; reason; reason
	health                                                  string // plugin
	orders                                                  string // plugin
	verb, note                                              string // columns
	verbs                                                   verbWords
	takeBack                                                string // how an order is ended
	everyKey                                                string // why a model or vendor is halted
	endless                                                 string // an order without an end
	untilAt                                                 string // moment
	healthy                                                 string
	plugins, entries, providers                             string // headings
	nothing                                                 string // an empty list
	scope, target, state, since, until, left, code, why     string // columns
	entry, version, pid, upFor, restarts, bypassed, trouble string
	provider, models, keys, module                          string
	scopes                                                  scopeWords
	states                                                  stateWords
	down                                                    string
	output                                                  string // plugin
	over                                                    string // a pause that has ended
	failures                                                string // count
	trips                                                   string // count
	more                                                    string // count
}

// pick returns the one of its language.
func (w *lexicon) pick(en, zh string) string {
	if w.language == Chinese {
		return zh
	}
	return en
}
