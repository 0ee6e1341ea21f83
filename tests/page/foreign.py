"""A web site of somebody else, which tries what a site can try with a control port."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

ATTEMPTS = """
async function attempt(name, work) {
  const late = new Promise((_, no) => setTimeout(() => no(new Error('late')), 5000));
  try { return [name, await Promise.race([work(), late])]; }
  catch (error) { return [name, 'refused: ' + error.message]; }
}
const TEXT = {'content-type': 'text/plain'}, JSONS = {'content-type': 'application/json'};
const post = (path, options) => fetch(STUB + path, {method: 'POST', ...options}).then(one => one.status);
const loads = (made, address) => new Promise((yes, no) => {
  made.onload = () => yes('loaded');
  made.onerror = () => no(new Error('error'));
  made.src = address;
  document.body.append(made);
});
window.attempts = async () => [
  await attempt('read', () => fetch(STUB + '/v1/config').then(one => one.text())),
  await attempt('read the page', () => fetch(STUB + '/').then(one => one.text())),
  await attempt('post', () => post('/v1/clock/freeze')),
  await attempt('post as a form', () => post('/v1/clock/freeze', {mode: 'no-cors', headers: TEXT})),
  await attempt('post with json', () => post('/v1/faults', {body: '{"api":"Fetch","delay_ms":1}', headers: JSONS})),
  await attempt('put', () => fetch(STUB + '/v1/chaos', {method: 'PUT', body: '{"seed":1}'}).then(one => one.status)),
  await attempt('delete', () => fetch(STUB + '/v1/topics/t', {method: 'DELETE'}).then(one => one.status)),
  await attempt('page header', () => post('/v1/clock/freeze', {headers: {'x-kafkastub-page': 'guess'}})),
  await attempt('beacon', async () => navigator.sendBeacon(STUB + '/v1/clock/freeze') && 'sent'),
  await attempt('image', () => loads(new Image(), STUB + '/page/icon.svg')),
  await attempt('script', () => loads(document.createElement('script'), STUB + '/page/app.js')),
  await attempt('events', () => new Promise((yes, no) => {
    const source = new EventSource(STUB + '/v1/events?subjects=groups');
    source.onopen = () => yes('open'); source.onerror = () => { source.close(); no(new Error('error')); };
  })),
  await attempt('frame', async () => {
    const frame = document.createElement('iframe');
    await loads(frame, STUB + '/');
    let seen = null;
    try { seen = frame.contentDocument?.body?.innerText } catch (error) { seen = null }
    return seen ? 'seen ' + seen : 'nothing seen';
  }),
  await attempt('form', async () => {
    const form = document.createElement('form');
    const frame = document.createElement('iframe');
    frame.name = 'into';
    document.body.append(frame, form);
    form.method = 'post'; form.action = STUB + '/v1/clock/freeze'; form.target = 'into'; form.enctype = 'text/plain';
    const done = new Promise(yes => { frame.onload = () => yes('sent'); });
    form.submit();
    return done;
  }),
];
"""


class ForeignSite:
    """At `url`, another origin than the stub's; `host` may be another name for this machine."""

    def __init__(self, stub: str, host: str = "127.0.0.1") -> None:
        text = (
            f"<!doctype html><title>elsewhere</title><body><script>const STUB = {json.dumps(stub)};{ATTEMPTS}</script>"
        )

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = text.encode()
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://{host}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
