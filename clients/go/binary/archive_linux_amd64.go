//go:build packed

package binary

import (
	_ "embed"

	kafkastub "github.com/kafkastub/kafkastub-go"
)

//go:embed kafkastub-linux-x86_64.tar.gz
var content []byte

//go:embed kafkastub-linux-x86_64.tar.gz.sha256
var digest string

//go:embed VERSION
var version string

func init() {
	kafkastub.Register(kafkastub.Archive{
		Platform: "linux-x86_64",
		Version:  version,
		SHA256:   kafkastub.Digest(digest),
		Content:  content,
	})
}
