# SPDX-License-Identifier: Apache-2.0
"""The clients of a proxy, for Trust/torture: each asks in another way, and knows whether what it gets is whole."""

import contextlib
import http.client
import socket
import ssl
import time

import trials

# More than the proxy may take for a lookup and a connection.
PATIENCE = 9
# More than it may take to listen again where SwiftNIO has closed its socket.
RETRIES = 2


class Told(Exception):
    """It did not work, and the client knows: an error response of the proxy, a SOCKS reply, or a closed connection."""


class Wrong(Exception):
    """What no client may meet."""


def connect(port):
    until = time.monotonic() + RETRIES
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def connected(port):
    """A connection to the proxy, and what it means when it fails."""
    try:
        with connect(port) as connection:
            yield connection
    except TimeoutError:
        raise Wrong(f"nothing comes in {PATIENCE} s") from None
    except ssl.SSLCertVerificationError as error:
        raise Wrong(f"another certificate: {error}") from None
    except (OSError, http.client.IncompleteRead, http.client.RemoteDisconnected) as error:
        raise Told(f"closed: {error}") from None
    except http.client.HTTPException as error:
        raise Wrong(f"no HTTP: {error!r}") from None


def response(connection, method="GET"):
    """The head of a response: of an error the proxy says that it is its own (RFC 9209)."""
    found = http.client.HTTPResponse(connection, method=method)
    found.begin()
    if found.status != 200:
        found.read()
        if not found.getheader("Proxy-Status"):
            raise Wrong(f"{found.status} without Proxy-Status")
        raise Told(f"{found.status}: {found.getheader('Proxy-Status')}")
    return found


def get(connection, target, host, content):
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    body = response(connection).read()
    if body != content:
        raise Wrong(f"a body of {len(body)} bytes that is said to be whole, of {len(content)}")


def plain(lab, port, name):
    """Requests in absolute form (RFC 9112, 3.2.2), of which the second has the origin end its connection."""
    host = f"plain-{name}:{lab.ports['http']}"
    with connected(port) as connection:
        get(connection, f"http://{host}/big", host, trials.BIG)
        get(connection, f"http://{host}/last", host, trials.SMALL)


def tunnel(lab, port, name):
    """CONNECT, and TLS with the origin."""
    name = f"tunnel-{name}"
    host = f"{name}:{lab.ports['nginx']}"
    with connected(port) as connection:
        connection.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        response(connection, "CONNECT")
        context = ssl.create_default_context(cafile=lab.path("ca.pem"))
        with context.wrap_socket(connection, server_hostname=name) as secured:
            get(secured, "/small", host, trials.SMALL)


def received(connection, count):
    content = b""
    while len(content) < count:
        chunk = connection.recv(count - len(content))
        if not chunk:
            raise Told("closed within SOCKS")
        content += chunk
    return content


def open_socks(connection, name, port):
    """RFC 1928: no password, the name as it is, and an IPv4 address in the reply."""
    connection.sendall(b"\5\1\0")
    if received(connection, 2) != b"\5\0":
        raise Wrong("another SOCKS method")
    connection.sendall(b"\5\1\0\3" + bytes([len(name)]) + name.encode() + port.to_bytes(2, "big"))
    reply = received(connection, 10)
    if reply[0] != 5:
        raise Wrong(f"no SOCKS5: {reply!r}")
    if reply[1]:
        raise Told(f"SOCKS reply {reply[1]}")


def socks(lab, port, name):
    name = f"socks-{name}"
    with connected(port) as connection:
        open_socks(connection, name, lab.ports["http"])
        get(connection, "/small", name, trials.SMALL)


def drained(lab, port, name, tell_to_end):
    """A tunnel that is open when the proxy is told to end, and used once it listens no more."""
    with connected(port) as connection:
        open_socks(connection, name, lab.ports["http"])
        tell_to_end()
        until = time.monotonic() + 3
        while is_listened(port):
            if time.monotonic() > until:
                raise Wrong("listens for longer than 3 s after it was told to end")
            time.sleep(0.005)
        get(connection, "/small", name, trials.SMALL)


def is_listened(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


CLIENTS = {"plain request": plain, "tunnel": tunnel, "SOCKS": socks}
