# SPDX-License-Identifier: Apache-2.0
"""What the trials of Trust/ have in common: a provider and a web server on loopback (nginx, with TLS and HTTP/2), how
dnsctl is run beside them, and tables.

Names are what their own text says: `www.lab.test` and every other one has 127.0.0.1 and no IPv6 address, with a TTL of
300 s; `ttl-N-….lab.test` has one of N s, and `ip-10-0-0-1.lab.test` has 10.0.0.1.
"""

import contextlib
import glob
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "Benchmarks", "Lab"))
import lab as laboratory  # noqa: E402  (it lies beside, not in a package)

SMALL = b"a" * 1024
BIG = bytes(number % 251 for number in range(300_000))

RESOLVE = """
function resolve(r) {
  const name = (r.args.name || '').toLowerCase().replace(/\\.$/, '');
  const type = { A: 1, AAAA: 28 }[r.args.type] || parseInt(r.args.type || '1');
  const lifetime = name.match(/^ttl-(\\d+)-/);
  const address = name.match(/^ip-(\\d+)-(\\d+)-(\\d+)-(\\d+)\\./);
  const ttl = lifetime ? parseInt(lifetime[1]) : 300;
  const reply = { Status: 0, TC: false, RD: true, RA: true, AD: false, CD: false,
    Question: [{ name: name + '.', type: type }] };
  if (type == 1) {
    reply.Answer = [{ name: name + '.', type: 1, TTL: ttl,
      data: address ? address.slice(1, 5).join('.') : '127.0.0.1' }];
  } else {
    reply.Authority = [{ name: 'lab.test.', type: 6, TTL: ttl, data: `ns.lab.test. host.lab.test. 1 3600 600 86400 ${ttl}` }];
  }
  r.headersOut['Content-Type'] = 'application/dns-json';
  r.return(200, JSON.stringify(reply));
}
export default { resolve };
"""


class Servers(laboratory.Lab):
    """nginx alone, which is provider and origin; and a port where nobody listens."""

    def __init__(self, folder, addresses=("127.0.0.1",)):
        super().__init__(folder)
        self.addresses = addresses

    def start(self):
        lacking = [name for name in ("nginx", "openssl") if not laboratory.program(name)]
        lacking += [] if laboratory.script_module() else [laboratory.SCRIPT_MODULE]
        if lacking:
            raise SystemExit(f"{', '.join(lacking)} is lacking: Scripts/prerequisites bench installs it.")
        os.makedirs(self.folder, exist_ok=True)
        self.ports = dict(zip(["nginx", "http", "dead"], laboratory.free_ports(3)))
        self.make_certificate()
        os.makedirs(self.path("files"), exist_ok=True)
        for name, content in (("small", SMALL), ("big", BIG)):
            with open(self.path(os.path.join("files", name)), "wb") as file:
                file.write(content)
        self.write("resolve.js", RESOLVE)
        self.write("nginx.conf", self.configuration())
        try:
            process = self.launch("nginx", "-p", self.folder, "-e", "stderr", "-c", self.path("nginx.conf"))
            self.wait("nginx", process, laboratory.time.monotonic() + 60)
        except BaseException:
            self.stop()
            raise

    def configuration(self):
        folder, port = self.folder, self.ports
        listening = "".join(f"listen {address}:{port['http']} backlog=4096; "
                            f"listen {address}:{port['nginx']} ssl http2 backlog=4096; " for address in self.addresses)
        return f"""
load_module {laboratory.script_module()};
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  js_import resolve from {folder}/resolve.js;
  ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/server.key;
  server {{
    {listening}
    root {folder}/files;
    location = /resolve {{ js_content resolve.resolve; }}
    location = /login {{
      add_header Set-Cookie "session=7; Max-Age=864000; Path=/";
      add_header Set-Cookie "basket=9; Max-Age=864000; Path=/";
      return 302 /landed;
    }}
    location = /landed {{ return 200 "cookies: $http_cookie"; }}
    location = /to {{ return 302 $args; }}
    location = /big {{ keepalive_timeout 1s; }}
    location = /last {{ keepalive_timeout 0; alias {folder}/files/small; }}
    location = /slow {{ limit_rate 400k; alias {folder}/files/big; }}
  }}
}}
"""

    # --- For dnsctl ------------------------------------------------------------------------------------------

    def environment(self, folder, dead=False):
        port = self.ports["dead" if dead else "nginx"]
        return {
            "HOME": folder, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "DIRECTDNS_PROVIDERS": f"json+https://doh.lab.test:{port}/resolve",
            "DIRECTDNS_BOOTSTRAP": f"doh.lab.test={self.addresses[-1]}", "DIRECTDNS_CA": self.path("ca.pem"),
            "DIRECTDNS_SYSTEM": "false",
        }

    def url(self, path, host="www.lab.test"):
        return f"https://{host}:{self.ports['nginx']}{path}"


class Ended:
    """How a program ended: its status (128 + N for signal N), what it wrote, whether it had to be killed, and whether one of
    its threads slept then."""

    def __init__(self, status, output, errors, is_hung, orphans=0, sleeps=False):
        self.status, self.output, self.errors, self.is_hung, self.orphans = status, output, errors, is_hung, orphans
        self.sleeps = sleeps
        # Whose code crashed, as Shims/faults.c has it.
        self.crashed = ""
        # Which function was made to fail.
        self.function = None
        # What the scenario noted while it ran.
        self.notes = {}


def is_asleep(process):
    """Whether a thread of a process sleeps (proc(5): wchan), which nothing of ours does."""
    for place in glob.glob(f"/proc/{process.pid}/task/*/wchan"):
        try:
            with open(place) as file:
                if file.read() == "hrtimer_nanosleep":
                    return True
        except OSError:
            continue
    return False


def open_files(process, port):
    """How many descriptors a process holds beside connections to a port, which it may keep for the next request; 0 where it
    has ended."""
    try:
        with open(f"/proc/{process.pid}/net/tcp") as file:
            rows = [line.split() for line in file][1:]
        # The other side's address and port in hexadecimal, the state, of which 01 is ESTABLISHED, and the inode (proc(5)).
        kept = {f"socket:[{row[9]}]" for row in rows if row[2].endswith(f":{port:04X}") and row[3] == "01"}
        return sum(link not in kept for link in links(f"/proc/{process.pid}/fd"))
    except OSError:
        return 0


def links(folder):
    """Where the links of a folder lead; one that has gone meanwhile leads nowhere."""
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink(os.path.join(folder, name))


def start(command, environment, folder):
    return subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


def never_slept():
    """For how many seconds libdispatch has slept where nobody looks."""
    return 0


def finish(process, limit, slept=never_slept):
    """Waits for a program of `start`, and ends what it has left behind."""
    (output, errors), status, *how = ending(process, limit, process.communicate, slept)
    return Ended(status, output.decode(errors="replace"), errors.decode(errors="replace"), *how)


def ending(process, limit, wait, slept=never_slept):
    """Waits by one of its functions for a program of `start`, and ends what it has left behind: what that function has
    returned, and how the program ended, as `Ended` has it.

    One that is awake when its time is up, and in which libdispatch has slept before, has as many seconds more, until it
    sleeps again or ends: in between it goes on for a moment, and what it does then takes its own time.
    """
    is_hung = sleeps = False
    try:
        waited = wait(timeout=limit)
    except subprocess.TimeoutExpired:
        until = time.monotonic() + slept()
        while True:
            sleeps = is_asleep(process)
            if is_hung := sleeps or time.monotonic() >= until:
                os.killpg(process.pid, signal.SIGKILL)
            try:
                waited = wait(timeout=None if is_hung else 0.1)
                break
            except subprocess.TimeoutExpired:
                continue
    orphans = 0
    try:
        os.killpg(process.pid, signal.SIGKILL)
        orphans = 1
    except ProcessLookupError:
        pass
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return waited, status, is_hung, orphans, sleeps


def program(name, variable):
    """The release build, or the program that the environment names."""
    path = os.environ.get(variable) or os.path.join(ROOT, ".build", "release", name)
    if not os.access(path, os.X_OK):
        raise SystemExit(f"There is no {path}: make release builds it; {variable} names another one.")
    return path


def compiler():
    """The system's C compiler, or the one of the Swift toolchain."""
    swift = shutil.which("swift")
    found = shutil.which("cc") or swift and shutil.which("clang", path=os.path.dirname(os.path.realpath(swift)))
    if not found:
        raise SystemExit("There is neither cc nor the clang of a Swift toolchain, which Trust/Shims is compiled by.")
    return found


def compilers_library(name):
    """Where the C compiler has a library of its own; nothing where it has none."""
    path = subprocess.run([compiler(), f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


def build_shim(name, folder):
    """Compiles Trust/Shims/NAME.c, and returns the library to preload."""
    library = os.path.join(folder, f"{name}.so")
    source = os.path.join(HERE, "Shims", f"{name}.c")
    subprocess.run([compiler(), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl",
                    "-lpthread"], check=True)
    return library


@contextlib.contextmanager
def copied_store(path):
    """A copy of a store of SQLite, opened.

    Who looks at the store itself mends it before the next run can: closing it empties its log. And on a full disk there is
    no room for what SQLite needs to read one.
    """
    with tempfile.TemporaryDirectory(prefix="store-") as folder:
        copy = os.path.join(folder, "store")
        # Without its log or its journal it is half of itself.
        for ending in ("", "-wal", "-journal"):
            if os.path.exists(path + ending):
                shutil.copyfile(path + ending, copy + ending)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            yield database


def whole_store(path):
    """What is wrong with a store of SQLite; None where it is whole or is not there."""
    if not os.path.exists(path):
        return None
    try:
        with copied_store(path) as database:
            said = database.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    return None if said == "ok" else f"the store: {said[:200]}"


def table(rows, headings):
    """Prints rows under headings; numbers stand on the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in [headings, *texts]) for column in range(len(headings))]

    def line(cells, source):
        print("  ".join(cell.rjust(width) if isinstance(of, (int, float)) else cell.ljust(width)
                        for cell, width, of in zip(cells, widths, source)).rstrip())

    line(headings, rows[0] if rows else headings)
    for cells, row in zip(texts, rows):
        line(cells, row)
    sys.stdout.flush()


def check_names(kind, wanted, known):
    """Ends the run where one of the names that were asked for is none: it would be left out, and nobody be told."""
    for name in wanted or []:
        if name not in known:
            raise SystemExit(f"there is no {kind} {name!r}: {', '.join(known)}")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
