# SPDX-License-Identifier: Apache-2.0
"""dnsctl proxy as a service manager runs it: `service.py reload|files DNSCTL OPTIONS…`.

Nothing is waited for but what must come; what does not come fails after twenty seconds.
"""

import base64
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile

PATIENCE = 20
running = []


def hashed(name):
    """A line as htpasswd writes it."""
    word = subprocess.run(["openssl", "passwd", "-6", "geheim"], check=True, capture_output=True, text=True).stdout
    return f"{name}:{word}"


class Service:
    def __init__(self, folder, words, files=None):
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.settimeout(PATIENCE)
        place = os.path.join(folder, "notices")
        self.notices.bind(place)
        # No configuration: neither where it is looked for, nor named.
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "NOTIFY_SOCKET": place}

        def limit():
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files // 2, files))

        self.process = subprocess.Popen(words, env=environment, preexec_fn=limit, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        running.append(self.process)
        ready = self.hear("READY=1")
        self.port = int(ready.rsplit(":", 1)[1])

    def hear(self, wanted):
        while True:
            text = self.notices.recv(4096).decode()
            if wanted in text:
                return text

    def ask(self, text):
        client = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        client.sendall(text.encode())
        return client

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=PATIENCE)[1]
        assert self.process.returncode == 0, (self.process.returncode, said)
        return said


def status(service, name):
    word = base64.b64encode(f"{name}:geheim".encode()).decode()
    client = service.ask(f"GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {word}\r\n\r\n")
    answer = client.recv(4096).decode()
    client.close()
    return int(answer.split(" ")[1])


def reload(folder, dnsctl, options):
    """SIGHUP without a configuration file: who may use it is read again, and it goes on."""
    users = os.path.join(folder, "users")

    def write(line):
        with open(users, "w") as file:
            file.write(line)

    write(hashed("ada"))
    service = Service(folder, [dnsctl, "proxy", "--listen", "127.0.0.1:0", "--users", users, *options])
    # Port 22 is not among the ports: 403 is what a user gets.
    assert (status(service, "ada"), status(service, "bob")) == (403, 407)
    for line, expected in ((hashed("bob"), (407, 403)), ("no line of such a file\n", (407, 403)), (hashed("ada"), (403, 407))):
        write(line)
        service.process.send_signal(signal.SIGHUP)
        service.hear("RELOADING=1")
        service.hear("READY=1")
        assert (status(service, "ada"), status(service, "bob")) == expected, line
    assert service.end().count("users stay in force") == 1

    # With no file at all a reload changes nothing, and ends nothing.
    os.unlink(os.path.join(folder, "notices"))
    service = Service(folder, [dnsctl, "proxy", "--listen", "127.0.0.1:0", *options])
    service.process.send_signal(signal.SIGHUP)
    service.hear("RELOADING=1")
    service.hear("READY=1")
    assert status(service, "ada") == 403
    service.end()


def files(folder, dnsctl, options):
    """No file is left: clients wait until one goes, and that is said once a minute."""
    service = Service(folder, [dnsctl, "proxy", "--listen", "127.0.0.1:0", *options], files=64)
    text = "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"
    clients = [service.ask(text) for _ in range(80)]
    said = []
    while not said or "No file is left" not in said[-1]:
        said.append(service.process.stderr.readline())
        assert said[-1], said
    # Those that were accepted before; their number says that the soft limit of 32 was raised.
    first = clients[:40]
    for client in first:
        assert client.recv(4096).endswith(b"live\n")
    # One after the other goes, and those that wait get what they asked for.
    for gone, waiting in zip(clients, clients[40:]):
        gone.close()
        assert waiting.recv(4096).endswith(b"live\n")
    for client in clients[40:]:
        client.close()
    service.end()


def main():
    scene, dnsctl, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    # What is read from a pipe has no timeout of its own.
    signal.alarm(3 * PATIENCE)
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("it does not come about"))
    try:
        with tempfile.TemporaryDirectory() as folder:
            {"reload": reload, "files": files}[scene](folder, dnsctl, options)
    finally:
        for process in running:
            process.kill()


main()
