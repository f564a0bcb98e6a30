"""A service that answers requests over HTTP, and counts them; ``with FakeServer(scale=0.5) as server: server.url``."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

if __name__ == "__main__":  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from noisy_sum import Switches, answer, fault_of, generator
else:
    from oracles.external.noisy_sum import Switches, answer, fault_of, generator


class FakeServer:
    """A service of this process, in threads; ``switches`` may be changed while it runs.

    Attributes
    ----------
    switches : Switches
    requests : list of dict
        Every request that was read, those that met a fault included.
    most_open : int
        Most requests that were open at once.
    refusals : list of int
        HTTP statuses (or 0: a closed connection) of the next answers, whatever is asked; used up from the front.
    chunked, keep_alive : bool
        Whether answers come in chunks, and whether a connection stays open after an answer.
    """

    def __init__(self, port: int = 0, **switches: Any) -> None:
        self.switches = Switches(**switches)
        self.requests: list[dict[str, Any]] = []
        self.open = self.most_open = 0
        self.refusals: list[int] = []
        self.chunked, self.keep_alive = False, True
        self.lock, self.over = threading.Lock(), threading.Event()
        self.connections: set[socket.socket] = set()
        fake = self

        class Handler(FakeHandler):
            server_of = fake

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/release"

    @property
    def count(self) -> int:
        """Requests that were read so far."""
        return len(self.requests)

    def change(self, **switches: Any) -> None:
        self.switches = replace(self.switches, **switches)

    def drop_connections(self) -> None:
        """Close every connection that is open and idle, as a server does after a while."""
        with self.lock:
            for connection in self.connections:
                with suppress(OSError):  # it is closed already
                    connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> FakeServer:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, stop: BaseException | None, at: TracebackType | None) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


class FakeHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: FakeServer
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        with self.server_of.lock:
            self.server_of.connections.add(self.connection)

    def finish(self) -> None:
        with self.server_of.lock:
            self.server_of.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        fake = self.server_of
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if not raw.endswith(b"\n"):  # the other side closed the connection
            self.close_connection = True
            return
        request = json.loads(raw)
        with fake.lock:
            fake.requests.append(request)
            fake.open += 1
            fake.most_open = max(fake.most_open, fake.open)
            refusal = fake.refusals.pop(0) if fake.refusals else None
        try:
            self.respond(request, fake.switches, refusal)
        except OSError:  # the other side closed the connection
            self.close_connection = True
        finally:
            with fake.lock:
                fake.open -= 1

    def respond(self, request: dict[str, Any], switches: Switches, refusal: int | None) -> None:
        rng = generator(request, switches)
        fault = fault_of(request, switches, rng)
        time.sleep(switches.pause)
        status = refusal if refusal is not None else int(fault) if fault.isdigit() else 200
        if fault == "hang":
            self.server_of.over.wait()
        if not status or fault in ("close", "exit", "signal"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        text = "".join(f"{line}\n" for line in answer(request, switches, fault, rng)).encode()
        body = text if status == 200 else b"something is wrong\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/jsonl")
        if not self.server_of.keep_alive:
            self.send_header("Connection", "close")
        self.send_body(body, fault)

    def send_body(self, body: bytes, fault: str) -> None:
        if self.server_of.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(body), 50):
                part = body[start : start + 50]
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "half":
            self.wfile.write(body[: len(body) // 2])
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "drip":
            for i in range(len(body)):
                self.wfile.write(body[i : i + 1])
                time.sleep(0.02)
        else:
            self.wfile.write(body)


def main() -> None:
    """Serve until killed; the first line printed is the url. ``python fake_server.py '{"scale": 0.5}' [PORT]``."""
    switches = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    with FakeServer(int(sys.argv[2]) if len(sys.argv) > 2 else 0, **switches) as server:
        print(server.url, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
