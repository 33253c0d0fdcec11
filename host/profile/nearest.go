package profile

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns up to three of known that are likely to be meant by s, best
// first.
func Nearest(s string, known []string) []string {
	const most, maxLen = 3, 64
	if s == "" || utf8.RuneCountInString(s) > maxLen {
		return nil
	}
	type candidate struct {
		text string
		far  int
	}
	limit := max(2, utf8.RuneCountInString(s)/3)
	var near []candidate
	for _, k := range known {
		if utf8.RuneCountInString(k) > maxLen {
			continue
		}
		if far := distance(strings.ToLower(s), strings.ToLower(k)); far <= limit {
			near = append(near, candidate{k, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var texts []string
	for _, c := range near[:min(len(near), most)] {
		texts = append(texts, c.text)
	}
	return texts
}

// distance is the number of runes to insert, delete or replace to make b of a.
func distance(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1) // distances from a's prefix to every prefix of b
	for j := range row {
		row[j] = j
	}
	for i, r := range []rune(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j, t := range to {
			cost := diagonal
			if r != t {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}
