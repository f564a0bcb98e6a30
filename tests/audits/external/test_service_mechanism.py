"""A service behind a door: what it answers, what is tried again, and what is an output."""

from __future__ import annotations

import json
import math
import random
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from oracles.external.fake_server import FakeServer
from oracles.external.noisy_sum import answer

from audits import Budget, ServiceMechanism, StreamKey, point_claim
from audits.external.connections import Connection
from audits.external.wire import checked_url
from audits.harness.calls import CallEnded, NoAnswer
from audits.harness.output_leaves import Refusal
from audits.harness.returned import WrongRows
from audits.search import NamedPair
from audits.sequential import audit_sparingly
from mechanisms import Dataset, NeighbouringPair

POISON = 0.75
CLEAN = Dataset([[0.5], [0.25]], [0.5, 0.25], x_bound=1.0, y_bound=1.0)
BAD = Dataset([[0.5], [0.25]], [0.5, POISON], x_bound=1.0, y_bound=1.0)
LARGE = Dataset(np.zeros((100_000, 1)), np.zeros(100_000), x_bound=1.0, y_bound=1.0)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.external.open_door.PAUSES", (0.001, 0.001, 0.001))


def literal(server: FakeServer, dataset: Dataset, n_draws: int, seed: int = 1) -> list[Any]:
    """The twin: what the fake answers to the seed that ``rng`` gives, called in this process."""
    sent = int(rng(seed).integers(2**53))
    lines = answer({"y": dataset.y.tolist(), "n_draws": n_draws}, server.switches, "", random.Random(sent))
    return [json.loads(line) for line in lines]


@contextmanager
def raw_server(*replies: bytes, read: bool = True) -> Iterator[tuple[str, list[bytes]]]:
    """A service that answers each connection's first request with some bytes and closes it; yields what it read."""
    listening = socket.create_server(("127.0.0.1", 0))
    heads: list[bytes] = []

    def serve() -> None:
        for reply in replies:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(ConnectionError):  # whoever asked may have gone
                heads.append(connection.recv(1 << 16) if read else b"")
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/a?token=secret", heads
    finally:
        listening.close()


@pytest.mark.parametrize(("chunked", "keep_alive"), [(False, True), (True, True), (False, False)])
def test_outputs_are_those_of_the_service(server: FakeServer, chunked: bool, keep_alive: bool) -> None:
    server.chunked, server.keep_alive = chunked, keep_alive
    mechanism = ServiceMechanism(server.url)
    for n_draws in (1, 7, 100):
        assert mechanism.draw(BAD, n_draws, rng=rng()) == literal(server, BAD, n_draws)
    assert server.count == 3
    assert server.requests[0] == {"X": [[0.5], [0.25]], "y": [0.5, 0.75], "n_draws": 1, "seed": rng().integers(2**53)}
    assert len(mechanism.draw(LARGE, 300, rng=rng())) == 300
    assert [request["n_draws"] for request in server.requests[3:]] == [100, 100, 100]


ENDS = [
    ("close", CallEnded, r"^closed$", 1),
    ("half", CallEnded, r"^closed$", 1),
    ("500", CallEnded, r"^HTTP 500$", 1),
    ("404", CallEnded, r"^HTTP 404$", 1),
    ("302", CallEnded, r"^HTTP 302$", 1),
    ("503", NoAnswer, r"^the service answered HTTP 503 every time$", 4),
    ("504", NoAnswer, r"^the service answered HTTP 504 every time$", 4),
    ("short", WrongRows, r"got 2 lines for 3 draws", 1),
    ("long", WrongRows, r"got more than 3 lines", 1),
    (
        "hang",
        NoAnswer,
        r"^a request for 3 draws got no answer in 0.2 s \(mechanism.timeout, or fewer draws a request",
        1,
    ),
    ("drip", NoAnswer, r"^a request for 3 draws got (no answer|\d of 3 lines) in 0.2 s ", 1),
]


@pytest.mark.parametrize(("fault", "kind", "words", "asked"), ENDS, ids=[end[0] for end in ENDS])
def test_what_a_service_does_instead_of_answering(
    server: FakeServer, fault: str, kind: type[BaseException], words: str, asked: int
) -> None:
    """On one data set it does; on the other it answers, before and after."""
    mechanism = ServiceMechanism(server.url)
    assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)
    server.change(fault=fault, poison=POISON)
    mechanism._door.timeout = 0.2 if "0.2" in words else 60
    with pytest.raises(kind, match=words):
        mechanism.draw(BAD, 3, rng=rng())
    assert server.count == 1 + asked
    assert all(request == server.requests[1] for request in server.requests[1:])
    if kind is NoAnswer:
        with pytest.raises(NoAnswer, match=words):  # at once, and for any request
            mechanism.draw(CLEAN, 1, rng=rng())
        assert server.count == 1 + asked
        mechanism.close()
        mechanism._door.timeout = 60
    assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)


@pytest.mark.parametrize(
    ("fault", "kind", "asked"),
    [
        ("hang", "timeout", 1),
        ("drip", "timeout", 1),
        *((status, f"HTTP {status}", 1) for status in ("429", "502", "503", "504")),
    ],
)
def test_what_load_may_have_done_is_an_output_where_that_is_asked_for(
    server: FakeServer, fault: str, kind: str, asked: int
) -> None:
    server.change(fault=fault, poison=POISON)
    mechanism = ServiceMechanism(server.url, timeouts="output", timeout=0.2 if kind == "timeout" else 60)
    with pytest.raises(CallEnded, match=f"^{kind}$"):
        mechanism.draw(BAD, 3, rng=rng())
    assert server.count == asked
    mechanism._door.timeout = 60
    assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)


def test_an_error_line_is_a_refusal_and_a_status_an_end_without_its_body(server: FakeServer) -> None:
    server.change(fault="error", poison=POISON)
    refusals = ServiceMechanism(server.url).draw(BAD, 2, rng=rng())
    assert all(isinstance(output, Refusal) for output in refusals)
    ends = set()
    for text in (b"a", b"b", b"b", b""):
        head = b"HTTP/1.1 500 X\r\nContent-Length: %d\r\n\r\n" % len(text)
        with raw_server(head + text) as (url, _), pytest.raises(CallEnded) as stop:
            ServiceMechanism(url).draw(CLEAN, 1, rng=rng())
        ends.add(stop.value.kind)
    assert ends == {"HTTP 500"}


def test_an_answer_has_one_status() -> None:
    """A service that tells data sets apart by 200 and 201 gives no answer with the latter."""
    head = b"HTTP/1.1 201 X\r\nContent-Length: 2\r\n\r\n1\n"
    with raw_server(head) as (url, _), pytest.raises(CallEnded, match=r"^HTTP 201$"):
        ServiceMechanism(url).draw(CLEAN, 1, rng=rng())


@pytest.mark.parametrize("refusals", [[503], [429, 504], [502, 503, 503]])
def test_a_request_that_did_not_reach_the_mechanism_is_sent_again_and_counts_once(
    server: FakeServer, refusals: list[int]
) -> None:
    mechanism = ServiceMechanism(server.url)
    server.refusals = list(refusals)
    assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)
    assert server.count == 1 + len(refusals)
    assert all(request == server.requests[0] for request in server.requests)


@pytest.mark.parametrize("refusals", [[0], [503, 0], [504, 429, 0]])
def test_a_connection_that_closes_after_a_request_is_an_output_at_once(server: FakeServer, refusals: list[int]) -> None:
    mechanism = ServiceMechanism(server.url)
    for used in (False, True):
        server.refusals = list(refusals)
        with pytest.raises(CallEnded, match=r"^closed$"):
            mechanism.draw(CLEAN, 3, rng=rng())
        assert server.count == len(refusals) + used * (len(refusals) + 1)
        assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)


def test_connections_closed_while_they_were_idle_are_no_attempts(server: FakeServer) -> None:
    mechanism = ServiceMechanism(server.url, concurrency=2)
    for _ in range(3):
        server.drop_connections()
        server.refusals = [503, 503, 503]  # all the attempts there are, less one
        assert mechanism.draw(CLEAN, 3, rng=rng()) == literal(server, CLEAN, 3)
    assert server.count == 3 * 4


#: Sums are equal, so that an answer says nothing of the record more.
EQUAL = NamedPair("a nought more", NeighbouringPair.add(Dataset([[0.5]], [0.5], x_bound=1.0, y_bound=1.0), [0.5], 0.0))
#: Most of what may fail under epsilon = 1: answers, too, are then as far apart as may be.
RATE = math.e / (1 + math.e)


@pytest.mark.parametrize(
    ("rate", "elsewhere", "n_draws", "refuted"),
    [(RATE, RATE / math.e, 400, False), (RATE / math.e, RATE, 400, False), (1.0, 0.0, 200, True)],
)
def test_a_connection_that_closes_by_chance_is_judged_by_that_chance_alone(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, rate: float, elsewhere: float, n_draws: int, refuted: bool
) -> None:
    """(1, 0) with equality, and a service that closes on one record; level .01. The service's noise is its own."""
    noise = random.Random(1)
    monkeypatch.setattr("oracles.external.fake_server.generator", lambda *_: noise)
    server.change(fault="close", poison=0.0, rate=rate, elsewhere=elsewhere)
    mechanism = ServiceMechanism(server.url, concurrency=1, reproducible=False)
    budget = Budget(n_draws, 0.01, StreamKey(1))
    assert audit_sparingly(mechanism, [EQUAL], point_claim(1.0, 0.0), budget).refuted is refuted
    assert server.count <= n_draws


def test_nobody_there_ends_the_audit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(NoAnswer, match=r"^the service does not accept connections \(Connection refused\)$"):
        ServiceMechanism(f"http://127.0.0.1:{port}/").draw(CLEAN, 1, rng=rng())
    with pytest.raises(NoAnswer, match=r"^the service does not accept connections "):
        ServiceMechanism(f"http://{'a' * 64}.invalid/").draw(CLEAN, 1, rng=rng())


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"no HTTP at all\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n1\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n1\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n1\n",
    ],
)
def test_half_an_answer_and_no_http_are_a_connection_that_closed(reply: bytes) -> None:
    with raw_server(reply, reply) as (url, heads):
        with pytest.raises(CallEnded, match=r"^closed$"):
            ServiceMechanism(url).draw(CLEAN, 1, rng=rng())
        assert len(heads) == 1


def test_an_answer_may_come_before_the_request_was_read_and_without_a_length() -> None:
    refused = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
    with raw_server(refused) as (url, _), pytest.raises(CallEnded, match=r"^HTTP 413$"):
        ServiceMechanism(url).draw(LARGE, 1, rng=rng())
    with raw_server(b"HTTP/1.0 200 OK\r\n\r\n[1,\t2]") as (url, heads):
        assert ServiceMechanism(url).draw(CLEAN, 1, rng=rng()) == [[1.0, 2.0]]
        assert heads[0].startswith(b"POST /a?token=secret HTTP/1.1\r\n")


def test_headers_and_hints_that_never_end_run_out_of_time() -> None:
    for reply in (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n"):
        listening = socket.create_server(("127.0.0.1", 0))
        done = threading.Event()

        def serve(listening: socket.socket = listening, reply: bytes = reply, done: Any = done) -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(reply)
                done.wait()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(NoAnswer, match=r"got no answer in 0.2 s"):
            ServiceMechanism(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=0.2).draw(CLEAN, 1, rng=rng())
        done.set()
        thread.join()
        listening.close()


def test_a_service_may_say_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.external.connections.MOST_PAUSE", 0.01)
    monkeypatch.setattr("audits.external.open_door.PAUSES", (0.0, 0.0, 0.0))
    waited: list[float] = []
    wait = threading.Event.wait
    monkeypatch.setattr(threading.Event, "wait", lambda self, s=None: waited.append(s) or wait(self, s))
    busy = b"HTTP/1.1 429 X\r\nContent-Length: 0\r\nRetry-After: %s\r\n\r\n"
    replies = [busy % b"0", busy % b"100000", busy % b"Fri, 31 Dec 1999 23:59:59 GMT"]
    with raw_server(*replies, b"HTTP/1.1 200 OK\r\n\r\n1") as (url, _):
        mechanism = ServiceMechanism(url)
        waited.clear()
        assert mechanism.draw(CLEAN, 1, rng=rng()) == [1.0]
    assert waited == [0.0, 0.01, 0.0]


def test_calls_of_many_threads_get_their_own_answers_over_few_connections(server: FakeServer) -> None:
    server.change(pause=0.001)
    mechanism = ServiceMechanism(server.url, concurrency=3)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda seed: mechanism.draw(CLEAN, 3, rng=rng(seed)), range(60)))
    assert results == [literal(server, CLEAN, 3, seed) for seed in range(60)]
    assert server.count == 60
    assert 1 < server.most_open <= 3
    assert len(server.connections) <= 3


def test_closing_ends_requests_that_are_open(server: FakeServer) -> None:
    server.change(fault="hang", poison=POISON)
    mechanism = ServiceMechanism(server.url, concurrency=2)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(mechanism.draw, BAD, 1, rng=rng()) for _ in range(4)]
        while server.open < 2:
            pass
        mechanism.close()
        for call in waiting:
            with pytest.raises(NoAnswer, match=r"^the door was closed$"):
                call.result()
    assert mechanism.draw(CLEAN, 1, rng=rng()) == literal(server, CLEAN, 1)
    assert mechanism.fresh() is mechanism


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://a/b", "url must be a url of http or https with a host, got url=ftp:…"),
        ("a/b", "url must be a url of http or https with a host"),
        ("http:///b", "url must be a url of http or https with a host"),
        ("http://a:99999/", "url must be a url of http or https, got something else"),
        ("http://a:0/", "url must be a url of http or https with a host"),
        ("http://a/b c", "url must be a url of http or https with a host"),
        ("http://user:secret@a/", "url must be without user and password, got one with them"),
    ],
)
def test_urls_that_nothing_is_sent_to_are_refused_without_a_secret(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as stop:
        ServiceMechanism(url)
    assert "secret" not in str(stop.value)


def test_a_name_and_a_repr_show_nothing_of_a_query() -> None:
    mechanism = ServiceMechanism("https://host:8443/v1/release?token=secret#part")
    assert mechanism.name == "https://host:8443/v1/release"
    assert "secret" not in repr(mechanism)


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("http://[::1]", "::1", 80, "/"),
        ("https://[::1]:8443/a", "::1", 8443, "/a"),
        ("https://host/a?b=%20&c", "host", 443, "/a?b=%20&c"),
        ("HTTP://host:80?b", "host", 80, "/?b"),
    ],
)
def test_a_url_says_where_a_request_goes(url: str, host: str, port: int, target: str) -> None:
    connection = Connection(checked_url(url))
    assert (connection._http.host, connection._http.port, connection._target) == (host, port, target)
