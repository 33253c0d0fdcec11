package story

import "regexp"

// act is how a tool that comes with spillway says what it is about to do. $1 and so
// on stand in zh for what the form catches: all that is not the tool's own words.
type act struct {
	form *regexp.Regexp
	zh   string
}

var acts = []act{
	{regexp.MustCompile(`(?s)^run: (.*)$`), "执行：$1"},
	{regexp.MustCompile(`(?s)^write (\d+) bytes to (.*?): “(.*)”$`), "写入 $1 字节到 $2：“$3”"},
	{regexp.MustCompile(`(?s)^edit (.*?): “(.*)” becomes “(.*)”$`), "修改 $1：“$2” 改为 “$3”"},
	{regexp.MustCompile(`^run a command$`), "执行一条命令"},
	{regexp.MustCompile(`^write a file$`), "写一个文件"},
	{regexp.MustCompile(`^edit a file$`), "修改一个文件"},
}

// act is a call in words; in its tool's own where these are not known.
func (w *lexicon) act(what string) string {
	if w.language == English {
		return what
	}
	for _, a := range acts {
		if a.form.MatchString(what) {
			return a.form.ReplaceAllString(what, a.zh)
		}
	}
	return what
}
