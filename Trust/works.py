# SPDX-License-Identifier: Apache-2.0
"""What Trust/crashes interrupts: each work writes something, and knows what must be left of it."""

import json
import os
import time

import scenarios
import trials

KEPT = [f"kept{number}.lab.test" for number in range(20)]
NEW = [f"new{number}.lab.test" for number in range(40)]
STORE = "answers.sqlite"
OLD = b"what was there before\n"


class Work:
    """`command` writes; `next` is what a user does after the crash, by default the same again.

    `wrongs` is told whether the command had ended well, which makes what it wrote acknowledged, and whether the power went.
    `is_synced` is no where the end of the command says nothing of a power failure: nobody syncs a new download, as with
    curl, and whoever has lost it fetches it again.
    """

    # Seconds, and those behind its first write.
    duration = writing = 0.1

    def __init__(self, name, command, prepare=None, check=None, next=None, outlives_power=True,
                 is_synced=True):
        self.name, self.command, self.prepares, self.check = name, command, prepare, check
        self.outlives_power, self.is_synced = outlives_power, is_synced
        self.next = next or command

    def prepare(self, lab, folder):
        if self.prepares:
            self.prepares(lab, folder)

    def wrongs(self, folder, is_ended, is_power=False):
        store = trials.whole_store(os.path.join(folder, STORE))
        return ([store] if store else []) + self.check(folder, is_ended, is_power)


# --- Stores ---------------------------------------------------------------------------------------------------

class Filled:
    """A store with answers that were acknowledged, made once and copied."""

    files = None

    @classmethod
    def prepare(cls, lab, folder):
        if cls.files is None:
            now = int(time.time() * 1000)
            lines(folder, "kept.jsonl", KEPT, now)
            lines(folder, "new.jsonl", NEW, now)
            ended = trials.finish(trials.start(
                [trials.program("dnsctl", "DNSCTL"), "cache", "import", "--store", STORE, "kept.jsonl"],
                lab.environment(folder), folder), 60)
            if ended.status != 0:
                raise SystemExit(f"preparing a store: {ended.errors}")
            cls.files = {}
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    cls.files[name] = file.read()
        for name, content in cls.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


def lines(folder, name, hosts, now):
    with open(os.path.join(folder, name), "w") as file:
        file.write(scenarios.export_text(hosts, now, now + 3_600_000))


def hosts_of(folder):
    path = os.path.join(folder, STORE)
    if not os.path.exists(path):
        return set()
    try:
        with trials.copied_store(path) as database:
            return {row[0] for row in database.execute("SELECT host FROM answers")}
    except scenarios.sqlite3.Error:
        # What is wrong with it `whole_store` says.
        return set()


def keeps(new, old=True):
    """What was acknowledged is there; and all of the new, once the command has ended."""
    def check(folder, is_ended, is_power):
        there = hosts_of(folder)
        wanted = set(KEPT if old else []) | set(new if is_ended else [])
        lost = wanted - there
        aside = [name for name in os.listdir(folder) if ".damaged" in name]
        return ([f"{len(lost)} of {len(wanted)} answers are lost"] if lost else []) + \
            (["a whole store was set aside"] if aside else [])
    return check


# --- Files ----------------------------------------------------------------------------------------------------

def old_file(name, content=OLD):
    def prepare(lab, folder):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return prepare


def content(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def is_old_or(name, is_new, old=OLD, may_lack=False):
    """The file is the old one, or the new one and whole; the new one once the command has ended."""
    def check(folder, is_ended, is_power):
        found = content(folder, name)
        if found is not None and is_new(found):
            return []
        if found == old and not is_ended or found is None and may_lack and not is_ended:
            return []
        return [f"{name} is neither the old one nor the new one: {found and (len(found), found[-60:])}"]
    return check


def is_beginning(name, whole):
    """A new download: as much of it as came, from the beginning on."""
    def check(folder, is_ended, is_power):
        found = content(folder, name)
        if found == whole or not is_ended and (found is None or whole.startswith(found)):
            return []
        # Blocks of a file that was not synced may be there in any order when the power has gone.
        if is_power and not is_ended and len(found) <= len(whole):
            return []
        return [f"{name} has {len(found or b'')} bytes that are no beginning of the download"]
    return check


def is_export(bytes):
    text = bytes.decode(errors="replace").splitlines()
    try:
        return len([json.loads(line) for line in text]) == 1 + len(KEPT) and bytes.endswith(b"\n")
    except ValueError:
        return False


def is_report(bytes):
    try:
        return json.loads(bytes)["names"] == len(NEW)
    except (ValueError, KeyError, TypeError):
        return False


def is_cookie_file(bytes):
    return bytes.startswith(b"# Netscape") and bytes.endswith(b"\n") and b"\tsession\t7" in bytes and b"\tbasket\t9" in bytes


def both(*prepares):
    def prepare(lab, folder):
        for each in prepares:
            each(lab, folder)
    return prepare


FETCH = ["fetch", "-sS", "--allow", "127.0.0.0/8"]
COOKIES = b"# Netscape HTTP Cookie File\n"

WORKS = [
    Work("warm-up into a new store", lambda lab: ["warmup", "--store", STORE, *NEW], check=keeps(NEW, old=False)),
    Work("warm-up into a store", lambda lab: ["warmup", "--store", STORE, *NEW], Filled.prepare, keeps(NEW)),
    Work("import into a store", lambda lab: ["cache", "import", "--store", STORE, "new.jsonl"], Filled.prepare, keeps(NEW)),
    Work("cookie file", lambda lab: [*FETCH, "-o", "body", "-c", "cookies", lab.url("/login")],
         old_file("cookies", COOKIES), is_old_or("cookies", is_cookie_file, COOKIES)),
    Work("new cookie file", lambda lab: [*FETCH, "-o", "body", "-c", "cookies", lab.url("/login")], None,
         is_old_or("cookies", is_cookie_file, None, may_lack=True)),
    Work("download over a file", lambda lab: [*FETCH, "-o", "body", lab.url("/slow")], old_file("body"),
         is_old_or("body", lambda found: found == trials.BIG)),
    Work("new download", lambda lab: [*FETCH, "-o", "body", lab.url("/slow")], None, is_beginning("body", trials.BIG),
         is_synced=False),
    # After a power failure a file may have its length and not all of its blocks: -C - does not look, as curl's does not.
    Work("new download, gone on with", lambda lab: [*FETCH, "-o", "body", lab.url("/slow")], None,
         is_beginning("body", trials.BIG), next=lambda lab: [*FETCH, "-C", "-", "-o", "body", lab.url("/slow")],
         outlives_power=False),
    Work("export over a file", lambda lab: ["cache", "export", "--store", STORE, "export.jsonl"],
         both(Filled.prepare, old_file("export.jsonl")), is_old_or("export.jsonl", is_export)),
    Work("new export", lambda lab: ["cache", "export", "--store", STORE, "export.jsonl"], Filled.prepare,
         is_old_or("export.jsonl", is_export, None, may_lack=True)),
    Work("new report", lambda lab: ["warmup", "--report", "report.json", *NEW], None,
         is_old_or("report.json", is_report, None, may_lack=True)),
]
