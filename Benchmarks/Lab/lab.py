#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The laboratory of the benchmarks: real servers on loopback with 100 000 names.

unbound and dnsdist answer DNS over HTTPS, BIND too, nginx answers the JSON interface and serves files, and one
server lets its clients wait. All of them run on one core, so that the clients can have another; none of them asks
the internet for anything.

    Benchmarks/Lab/lab.py FOLDER     starts them, prints where they are, and stops them on an interrupt
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = 100_000
HOST = "doh.lab.test"
# Every name below it leads to the server.
FIRST = "first.lab.test"
SERVERS = ["unbound", "named", "dnsdist", "nginx"]
ORIGIN = "www.lab.test"
SMALL, BIG = 1 << 10, 1 << 20
# Where the files are served in the clear: clients that come by the thousand would run out of ports to one address.
ADDRESSES = 16
SCRIPT_MODULE = "ngx_http_js_module.so"
MODULE_FOLDERS = ["/usr/lib/nginx/modules", "/usr/lib64/nginx/modules", "/usr/local/lib/nginx/modules"]


def program(name):
    """Debian keeps servers where an ordinary user's PATH does not lead."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin")


def script_module():
    paths = (os.path.join(folder, SCRIPT_MODULE) for folder in MODULE_FOLDERS)
    return next((path for path in paths if os.path.exists(path)), None)


def missing():
    lacking = [name for name in SERVERS + ["openssl"] if not program(name)]
    return lacking + ([] if script_module() else [SCRIPT_MODULE])


def host_name(number):
    return f"host-{number:06d}.lab.test"


def host_address(number):
    return f"127.{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


class Lab:
    def __init__(self, folder, server_core=None):
        self.folder = os.path.abspath(folder)
        self.server_core = server_core
        self.ports = {}
        self.processes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def doh_url(self, server):
        return f"https://{HOST}:{self.ports[server]}/dns-query"

    @property
    def json_url(self):
        return f"https://{HOST}:{self.ports['nginx']}/resolve"

    def origin_url(self, server, path):
        scheme = "http" if server == "nginx-http" else "https"
        return f"{scheme}://{ORIGIN}:{self.ports[server]}{path}"

    @property
    def silent_url(self):
        return f"http://127.0.0.1:{self.ports['silent']}"

    # --- Files -------------------------------------------------------------------------------------------

    def openssl(self, *arguments):
        subprocess.run([program("openssl"), *arguments], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)

    def make_certificate(self):
        for key in ("ca.key", "server.key"):
            self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
        self.write("issuing", "[ca]\ndefault_ca = lab\n[lab]\ndatabase = issued\nserial = serial\nnew_certs_dir = .\n"
                   "default_md = sha256\npolicy = subject\n[subject]\ncommonName = supplied\n")
        self.write("issued", "")
        self.write("serial", "01\n")
        self.write("ca.extensions", "basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign\n")
        self.write("extensions", "basicConstraints = CA:FALSE\nextendedKeyUsage = serverAuth\n"
                   f"subjectAltName = DNS:{HOST}, DNS:*.lab.test, IP:127.0.0.1\n")
        # Valid whatever the clock says: Trust/torture sets it back by ten years.
        issue = ["ca", "-batch", "-notext", "-config", "issuing", "-keyfile", "ca.key",
                 "-startdate", "20000101000000Z", "-enddate", "20491231000000Z"]
        for key, name, who, extensions in (
            ("ca", "DirectDNS benchmarks", ["-selfsign"], "ca.extensions"),
            ("server", HOST, ["-cert", "ca.pem"], "extensions"),
        ):
            self.openssl("req", "-new", "-key", f"{key}.key", "-subj", f"/CN={name}", "-out", f"{key}.csr")
            self.openssl(*issue, *who, "-extfile", extensions, "-in", f"{key}.csr", "-out", f"{key}.pem")
        with open(self.path("server.pem")) as own, open(self.path("ca.pem")) as authority:
            self.write("chain.pem", own.read() + authority.read())

    def make_system_trust(self, certificates="/etc/ssl/certs", bundle="ca-certificates.crt"):
        """The system's authorities and ours, as a hashed directory and as one bundle: what a client would
        load that trusts what the system trusts. None where the system keeps them in another way."""
        if not os.path.exists(os.path.join(certificates, bundle)):
            return None
        folder, file = self.path("trust"), self.path("trust.pem")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(certificates, folder, symlinks=True,
                        ignore=lambda _, names: [name for name in names if name == "java"])
        name = subprocess.run([program("openssl"), "x509", "-noout", "-subject_hash", "-in", self.path("ca.pem")],
                              check=True, capture_output=True, text=True).stdout.strip()
        shutil.copy(self.path("ca.pem"), os.path.join(folder, name + ".0"))
        with open(os.path.join(certificates, bundle)) as system, open(self.path("ca.pem")) as ours:
            self.write("trust.pem", system.read() + ours.read())
        return folder, file

    def make_names(self):
        numbers = range(NAMES)
        known = {"www.lab.test": "127.0.0.1", HOST: "127.0.0.1"}
        known.update((host_name(number), host_address(number)) for number in numbers)
        self.write("names.txt", "".join(f"{host_name(number)}\n" for number in numbers))
        self.write("zone", "$ORIGIN lab.test.\n$TTL 3600\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\n"
                   "ns A 127.0.0.1\n" + "".join(f"{name}. A {address}\n" for name, address in known.items()))
        self.write("local-data", "".join(
            f'local-data: "{name}. 3600 IN A {address}"\n' for name, address in known.items()))

    # --- Servers -----------------------------------------------------------------------------------------

    def configure(self):
        folder, port = self.folder, self.ports
        # The static root answers for everything else, the built-in `test.` included.
        self.write("unbound.conf", f"""
server:
  num-threads: 1
  interface: 127.0.0.1@{port['unbound-dns']}
  interface: 127.0.0.1@{port['unbound']}
  https-port: {port['unbound']}
  http-endpoint: "/dns-query"
  http-max-streams: 200
  http-nodelay: yes
  incoming-num-tcp: 1000
  tls-service-key: "{folder}/server.key"
  tls-service-pem: "{folder}/chain.pem"
  access-control: 127.0.0.0/8 allow
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  module-config: "iterator"
  local-zone: "." static
  local-zone: "lab.test." static
  local-zone: "{FIRST}." redirect
  local-data: "{FIRST}. 3600 IN A 127.0.0.1"
  include: "{folder}/local-data"
remote-control:
  control-enable: no
""")
        # 9.18 wants to be told that there is no such file, and newer ones do not know the option.
        version = subprocess.run([program("named"), "-v"], capture_output=True, text=True, check=True).stdout
        lock_file = "lock-file none; " if "BIND 9.18" in version else ""
        self.write("named.conf", f"""
options {{
  directory "{folder}";
  pid-file none; {lock_file}session-keyfile none;
  recursion no; dnssec-validation no; notify no; querylog no; minimal-responses yes;
  allow-query {{ 127.0.0.0/8; }};
  listen-on port {port['named-dns']} {{ 127.0.0.1; }};
  listen-on port {port['named']} tls lab http lab {{ 127.0.0.1; }};
  listen-on-v6 {{ none; }};
  http-listener-clients 1000; http-streams-per-connection 500;
}};
tls lab {{ key-file "{folder}/server.key"; cert-file "{folder}/chain.pem"; }};
http lab {{ endpoints {{ "/dns-query"; }}; }};
controls {{ }};
logging {{ category default {{ default_stderr; }}; }};
zone "lab.test" {{ type primary; file "{folder}/zone"; }};
""")
        self.write("dnsdist.conf", f"""
setSecurityPollSuffix("")
setACL({{"127.0.0.0/8"}})
setMaxTCPClientThreads(1)
setLocal("127.0.0.1:{port['dnsdist-dns']}")
newServer({{address="127.0.0.1:{port['unbound-dns']}", sockets=4, maxInFlight=10000}})
getServer(0):setUp()
addDOHLocal("127.0.0.1:{port['dnsdist']}", "{folder}/chain.pem", "{folder}/server.key", {{"/dns-query"}},
            {{doTCP=true, reusePort=true, tcpListenQueueSize=512}})
cache = newPacketCache(300000, {{maxTTL=3600}})
getPool(""):setCache(cache)
""")
        # A rule, not a table: the cost of the answer is the server's, and the same for whoever asks.
        self.write("resolve.js", """
function resolve(r) {
  const name = (r.args.name || '').toLowerCase().replace(/\\.$/, '');
  const host = name.match(/^host-(\\d{6})\\.lab\\.test$/);
  const number = host ? parseInt(host[1]) : 0;
  const address = host ? '127.' + (1 + (number >> 16)) + '.' + (number >> 8 & 255) + '.' + (number & 255)
    : '127.0.0.1';
  r.headersOut['Content-Type'] = 'application/json';
  r.return(200, JSON.stringify({ Status: 0, TC: false, RD: true, RA: true, AD: false, CD: false,
    Question: [{ name: name + '.', type: 1 }],
    Answer: [{ name: name + '.', type: 1, TTL: 300, data: address }] }));
}
export default { resolve };
""")
        self.write("nginx.conf", f"""
load_module {script_module()};
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
worker_rlimit_nofile 20000;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 100000000; keepalive_timeout 600s;
  http2_max_concurrent_streams 512; http2_max_requests 100000000;
  open_file_cache max=10 inactive=600s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  js_import resolve from {folder}/resolve.js;
  ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/server.key;
  server {{
    {''.join(f"listen 127.0.0.{last}:{port['nginx-http']} backlog=4096; " for last in range(1, 1 + ADDRESSES))}
    listen 127.0.0.1:{port['nginx']} ssl http2 backlog=4096;
    location = /resolve {{ js_content resolve.resolve; }}
    listen 127.0.0.1:{port['nginx-https1']} ssl backlog=4096;
    location = /small {{ return 200 "{'a' * SMALL}"; }}
    location = /big {{ root {folder}; }}
  }}
}}
""")

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        names = SERVERS + ["unbound-dns", "named-dns", "dnsdist-dns", "nginx-http", "nginx-https1", "silent"]
        self.ports = dict(zip(names, free_ports(len(names))))
        self.make_certificate()
        self.make_names()
        self.write("big", "a" * BIG)
        self.configure()
        try:
            self.launch("unbound", "-d", "-c", self.path("unbound.conf"))
            self.launch("named", "-g", "-n", "1", "-U", "1", "-c", self.path("named.conf"))
            self.launch("dnsdist", "--supervised", "--disable-syslog", "-C", self.path("dnsdist.conf"))
            self.launch("nginx", "-p", self.folder, "-e", "stderr", "-c", self.path("nginx.conf"))
            self.launch("silent", str(self.ports["silent"]), path=os.path.join(HERE, "silent"))
            deadline = time.monotonic() + 60
            for name, process in self.processes:
                self.wait(name, process, deadline)
        except BaseException:
            self.stop()
            raise

    def launch(self, name, *arguments, path=None, on_all_cores=False):
        command = [path or self.unconfined(name), *arguments]
        if self.server_core is not None and not on_all_cores:
            command = ["taskset", "-c", str(self.server_core), *command]
        if shutil.which("setpriv"):
            # Should this program be killed, the servers go with it.
            command = ["setpriv", "--pdeathsig", "KILL", *command]
        with open(self.path(name + ".log"), "w") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        self.processes.append((name, process))
        return process

    def launch_and_wait(self, name, port, path, *arguments, **more):
        """Returns the number of the process, which `taskset` and `setpriv` hand on."""
        self.ports[name] = port
        process = self.launch(name, *arguments, path=path, **more)
        self.wait(name, process, time.monotonic() + 30)
        return process.pid

    def end(self, name):
        for process in [process for own, process in self.processes if own == name]:
            process.kill()
            process.wait()
        self.processes = [(own, process) for own, process in self.processes if own != name]

    def unconfined(self, name):
        """Debian's AppArmor profiles keep some servers to /etc and /var, by the path of the program: where it
        is on, a copy of the program may read our files."""
        try:
            with open("/sys/module/apparmor/parameters/enabled") as file:
                confined = file.read().startswith("Y")
        except OSError:
            confined = False
        return shutil.copy(program(name), self.path(name)) if confined else program(name)

    def wait(self, name, process, deadline):
        """Servers do not say when they are ready: connecting is how a client finds out."""
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.ports[name])) == 0:
                    return
            if process.poll() is not None or time.monotonic() > deadline:
                with open(self.path(name + ".log")) as log:
                    raise SystemExit(f"{name} did not become ready: {log.read()[-2000:]}")
            time.sleep(0.01)

    def stop(self):
        for _, process in self.processes:
            process.terminate()
        for _, process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []


def free_ports(count):
    """Below the range that connections take theirs from: such a port could be gone before its server starts."""
    ports = []
    while len(ports) < count:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def main():
    lab = Lab(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    lab.start()
    try:
        for server in ("unbound", "named", "dnsdist"):
            print(f"{server:8} {lab.doh_url(server)}")
        print(f"{'nginx':8} {lab.json_url}\n{HOST}=127.0.0.1, --ca {lab.path('ca.pem')}", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        lab.stop()


if __name__ == "__main__":
    main()
