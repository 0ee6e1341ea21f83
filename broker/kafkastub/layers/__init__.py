"""What stands between dispatcher and handler: each a wrapper that can be read alone."""
