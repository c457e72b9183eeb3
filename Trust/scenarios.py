# SPDX-License-Identifier: Apache-2.0
"""What Trust/torture does again and again: each scenario is what a user does with dnsctl, in a folder of its own, with
what must hold however it ends."""

import contextlib
import json
import os
import signal
import sqlite3
import threading
import time

import clients
import limits
import trials

NAMES = [f"n{number}.lab.test" for number in range(6)]
PUBLIC = ["--allow", "127.0.0.0/8"]


# What every process calls, and what one that asks others calls, too: a count of 0 means that the shim sees nothing any more.
ALWAYS = ("read", "write", "epoll_wait", "open", "stat", "close", "fcntl", "mmap", "malloc", "pthread_create", "clock")
ASKING = ("connect", "send", "recv", "socket", "epoll_ctl", "eventfd", "sockopt")


# With which status a program ends that has lost memory (Shims/faults.c), and what its report begins with.
LEAKS = 99
LEAK_REPORT = "ERROR: LeakSanitizer"


class Scenario:
    """A command, and what is right of it.

    `command` is the verb and its arguments. `answer` must stand in its output when it says 0, and `statuses` are those that
    it may say else, as its help has them: never 1, for the names are there. However it ends, a store, a cookie file and an
    export are whole. `needs` are functions that it must call, beside those that every process does.
    """

    program = "dnsctl"
    statuses = (2, 74, 78)
    limit = 15
    # Ends that do not count (limits.Excuse).
    excused = ()

    def __init__(self, name, command, answer="", prepare=None, check=None, dead=False, statuses=None, needs=ASKING):
        self.name, self.command, self.answer = name, command, answer
        self.prepares, self.checks, self.dead = prepare, check, dead
        self.statuses = statuses or self.statuses
        self.needs = (*ALWAYS, *needs)

    def prepare(self, lab, folder):
        if self.prepares:
            self.prepares(lab, folder)

    def words(self, lab, folder):
        return self.command(lab) if callable(self.command) else self.command

    def start(self, lab, folder, program, environment, wrapper=()):
        environment = {**lab.environment(folder, self.dead), **environment}
        return trials.start([*wrapper, program, *self.words(lab, folder)], environment, folder)

    def run(self, lab, folder, program, environment, wrapper=(), has_struck=None, slept=trials.never_slept):
        return trials.finish(self.start(lab, folder, program, environment, wrapper), self.limit, slept)

    def wrongs(self, lab, folder, ended, faulted=True, said=True):
        """What is wrong with how it ended, in words."""
        found = []
        if ended.orphans:
            found.append("left a process behind")
        if ended.is_hung:
            found.append("hangs")
        elif ended.status == 0:
            if self.answer not in ended.output:
                found.append(f"says 0 without \"{self.answer}\": {ended.output.strip()[:120]!r}")
            if self.checks:
                found += self.checks(lab, folder)
        elif ended.status == LEAKS:
            found.append(f"has lost memory: {ended.errors[ended.errors.find(LEAK_REPORT):][:400]!r}")
        elif ended.status >= 128 and ended.status not in self.statuses:
            found.append(f"died of signal {ended.status - 128}")
        elif not faulted or ended.status not in self.statuses:
            found.append(f"status {ended.status}: {ended.errors.strip()[:160]!r}")
        elif said and "dnsctl" not in ended.errors:
            found.append(f"status {ended.status} without a word of why")
        for store in ("answers.sqlite",):
            found += [wrong for wrong in [trials.whole_store(os.path.join(folder, store))] if wrong]
        return found + cookie_faults(os.path.join(folder, "cookies")) + export_faults(folder)


def cookie_faults(path):
    """A cookie file is whole, or is not there."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        content = file.read()
    lines = [line for line in content.decode(errors="replace").split("\n") if line and not line.startswith("#")]
    if not content.startswith(b"# Netscape") or not content.endswith(b"\n") or any(line.count("\t") != 6 for line in lines):
        return [f"the cookie file is broken: {content[-80:]!r}"]
    return []


def export_faults(folder):
    """An export is whole, or is not there."""
    if not os.path.exists(os.path.join(folder, "export.jsonl")):
        return []
    try:
        count = len([json.loads(line) for line in text_of(folder, "export.jsonl").splitlines()])
    except ValueError as error:
        return [f"the export is broken: {error}"]
    return [] if count == 8 else [f"the export has {count} lines of 8"]


def has_file(name, content):
    def check(lab, folder):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                found = file.read()
        except OSError as error:
            return [f"says 0, and {name}: {error.strerror}"]
        return [] if content in (found, None) else [f"says 0, and {name} has {len(found)} other bytes"]
    return check


def text_of(folder, name):
    """What stands in a file; nothing where there is none."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


def has_export(lab, folder):
    return [] if os.path.exists(os.path.join(folder, "export.jsonl")) else ["says 0, and there is no export"]


def both(*checks):
    return lambda lab, folder: [wrong for check in checks for wrong in check(lab, folder)]


def has_cookies(lab, folder):
    text = text_of(folder, "cookies")
    return [] if "\tsession\t7" in text and "\tbasket\t9" in text else ["says 0, and a cookie is missing in the file"]


def stored_names(path):
    """How many answers a store has, by another program's SQLite."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT count(*) FROM answers").fetchone()[0]
    except sqlite3.Error:
        return -1


def has_stored(count):
    def check(lab, folder):
        found = stored_names(os.path.join(folder, "answers.sqlite"))
        return [] if found >= count else [f"says 0, and the store has {found} of {count} answers"]
    return check


def export_text(names, asked, expires):
    lines = [{"format": "directdns-answers", "version": 1}]
    lines += [{"host": name, "type": "A", "addresses": ["127.0.0.1"], "negative": None, "canonicalName": None,
               "provider": "doh.lab.test", "asked": asked, "expires": expires, "gone": expires + 86_400_000}
              for name in names]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def with_stale_store(lab, folder):
    """A store whose answers expired an hour ago."""
    now = int(time.time() * 1000)
    with open(os.path.join(folder, "answers.jsonl"), "w") as file:
        file.write(export_text(["www.lab.test", *NAMES], now - 7_200_000, now - 3_600_000))
    ended = trials.finish(trials.start([trials.program("dnsctl", "DNSCTL"), "cache", "import", "--store", "answers.sqlite",
                                        "answers.jsonl"], lab.environment(folder), folder), 30)
    if ended.status != 0:
        raise SystemExit(f"preparing a store: {ended.errors}")


def with_file(name, content):
    def prepare(lab, folder):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return prepare


class Staying(Scenario):
    """A process that stays, does something while it does, and is told to end."""

    ready_within = 15

    def __init__(self, name, command, ready, ends=(0,), **others):
        super().__init__(name, command, **others)
        self.ready, self.ends = ready, ends

    def stay(self, lab, folder, run):
        """What happens once it says that it is ready, until it is told to end: `run` is what is known of it."""
        raise NotImplementedError

    def run(self, lab, folder, program, environment, wrapper=(), has_struck=lambda: True, slept=trials.never_slept):
        run = Run(self.start(lab, folder, program, environment, wrapper), self.limit, has_struck, slept)
        if run.wait(self.ready, self.ready_within):
            self.stay(lab, folder, run)
        run.tell_to_end()
        ended = run.end()
        ended.status = 0 if ended.status in self.ends else ended.status
        return ended


class Run:
    """A process of `Staying`: what it says, how long it may go on, and whether its fault has struck yet, which one without a
    fault is taken to have, and for how many seconds libdispatch has slept in it."""

    def __init__(self, process, limit, has_struck, slept):
        self.process, self.has_struck, self.slept = process, has_struck, slept
        self.until = time.monotonic() + limit
        self.errors, self.output = Lines(process.stderr), Lines(process.stdout)
        self.is_told = False
        # What Ended gets beside how it ended.
        self.notes = {}

    def wait(self, text, seconds=15):
        until = min(self.until, time.monotonic() + seconds)
        while time.monotonic() < until and self.process.poll() is None:
            if text in self.errors.text() or text in self.output.text():
                return True
            time.sleep(0.003)
        return False

    def tell_to_end(self):
        """Once: at a second signal that comes 0.2 s later it would end by that."""
        if not self.is_told and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.is_told = True

    def end(self):
        _, status, *how = trials.ending(self.process, max(0.1, self.until - time.monotonic()), self.process.wait,
                                         self.slept)
        self.errors.join(), self.output.join()
        ended = trials.Ended(status, self.output.text(), self.errors.text(), *how)
        ended.notes = self.notes
        return ended


class Following(Staying):
    """A process that goes by its configuration file as that changes."""

    statuses = (2, 74, 78, 130, 143)

    def __init__(self, name, command, ready, reload, **others):
        super().__init__(name, command, ready, **others)
        self.reload = reload

    def words(self, lab, folder):
        return [word.replace("{folder}", folder) for word in super().words(lab, folder)]

    UNCHANGED = "The previous configuration stays in force"
    BEFORE = "{ keepAlive: ['kept.lab.test'] }"
    AFTER = "{ keepAlive: ['kept.lab.test', 'more.lab.test'], addressPolicy: { allow: ['127.0.0.0/8'] } }"

    def prepare(self, lab, folder):
        super().prepare(lab, folder)
        self.configure(folder, self.BEFORE)

    @staticmethod
    def configure(folder, text):
        """Puts a configuration in place; says whether there was room for it."""
        path = os.path.join(folder, "directdns.json5")
        # Where the disk is full there is no room for what is there already.
        if text_of(folder, "directdns.json5") == text:
            return True
        try:
            with open(path + ".draft", "w") as file:
                file.write(text)
            os.rename(path + ".draft", path)
        except OSError:
            return False
        return True

    def wrongs(self, lab, folder, ended, faulted=True, said=True):
        found = super().wrongs(lab, folder, ended, faulted, said)
        # With a fault it may end before it has read it, or say why it does not go by it; nobody asks it to where there is no
        # room for the file (configure). All else is a change that got lost.
        is_to_reload, has_reloaded = ended.notes.get("reload", (False, False))
        is_excused = faulted and (ended.status != 0 or not is_to_reload or self.UNCHANGED in ended.errors or not said)
        if not has_reloaded and not is_excused:
            found.append("does not go by the configuration as it changed")
        return found

    def run(self, lab, folder, *others, **named):
        # The run before has left the other one.
        self.configure(folder, self.BEFORE)
        return super().run(lab, folder, *others, **named)

    def stay(self, lab, folder, run):
        if self.configure(folder, self.AFTER):
            run.process.send_signal(signal.SIGHUP)
            run.notes["reload"] = (True, self.reload(lab, run.wait))


# Where SwiftNIO ends the process itself, as it begins or ends: a thread of its event loops gets no epoll instance or no
# eventfd(2), a close(2) says EIO of those or of a file of /sys, or there is no thread to be had, of which it says nothing.
LOOP_FAILED = r"NIOPosix/MultiThreadedEventLoopGroup\.swift:\d+: Fatal error: Unexpected error while running SelectableEventLoop: "
CLOSE_FAILED = r"\.swift:\d+: Fatal error: 'try!' expression unexpectedly raised an error: close: Input/output error"
NIO_ENDS = [
    limits.Excuse("died of signal 4", function="epoll_ctl", errors=LOOP_FAILED + r"epoll_c(reate|tl)\("),
    limits.Excuse("died of signal 4", function="eventfd", errors=LOOP_FAILED + r"eventfd\("),
    limits.Excuse("died of signal 4", function="close", errors=r"(NIOPosix/SelectorEpoll|NIOCore/Linux)" + CLOSE_FAILED),
    limits.Excuse("died of signal 4", function="pthread_create", errors=r"\A\Z"),
]


class Proxying(Staying):
    """A proxy, and its clients (clients.py).

    Each of them gets its whole answer, or is told that it does not, and as soon as the fault has struck all of them get it
    again, of the same process. A tunnel that is open when the proxy is told to end still carries what its client asks.
    When no client is left it holds as many files as without a fault.
    """

    program = "dnsctl-proxy"
    excused = NIO_ENDS
    statuses = (74, 78)
    limit = 40
    # Where standard error fails nobody is told.
    ready_within = 5

    def __init__(self, name, **others):
        super().__init__(name, ["proxy", "--listen", "127.0.0.1:0", *PUBLIC, "--timeout", "3", "--connect-timeout", "3"],
                         ready="proxy at 127.0.0.1:", **others)
        self.files = None

    def run(self, lab, folder, program, environment, **named):
        if self.files is None and "FAULT" in environment:
            super().run(lab, folder, program, {})
        return super().run(lab, folder, program, environment, **named)

    def stay(self, lab, folder, run):
        wrongs, lost = run.notes.setdefault("wrongs", []), run.notes.setdefault("lost", [])
        port = int(run.errors.text().split(self.ready)[1].split()[0])

        def visit(name, client):
            is_over = run.has_struck()
            try:
                client()
            except clients.Told as told:
                if is_over:
                    lost.append(f"{name} after the fault: {told}")
            except clients.Wrong as wrong:
                wrongs.append(f"{name}: {wrong}")

        # Another name each time, since a failed lookup is remembered for a moment.
        for number in range(2):
            is_over = run.has_struck()
            for name, client in clients.CLIENTS.items():
                visit(name, lambda: client(lab, port, NAMES[number]))
            if is_over or not run.has_struck():
                break
        wrongs += self.idle_wrongs(lab, run)
        visit("drained tunnel", lambda: clients.drained(lab, port, NAMES[5], run.tell_to_end))

    def idle_wrongs(self, lab, run):
        """Whether it holds more files than without a fault, once those of its clients have had time to go."""
        count = lambda: trials.open_files(run.process, lab.ports["nginx"])
        until, is_first = time.monotonic() + 3, self.files is None
        if is_first:
            until = time.monotonic() + 1
            self.files = 0
        while count() > self.files and time.monotonic() < until:
            time.sleep(0.01)
        if is_first:
            self.files = count()
        return [f"holds {count()} files without clients, of {self.files}"] if count() > self.files else []

    def wrongs(self, lab, folder, ended, faulted=True, said=True):
        found = super().wrongs(lab, folder, ended, faulted, said)
        if "wrongs" not in ended.notes:
            return found + ["never says where it listens"] if ended.status == 0 and said else found
        if 0 < ended.status < 128:
            found.append("ends while it serves")
        # Of a process that has died nobody gets anything, and that it has is what is wrong.
        return found + ended.notes["wrongs"] + (ended.notes["lost"] if ended.status < 128 else [])


class Lines:
    """Collects what a pipe says."""

    def __init__(self, pipe):
        self.pipe, self.bytes = pipe, bytearray()
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self):
        while chunk := os.read(self.pipe.fileno(), 65536):
            self.bytes += chunk

    def text(self):
        return self.bytes.decode(errors="replace")

    def join(self):
        self.thread.join(5)
        self.pipe.close()


STORED = ["--store", "answers.sqlite"]

SCENARIOS = [
    Scenario("cold lookup", ["resolve", "--timeout", "3", "www.lab.test"], answer="127.0.0.1"),
    Scenario("stale lookup", ["resolve", "--timeout", "3", *STORED, "www.lab.test"], answer="127.0.0.1",
             prepare=with_stale_store, dead=True, needs=("connect", "socket", "sockopt", "epoll_ctl")),
    Scenario("request", lambda lab: ["fetch", "-sS", "-m", "5", *PUBLIC, "-o", "body", lab.url("/small")],
             check=has_file("body", trials.SMALL)),
    Scenario("redirect with cookie", lambda lab: ["fetch", "-sS", "-m", "5", *PUBLIC, "-o", "body", "-c", "cookies",
                                                  lab.url("/login")],
             prepare=with_file("cookies", b"# Netscape HTTP Cookie File\n"),
             check=both(has_file("body", b"cookies: session=7; basket=9"), has_cookies), needs=(*ASKING, "fsync", "rename")),
    Scenario("warm-up into SQLite", ["warmup", "--deadline", "6", *STORED, *NAMES], answer="6 of 6 have an address",
             check=has_stored(6), statuses=(2, 5, 74, 78), needs=(*ASKING, "fsync", "unlink")),
    Scenario("import", ["cache", "import", *STORED, "answers.jsonl"], prepare=lambda lab, folder: [
        with_stale_store(lab, folder), [os.remove(os.path.join(folder, name)) for name in os.listdir(folder)
                                        if name.startswith("answers.sqlite")]], check=has_stored(7),
             needs=("fsync", "unlink", "ftruncate")),
    Scenario("export", ["cache", "export", *STORED, "export.jsonl"], prepare=with_stale_store,
             check=has_export, needs=("fsync", "rename", "unlink")),
    Following("reload and shut-down", ["watch", "--interval", "0.1", "--config", "{folder}/directdns.json5", *STORED],
              ready="kept.lab.test", reload=lambda lab, wait: wait("more.lab.test"), ends=(0, 143),
              needs=(*ASKING, "fsync")),
    Proxying("proxy", needs=(*ASKING, "bind", "listen", "accept")),
]
