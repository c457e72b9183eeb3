# SPDX-License-Identifier: Apache-2.0
"""The part of Trust/promises that runs in a network of its own (unshare --net), where every address is this machine.

    lures.py PROMISES FOLDER

Has the kernel count each attempt to reach a forbidden address, proves that it counts by one of its own, and then leads
the library (PROMISES lying) and dnsctl (fetch, an import, its proxy) to such addresses.
"""

import os
import re
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import networks  # noqa: E402
import scenarios  # noqa: E402
import trials  # noqa: E402

FORBIDDEN = sorted({*networks.forbidden(), "127.0.0.2", "127.1.2.3", "169.254.169.254"})
PUBLIC = "9.9.9.10"

# What nobody may be led to. The proxy under trial listens on loopback: its own port does not count.
RULES = """
table inet observer {
  counter dials { }
  chain leaving {
    type filter hook output priority -300; policy accept;
    ip daddr 127.0.0.1 tcp dport PORT accept
    NETWORKS
  }
  chain judged {
    tcp flags & (syn | ack) == syn counter name dials
    meta l4proto udp counter name dials
  }
}
"""


def shell(*command, text=None):
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def make_network(port):
    shell("ip", "link", "set", "lo", "up")
    # Every address of the world is here.
    shell("ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo")
    shell("ip", "-6", "route", "add", "local", "::/0", "dev", "lo")
    rules = RULES.replace("PORT", str(port)).replace("NETWORKS", "\n    ".join(networks.rules()))
    shell("nft", "-f", "-", text=rules)


def dials():
    return int(re.search(r"packets (\d+)", shell("nft", "list", "counter", "inet", "observer", "dials")).group(1))


# Dials that must count, of networks inside others too, and some that must not.
COUNTED = ["10.0.0.1", "127.0.0.1", "192.88.99.1", "fd00::1", "2001:2::1", "2001:10::1", "3fff::1", "64:ff9b::a00:1",
           "2606:4700::5efe:102:304"]
NOT_COUNTED = [PUBLIC, "192.31.196.1", "2606:4700::1", "2001:4:112::1", "64:ff9b::909:90a"]


def control():
    """Whether exactly those count that must."""
    wrong = []
    for address in [*COUNTED, *NOT_COUNTED]:
        before = dials()
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as client:
            client.settimeout(2)
            client.connect_ex((address, 9))
        if (dials() - before == 1) != (address in COUNTED):
            wrong.append(address)
    if wrong:
        print(f"wrong: the kernel's count is not right of {' '.join(wrong)}", flush=True)
    return not wrong


class Tally:
    def __init__(self, path):
        self.path, self.lures, self.refused, self.public, self.wrongs = path, 0, 0, 0, []

    def note(self, is_refused, what):
        self.lures += 1
        self.refused += is_refused
        if not is_refused:
            self.wrongs.append(what)

    def allowed(self, is_answered, what):
        """The same to an address that is allowed must work: what refuses everything proves nothing."""
        self.lures += 1
        self.public += is_answered
        if not is_answered:
            self.wrongs.append(what)

    def say(self):
        print(f"path={self.path} lures={self.lures} refused={self.refused} public={self.public} wrong={len(self.wrongs)}",
              *(f"\nwrong: {self.path}: {wrong}" for wrong in self.wrongs[:3]), flush=True)


def name(address):
    return f"ip-{address.replace('.', '-')}.lab.test"


def run(lab, folder, *words, dead=False):
    program = trials.program("dnsctl", "DNSCTL")
    return trials.finish(trials.start([program, *words], lab.environment(folder, dead), folder), 30)


def fetches(lab, folder):
    port = lab.ports["http"]
    paths = {
        "dnsctl-fetch": lambda address: [f"http://{name(address)}:{port}/small"],
        "dnsctl-redirect": lambda address: [f"http://{name(PUBLIC)}:{port}/to?http://{name(address)}:{port}/small"],
        "dnsctl-resolve-option": lambda address: ["--resolve", f"x.lab.test:{port}:{address}", f"http://x.lab.test:{port}/small"],
    }
    for path, words in paths.items():
        tally = Tally(path)
        ended = run(lab, folder, "fetch", "-sS", *words(PUBLIC))
        tally.allowed(ended.output == trials.SMALL.decode(), f"{PUBLIC}: {ended.errors}")
        for address in FORBIDDEN:
            ended = run(lab, folder, "fetch", "-sS", *words(address))
            tally.note(ended.status == 3 and not ended.output, f"{address}: {ended.status} {ended.errors}")
        tally.say()


def imported(lab, folder):
    tally, port = Tally("dnsctl-import"), lab.ports["http"]
    now = int(trials.laboratory.time.time() * 1000)
    lines = scenarios.export_text([name(address) for address in [*FORBIDDEN, PUBLIC]], now, now + 300_000).splitlines()
    for index, address in enumerate([*FORBIDDEN, PUBLIC]):
        lines[index + 1] = lines[index + 1].replace('"127.0.0.1"', f'"{address}"')
    with open(os.path.join(folder, "answers.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")
    store = ["--store", "imported.sqlite"]
    run(lab, folder, "cache", "import", *store, "answers.jsonl")
    ended = run(lab, folder, "fetch", "-sS", *store, "-4", f"http://{name(PUBLIC)}:{port}/small", dead=True)
    tally.allowed(ended.output == trials.SMALL.decode(), f"{PUBLIC}: {ended.errors}")
    for address in FORBIDDEN:
        ended = run(lab, folder, "fetch", "-sS", *store, "-4", f"http://{name(address)}:{port}/small", dead=True)
        tally.note(ended.status == 3 and not ended.output, f"{address}: {ended.status} {ended.errors}")
    tally.say()


def proxied(lab, folder, own_port):
    program = trials.program("dnsctl-proxy", "DNSCTL_PROXY")
    process = trials.start([program, "proxy", "--listen", f"127.0.0.1:{own_port}"], lab.environment(folder), folder)
    try:
        process.stderr.readline()
        port = lab.ports["http"]
        ways = {
            "proxy-absolute": ["-x", f"http://127.0.0.1:{own_port}"],
            "proxy-connect": ["-p", "-x", f"http://127.0.0.1:{own_port}"],
            "proxy-socks5": ["--socks5-hostname", f"127.0.0.1:{own_port}"],
            "proxy-socks4a": ["--proxy", f"socks4a://127.0.0.1:{own_port}"],
            "proxy-socks5-address": ["--socks5", f"127.0.0.1:{own_port}"],
        }
        for way, words in ways.items():
            tally = Tally(way)

            def ask(host):
                answer = subprocess.run(["curl", "-sS", "-m", "10", "-w", "%{http_code}", "-o", "-", *words,
                                         f"http://{host}:{port}/small"], capture_output=True, text=True,
                                        env={"PATH": "/usr/bin:/bin"})
                return answer.stdout, answer.stderr

            def ask_public():
                said, why = ask(name(PUBLIC) if takes_names else PUBLIC)
                tally.allowed(said == trials.SMALL.decode() + "200", f"{PUBLIC}: {said} {why}")

            takes_names = way != "proxy-socks5-address"
            ask_public()
            for address in FORBIDDEN:
                for host in [name(address), address] if takes_names else [address]:
                    said, why = ask(host)
                    tally.note(trials.SMALL.decode() not in said, f"{host}: {said[-60:]}")
            # A proxy that has ended or hangs leads nobody anywhere, and has refused nothing.
            ask_public()
            tally.say()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        trials.finish(process, 20)


def main():
    promises, folder = sys.argv[1:]
    own_port = 61_000
    make_network(own_port)
    is_counting = control()
    lab = trials.Servers(os.path.join(folder, "lab"), ["127.0.0.1", PUBLIC])
    lab.start()
    shell("nft", "reset", "counter", "inet", "observer", "dials")
    try:
        work = trials.fresh(os.path.join(folder, "work"))
        subprocess.run([promises, "lying", work], check=True)
        fetches(lab, work)
        imported(lab, work)
        proxied(lab, work, own_port)
        print(f"dials={dials()} control={int(is_counting)}")
    finally:
        lab.stop()


if __name__ == "__main__":
    main()
