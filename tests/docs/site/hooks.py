"""What mkdocs asks: pages from outside docs/, links that lead out of it, nothing from other hosts."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path

from tests.docs.site import http, reference  # noqa: E402
from tests.docs.site.links import in_prose, relinked, resourced  # noqa: E402
from tests.docs.site.order import navigation  # noqa: E402

OUTSIDE: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
    "examples/README.md": "examples.md",
}
"""Pages that do not lie in docs/, and what they are called in the site."""


_HOSTS: Final = re.compile(r"https://(?:unpkg\.com|api\.github\.com|gitlab\.com|[a-z.]+/api)/")
_INDEXES: Final = re.compile(r"(?<=\])\[(\d+)\]")
"""`codes[0][1]` is no link, although it looks like one of Markdown's."""


_NAME: Final = re.compile(r"`?(?:[\w./-]*/)?[\w-]+\.md`?")
"""Of a file: readers of the site want the page's."""


def on_files(files: Files, *, config: Any) -> Files:
    """With the pages that are made, or lie elsewhere; and the order of all."""
    made = {name: (ROOT / path).read_text() for path, name in OUTSIDE.items()}
    made["reference/http.md"] = http.page(json.loads((ROOT / "docs" / "openapi.json").read_text()))
    made |= {f"reference/{name}.md": text for name, text in reference.pages().items()}
    made["assets/javascripts/iframe-worker.js"] = (Path(__file__).parent / "worker.js").read_text()
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    config.nav = navigation([file.src_uri for file in files.documentation_pages()])
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Links between pages as the site has them; of one that leads to no page of it the text stays."""
    here = next((path for path, name in OUTSIDE.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")

    def found(link: str) -> tuple[File, str] | None:
        path, hash_, fragment = link.partition("#")
        whole = normpath(f"{dirname(here)}/{path}") if dirname(here) else normpath(path)
        inside = OUTSIDE.get(whole) or (whole.removeprefix("docs/") if whole.startswith("docs/") else "")
        target = files.get_file_from_path(inside) if inside else None
        if target is None:
            return None
        return target, f"{relpath(inside, dirname(page.file.src_uri) or '.')}{hash_}{fragment}"

    def change(mark: str, text: str, link: str) -> str:
        if re.match(r"[a-z]+:|#", link):
            return f"{mark}[{text}]({link})"
        target = found(link)
        if target is None:
            return text
        if _NAME.fullmatch(text) and target[0].is_documentation_page():
            text = _title(target[0])
        return f"{mark}[{text}]({target[1]})"

    def lead(link: str) -> str | None:
        target = None if re.match(r"[a-z]+:|#", link) else found(link)
        return None if target is None else target[1]

    markdown = resourced(markdown, lead)
    return in_prose(relinked(markdown, change), lambda piece: _INDEXES.sub(r"\\[\1\\]", piece))


def _title(page: File) -> str:
    return page.content_string.partition("\n")[0].removeprefix("# ")


def on_post_build(*, config: Any) -> None:
    """What the theme's script would load for diagrams and the like, which no page has, it can load from nowhere."""
    site = Path(config.site_dir)
    for script in (site / "assets").rglob("*.js"):
        text = script.read_text()
        cut = re.sub(r"\n?//# sourceMappingURL=\S+", "", _HOSTS.sub("/none/", text))
        if cut != text:
            script.write_text(cut)
    for spare in (*site.rglob("*.map"), *site.glob("sitemap.xml*"), site / "404.html"):
        spare.unlink()
