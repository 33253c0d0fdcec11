package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// trusted refuses a file that somebody else could have put there or changed.
func trusted(source string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is no regular file")
	case info.Mode().Perm()&0o111 == 0:
		return errors.New("is not executable (chmod +x it)")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o; chmod go-w it)", info.Mode().Perm())
	}
	if err := ownedByUs(info); err != nil {
		return err
	}
	return sheltered(filepath.Dir(source), "its folder")
}

// private refuses a folder of copies in which somebody else could swap a file,
// or which somebody else could swap as a whole. The folders above those two are
// the profile's: whoever can change it decides what runs anyway.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	const what = "the folder of its copy"
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return changeable(dir, what, info)
	}
	if err := ownedByUs(info); err != nil {
		return fmt.Errorf("%s %s %w", what, dir, err)
	}
	return sheltered(filepath.Dir(dir), "the folder above its copy's")
}

// sheltered refuses a folder in which somebody else could rename or replace what
// is ours. In a sticky one, such as /tmp, nobody can.
func sheltered(dir, what string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
		return changeable(dir, what, info)
	}
	if err := ownedByUs(info); err != nil {
		return fmt.Errorf("%s %s %w", what, dir, err)
	}
	return nil
}

func changeable(dir, what string, info os.FileInfo) error {
	return fmt.Errorf("%s %s can be changed by others (mode %s; chmod go-w it)", what, dir, info.Mode())
}
