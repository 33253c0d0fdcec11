package story

var english = lexicon{
	language: English,
	comma:    ", ", colon: ": ", semicolon: "; ", stop: ".",
	open: " (", close: ")", quote: `"%s"`,

	units: struct{ ms, s, min, h, d string }{"ms", "s", "m", "h", "d"},
	ago:   "%s ago", ahead: "in %s",
	untilLeft: "until %s (%s left)", untilOver: "until %s (over)",

	rules: ruleWords{
		header: "the header %s", status: "the bare status %s", phrase: "its wording (rule %s)", pattern: "your pattern /%s/",
		shape: "the form of the answer (%s)", finish: "the answer's finish (%s)", client: "the words %s",
		socket: "the network (%s)", field: "its error %s %s",
		firstContent: "the limit for the first content", idle: "the limit between two pieces of content", total: "the limit for a whole answer",
		silence: " after a long silence", other: "the rule %s",
	},
	rangeOf: targetWords{
		vendor: "%s (the whole vendor)", model: "%s", key: "key %s of %s", keyOf: "key %s of %s for %s",
		request: "this request only",
	},
	head: headWords{
		request: "Request %s", wanted: "wants %s", streamed: "as a stream", whole: "as a whole", dialect: "%s dialect",
	},
	kinds: kindWords{
		primary: "%s is asked", wished: "%s is asked, as the caller wished", retry: "%s is asked again",
		failover: "%s is asked instead: the same model elsewhere", key: "%s is asked with another key",
		fallback: "%s is asked instead: another model", probe: "%s is asked, to see whether it has recovered",
		resume: "%s is asked to go on where the answer broke off", withKey: "key %s",
	},
	labels: labelWords{
		columns: 11,
		because: "because", passed: "skipped", dropped: "left out", waited: "waited", answer: "answer", said: "it said", detail: "detail", hint: "hint",
		meaning: "meaning", concerns: "concerns", paused: "paused", testing: "on trial", healthy: "recovered",
		next: "next", tokens: "tokens", damaged: "damaged",
	},
	facts: factWords{
		waited: "%s before asking", after: "%s after %s", noAnswer: "none within %s", broke: "first content after %s, broke off after %s",
		complete: "complete after %s", content: "first content after %s, complete after %s", gaveUp: "none needed: the caller gave up after %s",
		stillRunning: "still to come", notSent: "nothing was sent",
		toldBy: "told by %s", atFirst: "at first sight %s",
		wait: "come back in %s", back: "back at %s (%s)", hintFrom: "from %s",
		damaged: "%d unreadable pieces of the answer were left out", noVendor: "no vendor is asked",
		pluginAnswer: "a plugin answers by itself; no vendor is asked", noFurther: "no further vendor is asked",
		tokensIn: "%d in", tokensOut: "%d out", cached: "%d from the cache", reasoning: "%d for reasoning",
	},
	next: nextWords{
		retry: "ask the same again", wait: "wait, then ask the same again", failover: "the same model elsewhere: %s",
		key: "another key of %s", fallback: "another model: %s", stop: "nobody",
	},
	ending: endingWords{
		answered: "Answered by %s in %s", instead: "Answered by %s instead of %s in %s",
		afterOne: "after 1 failed attempt", afterMany: "after %d failed attempts", clean: "the caller saw one clean answer",
		byPlugin:     "Answered by a plugin in %s, without asking a vendor",
		callersFault: "Refused for a cause in the request itself, %s", verbatim: "the caller was told in the vendor's own words",
		failed: "Failed after %s with nothing answered, %s", unknown: "for an unknown cause",
		told: "the caller was told %s", again: "to try again at %s (%s)",
		midstream: "Broke off after %s with part of the answer handed out, %s; the caller keeps that part and was told that it is not the whole",
		cancelled: "The caller gave up after %s, before anything was answered", cancelledMiddle: "The caller gave up after %s, in the middle of the answer",
		running: "Still running after %s",
	},
	notice: noticeWords{
		switched: "switched to %s", key: "switched to another key of %s", again: "asking %s again",
		waiting: "waiting %s, then asking %s again", probe: "testing whether %s has recovered",
		resume: "%s goes on where the answer broke off", skipped: "%s is passed over (%s)",
	},
	status: statusWords{
		listening: "listening on %s", up: "up %s", off: "no host is running; this is what was stored last",
		health: "Health, as plugin %s sees it", healthy: "every vendor is healthy",
		plugins: "Plugins", entries: "Entries that do not run", providers: "Providers", nothing: "none",
		scope: "scope", target: "target", state: "state", since: "since", until: "left", code: "code", why: "why",
		entry: "entry", version: "version", pid: "pid", upFor: "up", restarts: "restarts", bypassed: "bypassed", trouble: "trouble",
		provider: "provider", models: "models", keys: "keys",
		module: "module",
		scopes: struct{ route, vendor, key string }{"model", "vendor", "key"},
		states: struct{ open, halfOpen, closed string }{"paused", "on trial", "ok"},
		down:   "down", over: "over", failures: "failures in a row: %d", trips: "pauses in a row: %d", more: "%d more",
	},
	waiting: "waiting for content", flows: "content arrives", held: "waiting before asking",
	answered: "answered", running: "running",
}
