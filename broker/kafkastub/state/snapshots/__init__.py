"""The broker's whole state kept as it is at one moment, and put back: `taking`, `putting_back`; as bytes: `files`."""
