"""A schema registry on the loopback interface, with the two requests of Confluent's REST API that tvfsql makes."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class SchemaRegistry:
    """`schemas` are those registered, the first of which has number 1; `subjects` their subjects. Requests without the
    right `login` (name:password) are refused; the next `failures` requests fail with the status `failure`; with 0 the
    answer is cut off.
    """

    def __init__(self, login: str = "") -> None:
        self.schemas: list[dict[str, Any]] = []
        self.subjects: list[str] = []
        self.login, self.failures, self.failure, self.url = login, 0, 503, ""
        self.requests = 0

    def add(self, subject: str, schema: str, **more: Any) -> int:
        entry = {"schema": schema, **more}
        if entry not in self.schemas:
            self.schemas.append(entry)
            self.subjects.append(subject)
        return self.schemas.index(entry) + 1

    def answer(self, path: str, sent: dict[str, Any] | None, login: str | None) -> tuple[int, Any]:
        self.requests += 1
        if self.failures:
            self.failures -= 1
            return self.failure, {"message": "down"}
        if self.login and login != "Basic " + b64encode(self.login.encode()).decode():
            return 401, {"message": "Unauthorized"}
        match path.strip("/").split("/"):
            case ["schemas", "ids", number] if int(number) <= len(self.schemas):
                return 200, self.schemas[int(number) - 1]
            case ["subjects", subject, "versions"] if sent is not None:
                return 200, {"id": self.add(subject, sent["schema"])}
            case ["schemas", "ids", _]:
                return 404, {"error_code": 40403, "message": "Schema not found"}
        return 404, {"error_code": 404, "message": f"there is no {path}"}


@contextmanager
def schema_registry(login: str = "") -> Iterator[SchemaRegistry]:
    registry = SchemaRegistry(login)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.respond(None)

        def do_POST(self) -> None:
            self.respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def respond(self, sent: dict[str, Any] | None) -> None:
            status, body = registry.answer(self.path, sent, self.headers["Authorization"])
            data = json.dumps(body).encode()
            self.send_response(status or 200)
            self.send_header("Content-Length", str(len(data) if status else len(data) + 1))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield registry
        server.shutdown()
        thread.join()
