"""The page: what a browser is shown at the control port's `/`.

    assets    its files, read when they are first asked for
    versions  what has changed since somebody looked, for pages that are kept up to date
    static/   the files: HTML, one style sheet, ES modules as they are written, `vendor/` for what others wrote

Nothing of it comes from the network, and nothing of it is built: what is in `static/` is what the browser runs. It
asks the public routes of `/v1` alone.
"""
