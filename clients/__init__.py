"""Packages that start kafkastub from the tests of other languages, a folder a language; the binary that they use."""
