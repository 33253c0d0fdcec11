package story

import (
	"strings"
	"time"
)

// Options say how to render.
type Options struct {
	Colour   bool      // ANSI colours; without them not one escape code is written
	Language Language  // "" is English
	Now      time.Time // what "ago" and "left" count from, and whose time zone is shown; zero is the present
	Width    int       // columns of the screen; 0 is 80, less than 40 is 40
}

// Language is one that people read here.
type Language string

const (
	English Language = "en"
	Chinese Language = "zh"
)

// LanguageOf picks the language of an environment, which lookup reads as
// os.LookupEnv does: the first of LC_ALL, LC_MESSAGES and LANG that is set and
// not empty decides.
func LanguageOf(lookup func(name string) (value string, ok bool)) Language {
	for _, name := range [...]string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		v, _ := lookup(name)
		switch {
		case v == "":
		case strings.HasPrefix(strings.ToLower(v), "zh"):
			return Chinese
		default:
			return English
		}
	}
	return English
}

const (
	defaultWidth = 80
	minWidth     = 40
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, minWidth)
}

func (o Options) clock() clock {
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	return clock{now: now, words: o.words()}
}

func (o Options) words() *lexicon {
	if o.Language == Chinese {
		return &chinese
	}
	return &english
}
