"""A publisher of PubMed files on loopback, like NLM's server, with the faults that a test chooses."""

import gzip
import hashlib
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from pubmed_files import join_articles


class Publisher:
    """Files by path; ``faults`` by path give the faults of the next requests for it.

    Faults: "cut" sends half of the body, "slow" sends it in small pieces, "busy" answers with status 503. ``md5`` has
    checksums that differ from those of the files; ``replacements`` are published after a request for the checksum.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.listed: dict[str, list[str]] = {"baseline": [], "updatefiles": []}
        self.faults: dict[str, list[str]] = {}
        self.md5: dict[str, str] = {}
        self.replacements: dict[str, bytes] = {}
        self.requests: Counter[str] = Counter()
        self.ranges: list[tuple[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                publisher._answer(self)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """Print nothing about clients that leave."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/pubmed"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def publish(self, folder: str, name: str, *parts: str) -> str:
        """Publish a file with its checksum; return its path."""
        path = f"{folder}/{name}.xml.gz"
        self.files[path] = gzip.compress(join_articles(*parts), mtime=0)
        if f"{name}.xml.gz" not in self.listed[folder]:
            self.listed[folder].append(f"{name}.xml.gz")
        return path

    def withdraw_year(self, prefix: str) -> None:
        """Remove all files whose names begin so."""
        for folder, names in self.listed.items():
            self.listed[folder] = [name for name in names if not name.startswith(prefix)]
        self.files = {path: content for path, content in self.files.items() if f"/{prefix}" not in path}

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self._answer_one(request, request.path.removeprefix("/pubmed/"))
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer_one(self, request: BaseHTTPRequestHandler, path: str) -> None:
        self.requests[path] += 1
        fault = self.faults[path].pop(0) if self.faults.get(path) else ""
        if fault == "busy":
            _send(request, 503, b"busy", [("Retry-After", "0")])
        elif path.rstrip("/") in self.listed:
            _send(request, 200, self._render_listing(path.rstrip("/")))
        elif path.endswith(".md5") and path.removesuffix(".md5") in self.files:
            content = self.files[path.removesuffix(".md5")]
            found = self.md5.get(path.removesuffix(".md5")) or hashlib.md5(content, usedforsecurity=False).hexdigest()
            _send(request, 200, f"MD5({path})= {found}\n".encode())
            if (new := self.replacements.pop(path.removesuffix(".md5"), None)) is not None:
                self.files[path.removesuffix(".md5")] = new
        elif path in self.files:
            self._send_file(request, path, fault)
        else:
            _send(request, 404, b"not found")

    def _render_listing(self, folder: str) -> bytes:
        rows = [
            f'<a href="{name}">{name}</a> 2026-01-01 10:00  999T\n<a href="{name}.md5">{name}.md5</a>'
            for name in self.listed[folder]
        ]
        return ('<html><body><pre><a href="/pubmed/">Parent</a>\n' + "\n".join(rows) + "</pre></body></html>").encode()

    def _send_file(self, request: BaseHTTPRequestHandler, path: str, fault: str) -> None:
        content = self.files[path]
        tag = f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'
        wanted = request.headers.get("Range", "")
        start = 0
        if wanted:
            self.ranges.append((path, wanted))
            if request.headers.get("If-Range") == tag:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
        body = content[start:]
        headers = [("ETag", tag)]
        if start:
            headers.append(("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"))
        if fault == "cut":
            _send(request, 206 if start else 200, body, headers, end=len(body) // 2)
        elif fault == "slow":
            _send(request, 206 if start else 200, body, headers, pieces=5)
        else:
            _send(request, 206 if start else 200, body, headers)


def _send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: list[tuple[str, str]] | None = None,
    *,
    end: int | None = None,
    pieces: int = 1,
) -> None:
    request.send_response(status)
    for name, value in headers or []:
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    step = max(1, -(-len(body) // pieces))
    for place in range(0, len(body[:end]), step):
        request.wfile.write(body[place : min(place + step, len(body) if end is None else end)])
        request.wfile.flush()
        if pieces > 1:
            time.sleep(0.02)
    if end is not None:
        request.close_connection = True
