# SPDX-License-Identifier: Apache-2.0
"""The proxies that are compared: ours, the least one that can be written, and what of tinyproxy, squid and haproxy is installed.

They share a core with the laboratory's servers, but those of ours with several event loops. haproxy knows one origin, and no client asks it for one.
"""

import os
import sys

import lab as laboratory

CLIENTS = 12_000
# What the rows of several event loops compare with one.
LOOPS = max(2, min(8, os.cpu_count() or 1))


class Proxies:
    def __init__(self, lab, dnsctl, floors):
        self.lab, self.dnsctl, self.floors = lab, dnsctl, floors
        # The least one waits by epoll, which is Linux's.
        self.names = ["dnsctl"] + ["relay"] * (sys.platform == "linux")
        self.names += [name for name in ("tinyproxy", "squid", "haproxy") if laboratory.program(name)]
        names = self.names + ["one loop", f"{LOOPS} loops"]
        self.ports = dict(zip(names, laboratory.free_ports(len(names))))

    def start(self):
        os.makedirs(self.lab.path("proxies"), exist_ok=True)
        for name in self.names:
            getattr(self, "ours" if name == "dnsctl" else name)(self.ports[name])

    def start_with_loops(self):
        """Ours with one event loop and with several, on all cores."""
        for name, loops in (("one loop", 1), (f"{LOOPS} loops", LOOPS)):
            self.ours(self.ports[name], "--loops", str(loops), name=name, on_all_cores=True)

    def begin_anew(self):
        """Ours, with nothing in its memory yet. Returns its number of process."""
        self.lab.end("dnsctl")
        return self.ours(self.ports["dnsctl"])

    def ours(self, port, *more, name="dnsctl", on_all_cores=False):
        # `dnsctl proxy` becomes the program that is measured: its number stays.
        return self.lab.launch_and_wait(name, port, self.dnsctl, "proxy", "--listen", f"127.0.0.1:{port}", "--no-system",
                                        "--provider", f"doh+{self.lab.doh_url('dnsdist')}", "--bootstrap",
                                        f"{laboratory.HOST}=127.0.0.1", "--ca", self.lab.path("ca.pem"), "--allow", "127.0.0.0/8", "--ports", "1-65535",
                                        "--max-clients", str(CLIENTS), *more, on_all_cores=on_all_cores)

    def relay(self, port):
        self.lab.launch_and_wait("relay", port, os.path.join(self.floors, "relay"), str(port))

    def tinyproxy(self, port):
        file = self.lab.write("proxies/tinyproxy.conf", f"""
Port {port}
Listen 127.0.0.1
Timeout 600
MaxClients {CLIENTS}
LogLevel Error
LogFile "{self.lab.path('proxies/tinyproxy.txt')}"
""")
        self.lab.launch_and_wait("tinyproxy", port, laboratory.program("tinyproxy"), "-d", "-c", file)

    def squid(self, port):
        folder = self.lab.path("proxies")
        # Where it runs as root it becomes somebody else, who has to write there.
        os.chmod(folder, 0o777)
        file = self.lab.write("proxies/squid.conf", f"""
http_port 127.0.0.1:{port}
acl all_clients src 127.0.0.0/8
http_access allow all_clients
cache deny all
cache_mem 8 MB
access_log none
cache_log {folder}/squid.txt
cache_store_log none
pid_filename {folder}/squid.pid
coredump_dir {folder}
shutdown_lifetime 1 seconds
pinger_enable off
via off
forwarded_for delete
""")
        self.lab.launch_and_wait("squid", port, laboratory.program("squid"), "-N", "-f", file)

    def haproxy(self, port):
        file = self.lab.write("proxies/haproxy.cfg", f"""
global
  nbthread 1
  maxconn 5000
defaults
  mode tcp
  timeout connect 5s
  timeout client 600s
  timeout server 600s
listen relay
  bind 127.0.0.1:{port}
  server origin 127.0.0.1:{self.lab.ports['nginx-http']}
""")
        self.lab.launch_and_wait("haproxy", port, laboratory.program("haproxy"), "-f", file)
