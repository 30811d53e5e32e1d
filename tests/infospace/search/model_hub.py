"""A model hub on this machine, as much of one as fastembed asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Hub(BaseHTTPRequestHandler):
    """As much of a model hub as fastembed asks for, over the files of one folder."""

    folder: Path
    name: str
    revision = "0" * 40

    def do_GET(self) -> None:
        names = [path.name for path in sorted(self.folder.iterdir())]
        if "/tree/" in self.path:
            sizes = [(name, (self.folder / name).stat().st_size) for name in names]
            self._send([{"type": "file", "path": name, "size": size, "oid": name} for name, size in sizes])
        elif self.path.startswith("/api/models/"):
            files = [{"rfilename": name} for name in names]
            self._send({"id": self.name, "sha": self.revision, "siblings": files})
        else:
            self._send(None)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, document: object) -> None:
        name = self.path.split("?")[0].rsplit("/", 1)[-1]
        content = (self.folder / name).read_bytes() if document is None else json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{name}"')
        self.send_header("X-Repo-Commit", self.revision)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serving(folder: Path, name: str) -> Iterator[str]:
    """Give the address of a hub that has one model, the files of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Hub", (Hub,), {"folder": folder, "name": name}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
