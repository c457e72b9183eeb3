#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A web server on loopback for the examples: nginx with two sites, http and https, on IPv4 and IPv6.

It has a throw-away certificate authority, and shows the certificate of another name to whoever sends no server name or
one that it does not know, as servers of many names do. A configuration file leads dnsctl there without any DNS.

    Examples/Shop/shop.py       starts it, prints what to try, and stops it on an interrupt
"""

import json
import os
import signal
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Benchmarks", "Lab"))
import lab as laboratory  # noqa: E402  (it lies beside, not in a package)

SHOP, SUBSHOP, SHOP6 = "shop.test", "www.shop.test", "v6.shop.test"
# The server has no certificate for the one, and the policy forbids the address of the other.
STRANGER, INTRANET = "stranger.test", "intranet.test"
PINS = {SHOP: ["127.0.0.1"], SUBSHOP: ["127.0.0.1"], SHOP6: ["::1"], STRANGER: ["127.0.0.1"], INTRANET: ["10.0.0.1"]}


class Shop(laboratory.Lab):
    """nginx, its certificates, and the configuration of dnsctl."""

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        self.ports = dict(zip(["http", "nginx"], laboratory.free_ports(2)))
        self.has_ipv6 = has_ipv6_loopback()
        self.make_certificates()
        self.configure()
        self.launch("nginx", "-p", self.folder, "-e", "stderr", "-c", self.path("nginx.conf"))
        self.wait(*self.processes[0], time.monotonic() + 20)

    def make_certificates(self):
        self.make_key("ca")
        self.openssl("req", "-x509", "-new", "-key", "ca.key", "-days", "2", "-subj", "/CN=DirectDNS examples",
                     "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", "ca.pem")
        self.issue("shop", SHOP, f"*.{SHOP}")
        # The default site's certificate holds the address too: who looks for the address would be content with it.
        self.issue("other", "other.test", "127.0.0.1")

    def make_key(self, file):
        self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{file}.key")

    def issue(self, file, *names):
        self.make_key(file)
        alternatives = ", ".join(("IP:" if name[0].isdigit() else "DNS:") + name for name in names)
        self.write(f"{file}.extensions", "basicConstraints = CA:FALSE\nextendedKeyUsage = serverAuth\n"
                   f"subjectAltName = {alternatives}\n")
        self.openssl("req", "-new", "-key", f"{file}.key", "-subj", f"/CN={names[0]}", "-out", f"{file}.csr")
        self.openssl("x509", "-req", "-in", f"{file}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                     "-days", "2", "-extfile", f"{file}.extensions", "-out", f"{file}.pem")

    def configure(self):
        http, https = self.ports["http"], self.ports["nginx"]
        listen = [f"127.0.0.1:{http}", f"127.0.0.1:{https} ssl http2"]
        if self.has_ipv6:
            listen += [f"[::1]:{http}", f"[::1]:{https} ssl http2"]

        def site(certificate, names, default=""):
            sight = json.dumps({
                "site": certificate, "host": "$http_host", "serverName": "$ssl_server_name", "path": "$request_uri",
                "originalUrl": "$http_originalurl", "cookie": "$http_cookie"}, separators=(",", ":"))
            sockets = " ".join(f"listen {address}{default};" for address in listen)
            return f"""
  server {{
    {sockets}
    server_name {names};
    ssl_certificate {self.folder}/{certificate}.pem; ssl_certificate_key {self.folder}/{certificate}.key;
    default_type application/json;
    location / {{ return 200 '{sight}\\n'; }}
    location /sink/ {{ root {self.folder}; client_max_body_size 0; dav_methods PUT; create_full_put_path on; }}
    location = /inward {{ return 302 http://{INTRANET}/; }}
    # As many redirects as there are letters.
    location ~ ^/x(x*)$ {{ return 302 /$1; }}
    # A server that believes the address to be its name.
    location = /login {{
      add_header Set-Cookie "session=1; Path=/; Domain=127.0.0.1" always;
      return 302 $scheme://127.0.0.1:$server_port/welcome;
    }}
  }}"""

        self.write("nginx.conf", f"""
daemon off;
master_process off;
pid {self.folder}/nginx.pid;
error_log stderr;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy;
  fastcgi_temp_path {self.folder}/fastcgi; uwsgi_temp_path {self.folder}/uwsgi; scgi_temp_path {self.folder}/scgi;
{site("other", "_", " default_server")}
{site("shop", f"{SHOP} *.{SHOP}")}
}}
""")
        # Pins are answers without a network. Whatever is not pinned finds nobody to ask: nothing listens on port 9.
        self.write("dnsctl.json5", json.dumps({
            "providers": ["doh+https://127.0.0.1:9/dns-query"], "system": False,
            "pins": PINS,
            "addressPolicy": {"allow": ["127.0.0.0/8", "::1"]},
        }, indent=1) + "\n")

    def url(self, scheme, name, path="/"):
        return f"{scheme}://{name}:{self.ports['http' if scheme == 'http' else 'nginx']}{path}"

    @property
    def settings(self):
        """What dnsctl and curl need in their environment."""
        return {"DIRECTDNS_CONFIG": self.path("dnsctl.json5"), "CURL_CA_BUNDLE": self.path("ca.pem")}


def has_ipv6_loopback():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def missing():
    return [name for name in ("nginx", "openssl") if not laboratory.program(name)]


def main():
    if missing():
        raise SystemExit(f"shop: {', '.join(missing())} cannot be found; Scripts/prerequisites examples installs it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="directdns-shop-") as folder:
        shop = Shop(folder)
        try:
            shop.start()
            for name, value in shop.settings.items():
                print(f"export {name}={value}")
            for scheme in ("http", "https"):
                print(f"dnsctl rewrite {shop.url(scheme, SHOP, '/a?b=c')}", flush=True)
            signal.pause()
        except KeyboardInterrupt:
            pass
        finally:
            shop.stop()


if __name__ == "__main__":
    main()
