package state

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"spillway/sdk"
)

// maxHeard bounds the changes that are kept for watchers, which ask the server
// when they have fallen further behind.
const maxHeard = 256

// heard are the latest changes that the server has told of, so that no watcher has
// to ask for them. Each says which one was told before it, so a gap is seen.
type heard struct {
	mu    sync.Mutex
	on    bool       // changes are being heard
	told  uint64     // the latest
	from  uint64     // of what came after it nothing is missing
	items []sdk.Item // in order of revisions
}

// begin says that every change after a revision will be heard, and which one was
// told last.
func (h *heard) begin(latest, told uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.from, h.told, h.items = true, latest, told, nil
}

// end says that nothing is heard any more.
func (h *heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on, h.items = false, nil
}

// add takes in a message. One that our scripts do not make is none of ours. It
// reports false if something was missed between two revisions, the second one's
// included; nothing is known then until it is filled in, or begun anew.
func (h *heard) add(message string, now time.Time) (after, until uint64, ok bool) {
	it, before, ok := readChange(message, now)
	if !ok {
		return 0, 0, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case it.Revision <= h.told: // from before the beginning
		return 0, 0, true
	case before != h.told:
		h.on = false
		return max(h.told, h.from), it.Revision, false
	}
	h.keep(it)
	return 0, 0, true
}

// fill takes in what was missed until a revision.
func (h *heard) fill(items []sdk.Item, until uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, it := range items {
		h.keep(it)
	}
	h.on, h.told = true, max(h.told, until)
}

// keep adds the latest change. h.mu is held.
func (h *heard) keep(it sdk.Item) {
	if len(h.items) == maxHeard {
		h.from = h.items[0].Revision
		h.items = slices.Delete(h.items, 0, 1)
	}
	h.items = append(h.items, it)
	h.told = max(h.told, it.Revision)
}

// since is what a backend's since returns, if it is known here. Of several changes
// of an item it has the last one.
func (h *heard) since(prefix string, after uint64, now time.Time) (items []sdk.Item, latest uint64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on || after < h.from {
		return nil, 0, false
	}
	later := map[string]bool{}
	for _, it := range slices.Backward(h.items) {
		if it.Revision <= after {
			break
		}
		if !strings.HasPrefix(it.Key, prefix) || later[it.Key] {
			continue
		}
		later[it.Key] = true
		if !expired(it, now) {
			it.Data = bytes.Clone(it.Data)
			items = append(items, it)
		}
	}
	slices.Reverse(items)
	return items, max(after, h.told), true
}

// readChange reads what our scripts publish: the revision, the one that was
// told before it, the milliseconds to live (0: for ever), the key and, unless it was
// removed, the data, with a NUL between each two.
func readChange(message string, now time.Time) (it sdk.Item, before uint64, ok bool) {
	const fields = 5
	f := strings.SplitN(message, "\x00", fields)
	if len(f) < fields-1 {
		return sdk.Item{}, 0, false
	}
	rev, err1 := strconv.ParseUint(f[0], 10, 64)
	before, err2 := strconv.ParseUint(f[1], 10, 64)
	left, err3 := strconv.ParseInt(f[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || left < 0 || left > math.MaxInt64/int64(time.Millisecond) {
		return sdk.Item{}, 0, false
	}
	it = sdk.Item{Key: f[3], Revision: rev, Deleted: len(f) < fields}
	if !it.Deleted {
		it.Data = []byte(f[4])
	}
	if left > 0 {
		it.Expires = now.Add(time.Duration(left) * time.Millisecond)
	}
	return it, before, true
}
