"A page that only this computer can reach"
import socket
import threading
import webbrowser
from http.client import HTTPConnection

import pytest

from nmf2.serving import LOOPBACK, address, page_server, serve


@pytest.fixture
def server():
    server = page_server("<p>Grüße \udcff</p>")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def answer(server, path="/", method="GET", **headers):
    connection = HTTPConnection(LOOPBACK, server.server_port, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    try: return answer.status, answer.read(), answer.headers
    finally: connection.close()


def test_the_page_and_nothing_else(server):
    status, page, headers = answer(server)
    assert status == 200 and page.decode("utf-8") == "<p>Grüße \\udcff</p>" and int(headers["Content-Length"]) == len(page)
    assert headers["Cache-Control"] == "no-store" and answer(server, "/?levels=3")[1] == page
    status, nothing, headers = answer(server, method="HEAD")
    assert status == 200 and nothing == b"" and int(headers["Content-Length"]) == len(page)
    assert [answer(server, path)[0] for path in ("/etc/passwd", "/../")] == [404]*2
    assert answer(server, method="POST")[0] == 501


@pytest.mark.slow
@pytest.mark.parametrize("host, status", [("127.0.0.1", 200), ("localhost:80", 200), ("elsewhere.example", 403), ("elsewhere.example:8000", 403),
                                          ("", 403), ("127.0.0.1.elsewhere.example", 403)])
def test_pages_from_elsewhere_can_not_ask(server, host, status):
    assert answer(server, Host=host)[0] == status


def test_only_this_computer(server):
    assert server.server_address[0] == "127.0.0.1" and address(server) == f"http://127.0.0.1:{server.server_port}/"


def test_a_port_that_is_taken(server):
    with pytest.raises(ValueError, match=f"port {server.server_port} can't be had .*give another"): page_server("", server.server_port)


@pytest.mark.parametrize("wanted", [True, False])
def test_it_ends_by_ctrl_c_and_frees_the_port(monkeypatch, wanted):
    opened, done = [], threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda page: opened.append(page) or done.set())
    server = page_server("")
    def pressed(poll_interval):
        if wanted: assert done.wait(20)
        raise KeyboardInterrupt
    monkeypatch.setattr(server, "serve_forever", pressed)
    serve(server, wanted)
    assert opened == [address(server)]*wanted
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind((LOOPBACK, server.server_port))


@pytest.mark.parametrize("port", [-1, 65_536, 99_999, "80"])
def test_a_port_that_is_none(port):
    with pytest.raises(ValueError, match="port must be a whole number of at least 0 and at most 65,535"): page_server("", port)
