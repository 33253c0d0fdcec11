package story

import "spillway/host/agent/ledger"

// talkWords are those of Talk.
type talkWords struct {
	failed    string // what a tool said
	broke     string // failure: nothing of the answer was shown
	withdrawn string // failure: what was shown of the answer does not count
	waiting   string // failure
	again     string // duration
	endsWait  string
	asking    string // route, duration
	starting  string // names
	comma     string // between names
	summedUp  string // count
	stopped   string // the mark of an interruption

	allow, allowIt    string // what is asked; tool
	outcome, why      string // tool; reason
	outcomes          string // what is asked
	notKept, nobody   string // parts of the status line
	pinned            string // route
	noTools           string
	askedFirst        string // route
	helpLong, helpEnd string // fence; last lines of /help
	unadvertised      string // provider, model
	nearest           string // names
	effects           effectWords
	sessions          sessionWords
	errors            talkErrors
}

type effectWords struct{ readOnly, idempotent, write string }

// sessionWords head the columns of Sessions.
type sessionWords struct{ session, used, folder, about, none string }

// talkErrors end the work, or a command of the conversation.
type talkErrors struct {
	failed, broke            string // failure, request
	worth                    string // moment, distance
	explains                 string // command
	undecided                string // tool
	interrupted, twice       string
	turns, cut, refused      string
	call                     string // the call, its key, why, how to go on
	goOn                     string // how
	lost                     string // how to go on with a session that is not kept
	noSession, noSessionHere string // id; folder
	busy, full, unasked      string // id
	torn                     string // id, count
	leftOut                  string // entry, why
	tooMany                  string // command, count
	unknown                  string // command, what was perhaps meant
	perhaps, or              string // names, with or between them
	noRequest                string
	wantsRoute, wantsTarget  string // command
	noTime                   string // text
	tooLong                  string // count
}

var englishTalk = talkWords{
	failed:       "failed: %s",
	broke:        "the answer broke off (%s), asking again",
	withdrawn:    "── withdrawn: the answer broke off (%s), asking again ──",
	waiting:      "nobody can serve (%s)",
	again:        "asking again in %s",
	asking:       "asking %s (%s)",
	starting:     "starting the MCP server %s ...",
	comma:        ", ",
	endsWait:     " (Ctrl-C ends it)",
	summedUp:     "the conversation is too long for every model: %d messages are summed up (the session keeps them)",
	stopped:      "── interrupted: what was said is kept ──",
	allow:        "allow it? [y]es, [n]o, ",
	allowIt:      "[a]lways %s in this session: ",
	outcome:      "It is not known whether this happened: %s",
	why:          "why: %s",
	outcomes:     "[h]appened, [n]ot happened: run it, [t]ell the model that nobody knows, [s]top here: ",
	notKept:      "not kept",
	nobody:       "nobody",
	pinned:       "pinned to %s",
	noTools:      "none",
	askedFirst:   "%s is asked first",
	unadvertised: "note: %s advertises no model %q",
	nearest:      "nearest known: %s",
	helpLong:     "A line that ends with \\ goes on; so does what stands between two lines of %s.",
	helpEnd:      "Esc or Ctrl-C interrupts the agent.",
	effects:      effectWords{readOnly: "read-only", idempotent: "idempotent", write: "write"},
	sessions:     sessionWords{session: "SESSION", used: "USED", folder: "FOLDER", about: "ABOUT", none: "no sessions yet"},
	errors: talkErrors{
		failed:        "nobody could answer: %s (request %s)",
		broke:         "the answer broke off: %s (request %s)",
		worth:         "Somebody may answer again at %s (%s).",
		explains:      "What was tried: %s",
		undecided:     "it is not known whether %s happened: a person must decide",
		interrupted:   "interrupted",
		twice:         "interrupted twice",
		turns:         "too many turns: the answers to one message are as many as the profile's maxTurns allows",
		cut:           "the answer was cut at the vendor's limit of its length",
		refused:       "the model refused to answer",
		goOn:          "To go on: %s",
		lost:          "(the session was not kept)",
		noSession:     "session %q: no such session (spillway session list shows them)",
		noSessionHere: "folder %q: no such session",
		busy:          "session %q: in use by another process",
		full:          "session %q: it is full: begin another one",
		unasked:       "session %q: nothing was asked yet: say what to do",
		torn:          "session %s: the last %d bytes were not written to their end and are left out",
		leftOut:       "tools of entry %q are left out: %s",
		tooMany:       "%s takes %d arguments at most",
		unknown:       "unknown command %q%s (/help lists them)",
		perhaps:       "; did you mean %s?",
		or:            " or ",
		noRequest:     "no such request in this profile",
		wantsRoute:    "%s wants a route, such as deepseek/deepseek-flash",
		wantsTarget:   "%s wants a target: a vendor, a route or a key",
		noTime:        "/pin: %q is no time to come, such as 90m",
		tooLong:       "chat: the message is larger than %d MB",
		call: `  %s
  key      %s
  why      %s
Look whether it was done, say so, and go on:
  %s happened   (or not-happened, or unknown)
  %s`,
	},
}

var chineseTalk = talkWords{
	failed:       "失败：%s",
	broke:        "回答中断（%s），重新发问",
	withdrawn:    "── 撤回：回答中断（%s），重新发问 ──",
	waiting:      "暂时没有可用的供应商（%s）",
	again:        "%s后再问",
	asking:       "正在问 %s（%s）",
	starting:     "正在启动 MCP 服务器 %s……",
	comma:        "、",
	endsWait:     "（Ctrl-C 结束等待）",
	summedUp:     "对话太长，所有模型都放不下：较早的 %d 条消息已概括成摘要（会话里仍保留原文）",
	stopped:      "── 已中断：说过的内容已保留 ──",
	allow:        "允许吗？[y] 是，[n] 否，",
	allowIt:      "[a] 本次会话内一律允许 %s：",
	outcome:      "不知道这个调用是否已经发生：%s",
	why:          "原因：%s",
	outcomes:     "[h] 已发生，[n] 没有发生：执行它，[t] 告诉模型无人知道，[s] 到此为止：",
	notKept:      "不保存",
	nobody:       "没有可用的路由",
	pinned:       "固定到 %s",
	noTools:      "没有",
	askedFirst:   "优先问 %s",
	unadvertised: "注意：%s 没有列出模型 %q",
	nearest:      "最接近的：%s",
	helpLong:     "以 \\ 结尾的行接着下一行；两行 %s 之间的内容算一条消息。",
	helpEnd:      "Esc 或 Ctrl-C 中断代理。",
	effects:      effectWords{readOnly: "只读", idempotent: "幂等", write: "写"},
	sessions:     sessionWords{session: "会话", used: "上次使用", folder: "文件夹", about: "内容", none: "还没有会话"},
	errors: talkErrors{
		failed:        "没有供应商能作答：%s（请求 %s）",
		broke:         "回答中断：%s（请求 %s）",
		worth:         "%s（%s）起可能又有供应商能作答。",
		explains:      "试过什么，请看：%s",
		undecided:     "不知道 %s 是否已经发生：须由人来判定",
		interrupted:   "已中断",
		twice:         "已两次中断",
		turns:         "轮数过多：对一条消息的回答次数已到 profile 的 maxTurns 上限",
		cut:           "回答到了供应商的长度上限，被截断",
		refused:       "模型拒绝作答",
		goOn:          "继续请用：%s",
		lost:          "（会话没有保存）",
		noSession:     "会话 %q：没有这个会话（spillway session list 可列出）",
		noSessionHere: "文件夹 %q：没有会话",
		busy:          "会话 %q：另一个进程正在使用",
		full:          "会话 %q：已满，请另开一个",
		unasked:       "会话 %q：还没有问过什么，请说明要做的事",
		torn:          "会话 %s：最后 %d 个字节没有写完，已略去",
		leftOut:       "条目 %q 的工具用不了，已略去：%s",
		tooMany:       "%s 最多接受 %d 个参数",
		unknown:       "未知命令 %q%s（/help 可列出全部命令）",
		perhaps:       "；是不是 %s？",
		or:            " 或 ",
		noRequest:     "这个 profile 里没有这个请求",
		wantsRoute:    "%s 需要一个路由，例如 deepseek/deepseek-flash",
		wantsTarget:   "%s 需要一个对象：供应商、路由或密钥",
		noTime:        "/pin：%q 不是可用的时长，应如 90m",
		tooLong:       "chat：消息超过 %d MB",
		call: `  %s
  键    %s
  原因  %s
请查看它是否已经做了，说明结果，再继续：
  %s happened   （或 not-happened、unknown）
  %s`,
	},
}

// commands has what the commands of a conversation are for.
var commands = []reason{
	{"/help", "this list", "显示本列表"},
	{"/status", "vendors, routes and plugins: state, since when, until when, why", "供应商、路由和插件：状态、起于何时、到何时、原因"},
	{"/explain", "the story of a request, by default the last one", "一个请求的经过，默认是最近一个"},
	{"/pin", "send everything to one route and nowhere else, for so long", "在这段时间里把全部请求固定到一个路由"},
	{"/enable", "end a pin, or what disable or drain ordered", "解除固定，或收回 disable、drain 的指令"},
	{"/clear", "forget what stands against a vendor, a route or a key", "清除供应商、路由或密钥的故障记录"},
	{"/model", "who is asked first: provider/model, a model's name or an alias", "优先问谁：provider/model、模型名或别名"},
	{"/tools", "the tools that the model may call", "模型可以调用的工具"},
	{"/sessions", "the conversations that are kept", "已保存的对话"},
	{"/export", "this conversation as Markdown", "把这段对话导出为 Markdown"},
	{"/exit", "end the conversation; Ctrl-D does, too", "结束对话；Ctrl-D 也可以"},
}

// notes has the ledger's own words on calls.
var notes = []reason{
	{ledger.LostNote, ledger.LostNote, "执行它的进程在记下结果之前就结束了"},
}

// note is why a call's outcome is what it is: the ledger's words, else an error's.
func (w *lexicon) note(says string) string {
	if own := w.find(notes, says); own != "" {
		return own
	}
	return sentence(says)
}
