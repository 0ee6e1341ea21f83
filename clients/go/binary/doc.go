// Package binary has the packaged kafkastub: import it for its effect, and no Python is needed.
//
//	import _ "github.com/kafkastub/kafkastub-go/binary"
//
// It has the archive of the platform that the tests are compiled for; on others it has none, and the environment variable
// KAFKASTUB names a command. The archives are made by `make clients-packages`, and are not in the repository.
package binary
