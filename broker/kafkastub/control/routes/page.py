"""/, /docs and /page: the page, for browsers."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from fastapi import Request, Response

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.keys import Keys
from kafkastub.control.page.assets import INDEX, SAFE, Asset, Assets
from kafkastub.control.problems import Problem


class Page:
    """What a browser is shown."""

    def __init__(self, keys: Keys) -> None:
        self._assets = Assets(lambda: {"page": keys.page})

    def index(self, request: Request) -> Response:
        """The page itself."""
        return self.file(INDEX, request)

    def file(self, path: str, request: Request) -> Response:
        """Raises Problem."""
        asset = self._assets.get(path)
        if asset is None:
            raise Problem(404, f"the page has no file {path!r}")
        return _sent(asset, request)


def routes(page: Page) -> Endpoints:
    """The endpoints; `/` itself is `index`'s."""
    router = Endpoints(include_in_schema=False)

    @router.api_route("/docs", methods=["GET", "HEAD"])
    async def docs(request: Request) -> Response:
        return page.index(request)

    @router.api_route("/page/{path:path}", methods=["GET", "HEAD"])
    async def file(path: str, request: Request) -> Response:
        return page.file(path, request)

    return router


def wants_page(request: Request) -> bool:
    """Whether a browser goes there, and no program that reads JSON."""
    return "text/html" in request.headers.get("accept", "")


def is_of_page(scope: MutableMapping[str, Any]) -> bool:
    """Whether a request is for the page's own files."""
    path = scope["path"]
    if path == "/":
        return b"text/html" in dict(scope["headers"]).get(b"accept", b"")
    return bool(path == "/docs" or path.startswith("/page/"))


def _sent(asset: Asset, request: Request) -> Response:
    headers = {**SAFE, "etag": asset.tag, "cache-control": "no-cache", "vary": "Accept, Accept-Encoding"}
    known = request.headers.get("if-none-match", "").replace("W/", "")
    if asset.tag in (each.strip() for each in known.split(",")):
        return Response(status_code=304, headers=headers)
    content = asset.content
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content = asset.packed
        headers["content-encoding"] = "gzip"
    return Response(content, media_type=asset.media_type, headers=headers)
