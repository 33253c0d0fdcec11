package story

import "testing"

func TestLanguageOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		want Language
	}{
		{"nothing", nil, English},
		{"LANG", map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{"upper case", map[string]string{"LANG": "ZH"}, Chinese},
		{"another language", map[string]string{"LANG": "de_DE.UTF-8"}, English},
		{"LC_MESSAGES wins over LANG", map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, Chinese},
		{"LC_ALL wins", map[string]string{"LC_ALL": "C", "LC_MESSAGES": "zh_CN", "LANG": "zh_CN"}, English},
		{"empty counts as absent", map[string]string{"LC_ALL": "", "LANG": "zh_CN"}, Chinese},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := LanguageOf(func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok })
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
