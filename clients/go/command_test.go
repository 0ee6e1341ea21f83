package kafkastub

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// packed is an archive with a command that only prints.
func packed(t *testing.T, platform string) Archive {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	entries := tar.NewWriter(zipped)
	script := []byte("#!/bin/sh\necho packed\n")
	for _, header := range []tar.Header{
		{Name: "kafkastub", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "kafkastub/kafkastub", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(script))},
	} {
		if err := entries.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			entries.Write(script)
		}
	}
	entries.Close()
	zipped.Close()
	return Archive{platform, "1.0.0", fmt.Sprintf("%x", sha256.Sum256(content.Bytes())), content.Bytes()}
}

// only has these archives known, and nothing else in reach.
func only(t *testing.T, known ...Archive) string {
	t.Helper()
	before := archives
	archives = known
	t.Cleanup(func() { archives = before })
	cache := filepath.Join(t.TempDir(), "cache")
	t.Setenv("KAFKASTUB_CACHE", cache)
	t.Setenv("KAFKASTUB", "")
	t.Setenv("PATH", t.TempDir())
	return cache
}

func executable(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "kafkastub")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheFirstCommandThatThereIsCounts(t *testing.T) {
	onPath := t.TempDir()
	given, named, last := executable(t, t.TempDir()), executable(t, t.TempDir()), executable(t, onPath)
	cache := only(t, packed(t, platform()))
	t.Setenv("PATH", onPath)
	if found := must[string](t)(Command("")); !strings.HasPrefix(found, cache) {
		t.Errorf("%s is not the packaged one", found)
	}
	t.Setenv("KAFKASTUB", named)
	if found := must[string](t)(Command("")); found != named {
		t.Errorf("%s is not that of KAFKASTUB", found)
	}
	if found := must[string](t)(Command(given)); found != given {
		t.Errorf("%s is not the one that was given", found)
	}
	t.Setenv("KAFKASTUB", "")
	archives = nil
	if found := must[string](t)(Command("")); found != last {
		t.Errorf("%s is not the one on the PATH", found)
	}
}

func TestWhatCannotBeFoundIsToldInASentence(t *testing.T) {
	damaged := packed(t, platform())
	damaged.Content = damaged.Content[:len(damaged.Content)-1]
	for _, test := range []struct {
		known []Archive
		named string
		says  string
	}{
		{nil, "", "no kafkastub was found: set the environment variable KAFKASTUB to its command"},
		{nil, "/no/such", "KAFKASTUB=/no/such is refused: there is no such program that can be run"},
		{[]Archive{packed(t, "plan9-mips")}, "", "there is no packaged kafkastub for " + platform() + ", only for plan9-mips"},
		{[]Archive{damaged}, "", "is damaged: its SHA-256 is "},
	} {
		only(t, test.known...)
		t.Setenv("KAFKASTUB", test.named)
		if _, err := Command(""); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q is not in: %v", test.says, err)
		}
	}
}

func TestAnArchiveIsUnpackedOnceWhoeverAsks(t *testing.T) {
	archive := packed(t, platform())
	cache := only(t, archive)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := Command(""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found := must[[]os.DirEntry](t)(os.ReadDir(cache))
	if len(found) != 1 || found[0].Name() != "1.0.0-"+archive.SHA256[:12] {
		t.Errorf("the cache has %v", found)
	}
	archive.Content = nil // what is there is not unpacked again
	archives = []Archive{archive}
	must[string](t)(Command(""))
}

func TestAProcessThatIsNoLauncherIsToldWithWhatItSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "liar")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho no such option >&2\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Launch(path); err == nil || !strings.Contains(err.Error(), "did not start (exit status 2); it said: \"no such option") {
		t.Errorf("the start gave %v", err)
	}
}
