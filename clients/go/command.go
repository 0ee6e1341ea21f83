package kafkastub

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Archive is a packaged kafkastub: what `make binary` makes, for one platform.
type Archive struct {
	// Platform is as kafkastub names it, linux-x86_64.
	Platform string
	Version  string
	// SHA256 is the digest of Content in hexadecimal digits.
	SHA256  string
	Content []byte
}

var (
	archives      []Archive
	archivesMutex sync.Mutex
)

// Register makes an archive known. Packages that have one call it when they are loaded.
func Register(archive Archive) {
	archivesMutex.Lock()
	defer archivesMutex.Unlock()
	archives = append(archives, archive)
}

// platform is this machine, as kafkastub names it.
func platform() string {
	system := map[string]string{"darwin": "macos"}[runtime.GOOS]
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return cmp.Or(system, runtime.GOOS) + "-" + cmp.Or(machine, runtime.GOARCH)
}

// Command finds the command: the one that is given, that of the environment variable KAFKASTUB, the packaged one, or
// kafkastub on the PATH; the first of them that there is.
func Command(given string) (string, error) {
	for _, named := range []struct{ by, command string }{{"the command", given}, {"KAFKASTUB", os.Getenv("KAFKASTUB")}} {
		if named.command == "" {
			continue
		}
		found, err := exec.LookPath(named.command)
		if err != nil {
			return "", fmt.Errorf("kafkastub: %s=%s is refused: there is no such program that can be run", named.by, named.command)
		}
		return filepath.Abs(found)
	}
	archivesMutex.Lock()
	known := slices.Clone(archives)
	archivesMutex.Unlock()
	for _, archive := range known {
		if archive.Platform == platform() {
			return unpacked(archive)
		}
	}
	if found, err := exec.LookPath("kafkastub"); err == nil {
		return filepath.Abs(found)
	}
	if len(known) > 0 {
		return "", fmt.Errorf("kafkastub: there is no packaged kafkastub for %s, only for %s: set the environment variable KAFKASTUB to the "+
			"command, or put kafkastub on the PATH", platform(), known[0].Platform)
	}
	return "", errors.New("kafkastub: no kafkastub was found: set the environment variable KAFKASTUB to its command, import " +
		"github.com/kafkastub/kafkastub-go/binary, or put kafkastub on the PATH")
}

// cache is where archives are unpacked.
func cache() (string, error) {
	if folder := os.Getenv("KAFKASTUB_CACHE"); folder != "" {
		return folder, nil
	}
	if folder := os.Getenv("XDG_CACHE_HOME"); folder != "" {
		return filepath.Join(folder, "kafkastub"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("kafkastub: there is no place to unpack the packaged command: set KAFKASTUB_CACHE to a folder (%w)", err)
	}
	return filepath.Join(home, ".cache", "kafkastub"), nil
}

// unpacked gives the command of an archive, which is unpacked by the first who asks: into a folder beside its place, which then
// gets that name. Any number of processes may do so at once.
func unpacked(archive Archive) (string, error) {
	folder, err := cache()
	if err != nil {
		return "", err
	}
	place := filepath.Join(folder, archive.Version+"-"+archive.SHA256[:12])
	command := filepath.Join(place, "kafkastub", "kafkastub")
	if _, err := os.Stat(command); err == nil {
		return command, nil
	}
	if digest := fmt.Sprintf("%x", sha256.Sum256(archive.Content)); digest != strings.ToLower(archive.SHA256) {
		return "", fmt.Errorf("kafkastub: the packaged kafkastub for %s is damaged: its SHA-256 is %s, expected %s: install its package again",
			archive.Platform, digest, archive.SHA256)
	}
	if err := unpack(archive, folder, place); err != nil {
		return "", fmt.Errorf("kafkastub: the packaged kafkastub cannot be unpacked into %s: %w; KAFKASTUB_CACHE names another folder", folder, err)
	}
	return command, nil
}

func unpack(archive Archive, folder, place string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(folder, ".unpacking-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	packed, err := gzip.NewReader(bytes.NewReader(archive.Content))
	if err != nil {
		return err
	}
	for entries := tar.NewReader(packed); ; {
		entry, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := put(fresh, entry, entries); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, place); err != nil {
		if _, there := os.Stat(place); there == nil {
			return nil // somebody else was first
		}
		return err
	}
	return nil
}

func put(folder string, entry *tar.Header, content io.Reader) error {
	if !filepath.IsLocal(entry.Name) {
		return fmt.Errorf("%s is not a name within a folder", entry.Name)
	}
	path := filepath.Join(folder, filepath.FromSlash(entry.Name))
	if entry.Typeflag == tar.TypeDir {
		return os.MkdirAll(path, 0o755)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(entry.Mode)&0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// Digest reads the digest of a file as sha256sum writes it: hexadecimal digits, two blanks, a name.
func Digest(text string) string {
	digest, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if _, err := hex.DecodeString(digest); err != nil || len(digest) != 2*sha256.Size {
		return strings.Repeat("0", 2*sha256.Size) // fits nothing
	}
	return digest
}
