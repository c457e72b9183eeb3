# SPDX-License-Identifier: Apache-2.0
"""Limits, for Trust/torture: too few descriptors, too little memory, a full disk, at each small value.

Each is a function that yields what it tries: a name for the table, the value, how the program is started, and what is done
to its folder before and after.
"""

import os
import re
import subprocess
import tempfile

MEGABYTE = 1 << 20


class Excuse:
    """An end that nobody can do anything about, and no other: the beginning of what is wrong with it, whose code it was that
    crashed, what stands on standard error, whether a thread of what hangs sleeps, and which function failed."""

    def __init__(self, wrong, crashed=None, errors=None, sleeps=False, function=None):
        self.wrong, self.crashed, self.errors, self.sleeps, self.function = wrong, crashed, errors, sleeps, function

    def covers(self, wrong, ended):
        return (wrong.startswith(self.wrong) and (self.crashed is None or ended.crashed.startswith(self.crashed))
                and (self.errors is None or re.search(self.errors, ended.errors) is not None)
                and (not self.sleeps or ended.sleeps) and self.function in (None, ended.function))


# What Swift says of the rest is ours: an optional that is nil, an index, a sum.
NO_OTHER_ERROR = r"\A(?!(?s:.)*Fatal error: (?!failed to allocate))"

# libdispatch ends the process by a trap when it gets none of its own four descriptors, or when it cannot open
# /proc/THREAD/stat to look how its threads do. It says nothing.
NO_DESCRIPTORS = [Excuse("died of signal 4", crashed="libdispatch.", errors=NO_OTHER_ERROR)]

NO_MEMORY = [
    # The loader's word for libraries that it cannot map.
    Excuse("status 127", errors="error while loading shared libraries: .*(failed to map|cannot (allocate|create))"),
    # swift_slowAlloc and what makes metadata say "failed to allocate", if there is memory to say it, and abort (6); where
    # there is none for the words it reads nothing (11), or traps (4), as do other threads that need the same metadata.
    *[Excuse(f"died of signal {signal}", crashed="libswiftCore.", errors=NO_OTHER_ERROR) for signal in (4, 6, 11)],
    # libdispatch's word for a lack of what it needs: it ends the process, or sleeps for a second and tries again, for ever.
    Excuse("died of signal 4", crashed="libdispatch.", errors=NO_OTHER_ERROR),
    Excuse("hangs", sleeps=True),
]


class Limit:
    """A value of a limit: words that go before the command, and a disk of its own where it is about that.

    `excused` are ends that do not count. Whose code crashed can be told of a dnsctl with shared libraries alone, so that is
    what runs where there are any.
    """

    def __init__(self, name, value, wrapper=(), excused=()):
        self.name, self.value, self.wrapper, self.excused = name, value, list(wrapper), tuple(excused)

    def wrongs(self, wrongs, ended):
        """What of it is not excused."""
        return [wrong for wrong in wrongs if not any(excuse.covers(wrong, ended) for excuse in self.excused)]

    def enter(self, folder):
        """The folder is ready, and the program not started yet."""

    def leave(self, folder):
        """The program has ended, and runs again soon."""

    def forget(self, folder):
        """It is over."""


class SmallDisk(Limit):
    """A file system in memory with room for so many bytes more than what is there."""

    def __init__(self, value):
        super().__init__("disk", value)

    def enter(self, folder):
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", folder], check=True)
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        used = os.statvfs(folder)
        self.resize(folder, (used.f_blocks - used.f_bfree) * used.f_frsize + self.value)

    def resize(self, folder, size):
        # tmpfs takes 0 for no limit at all.
        subprocess.run(["mount", "-o", f"remount,size={max(4096, size)}", folder], check=True)

    def leave(self, folder):
        self.resize(folder, 64 * MEGABYTE)

    def forget(self, folder):
        subprocess.run(["umount", "-l", folder], check=True)


def why_no_disk():
    """Why no small disk can be had, in words; None where it can."""
    if os.geteuid() != 0:
        return "only root mounts small disks"
    folder = tempfile.mkdtemp(prefix="torture-disk-")
    try:
        # A container's root is root, and may have no right to mount.
        tried = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, text=True)
        if tried.returncode != 0:
            return f"no small disk can be mounted: {tried.stderr.strip()}"
        subprocess.run(["umount", "-l", folder], check=True)
    except OSError as error:
        return f"no small disk can be mounted: {error}"
    finally:
        os.rmdir(folder)
    return None


def all_limits():
    # Below four the loader finds no libraries.
    for count in range(4, 33):
        yield Limit("descriptors", count, ["prlimit", f"--nofile={count}"], NO_DESCRIPTORS)
    # Swift ends a process that gets no memory: what is left behind must be whole all the same.
    for size in range(48, 400, 32):
        yield Limit("memory", f"{size} MB", ["prlimit", f"--as={size * MEGABYTE}"], NO_MEMORY)
    if not why_no_disk():
        for size in range(0, 160 * 1024, 4096):
            yield SmallDisk(size)
