# SPDX-License-Identifier: Apache-2.0
"""What a folder may hold after a power failure, out of a record of what a program did to it (Trust/Shims/record.c).

The model is that of a file system without luck: what was written to a file is safe from its fsync on; before that it may
be there, or not, or some of its blocks; its length too. A new, renamed or removed name is safe once a file of that folder
was synced behind it (journalling file systems write such changes in their order); before that it may be there or not, but
never a later one without an earlier one.
"""

import os

BLOCK = 4096


def snapshot(folder):
    """The files of a folder, by their names."""
    found = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def restore(files, folder):
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def read(path):
    """The calls of a record, in their order."""
    calls = []
    with open(path, "rb") as file:
        while line := file.readline():
            words = line.decode().rstrip("\n").split(" ", 1)
            kind, rest = words[0], words[1] if len(words) > 1 else ""
            if kind == "write":
                number, offset, length = map(int, rest.split())
                calls.append((kind, number, offset, file.read(length)))
                file.read(1)
            elif kind == "open":
                number, is_new, is_truncated, name = rest.split(" ", 3)
                calls.append((kind, int(number), is_new == "1", is_truncated == "1", name))
            elif kind in ("rename", "link"):
                calls.append((kind, *rest.split("|", 1)))
            elif kind == "unlink":
                calls.append((kind, rest))
            elif kind == "truncate":
                calls.append((kind, *map(int, rest.split())))
            else:
                calls.append((kind, int(rest)))
    return calls


class Inode:
    """A file's content as it is, and as it was when it was synced last."""

    def __init__(self, content=b""):
        self.now, self.safe = bytearray(content), bytes(content)

    def write(self, offset, content):
        if len(self.now) < offset:
            self.now += bytes(offset - len(self.now))
        self.now[offset:offset + len(content)] = content

    def sync(self):
        self.safe = bytes(self.now)

    def some(self, chance):
        """Some of the blocks that were written since, and a length between."""
        least, most = sorted((len(self.safe), len(self.now)))
        # A file that was cut has one of its lengths: file systems change that at once.
        is_cut = len(self.now) < len(self.safe)
        length = chance.choice((least, most)) if is_cut else chance.randint(least, most)
        mixed = bytearray(self.safe[:length].ljust(length, b"\0"))
        for at in range(0, length, BLOCK):
            if chance.random() < 0.5:
                part = self.now[at:min(at + BLOCK, length)]
                mixed[at:at + len(part)] = part
        return bytes(mixed)


class Disk:
    def __init__(self, files, folder):
        self.folder = folder
        self.names = {name: Inode(content) for name, content in files.items()}
        # The names as they were after each change that is not safe yet; the first is safe.
        self.histories = [dict(self.names)]
        self.open = {}

    def name(self, path):
        return os.path.relpath(path, self.folder)

    def change(self):
        self.histories.append(dict(self.names))

    def do(self, call):
        kind = call[0]
        if kind == "open":
            _, number, is_new, is_truncated, path = call
            if path == "/":
                return
            name = self.name(path)
            if is_new or name not in self.names:
                self.names[name] = Inode()
                self.change()
            self.open[number] = self.names[name]
            if is_truncated:
                self.open[number].now = bytearray()
        elif kind == "write" and call[1] in self.open:
            self.open[call[1]].write(call[2], call[3])
        elif kind == "truncate" and call[1] in self.open:
            inode = self.open[call[1]]
            inode.now = inode.now[:call[2]].ljust(call[2], b"\0")
        elif kind == "sync":
            if call[1] in self.open:
                self.open[call[1]].sync()
            # The journal goes out with it, and what stands before it in there.
            self.histories = [dict(self.names)]
        elif kind in ("rename", "link"):
            source, target = map(self.name, call[1:])
            self.names[target] = self.names[source]
            if kind == "rename":
                del self.names[source]
            self.change()
        elif kind == "unlink":
            self.names.pop(self.name(call[1]), None)
            self.change()


def stray(files, calls, folder):
    """The files that a record leaves otherwise than they are: what it does not show no failure of the power can take."""
    disk = Disk(files, folder)
    for call in calls:
        disk.do(call)
    played, there = {name: bytes(inode.now) for name, inode in disk.names.items()}, snapshot(folder)
    return sorted(name for name in played.keys() | there.keys()
                  if not is_rebuilt(name) and played.get(name) != there.get(name))


def is_rebuilt(name):
    """Whether it is SQLite's index of its log, which is mapped into memory, rebuilt, and never synced."""
    return name.endswith("-shm")


def states(files, calls, folder, chance):
    """What may be found when the power fails behind each call, and once more when the program has ended well: the folder's
    files, whether it has ended, and how that came, in words."""
    disk, seen = Disk(files, folder), set()
    for index, call in enumerate([*calls, None]):
        is_ended = call is None
        if not is_ended:
            disk.do(call)
            if call[0] == "close":
                continue
        behind = "the power fails when it has ended" if is_ended else \
            f"the power fails behind call {index + 1} of {len(calls)} ({call[0]})"
        for names in (disk.histories[0], disk.histories[-1], chance.choice(disk.histories)):
            for label, content in (("nothing that was not synced", lambda inode: inode.safe),
                                   ("all of it", lambda inode: bytes(inode.now)),
                                   ("some blocks", lambda inode: inode.some(chance))):
                found = {name: content(inode) for name, inode in names.items() if not is_rebuilt(name)}
                key = hash((is_ended, *sorted(found.items())))
                if key not in seen:
                    seen.add(key)
                    yield found, is_ended, f"{behind}, {label} is there"
