# SPDX-License-Identifier: Apache-2.0
"""Limits, for Trust/torture: too few descriptors, too little memory, a full disk, at each small value.

Each is a function that yields what it tries: a name for the table, the value, how the program is started, and what is done
to its folder before and after.
"""

import os
import subprocess
import tempfile

MEGABYTE = 1 << 20


class Limit:
    """A value of a limit: words that go before the command, and a disk of its own where it is about that.

    `excused` are beginnings of what may be wrong with how it ends, since nobody can do anything about it.
    """

    def __init__(self, name, value, wrapper=(), excused=()):
        self.name, self.value, self.wrapper, self.excused = name, value, list(wrapper), tuple(excused)

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
    # Below four the loader finds no libraries. libdispatch ends the process (SIGILL) when it gets none of its own four, or
    # when it cannot open /proc/self/task/N/stat to look how its threads do.
    for count in range(4, 33):
        yield Limit("descriptors", count, ["prlimit", f"--nofile={count}"], ["died of signal 4"])
    # Swift ends a process that gets no memory, libdispatch waits for ever for a thread's, and the loader's word for it is
    # 127: what is left behind must be whole all the same.
    for size in range(48, 400, 32):
        yield Limit("memory", f"{size} MB", ["prlimit", f"--as={size * MEGABYTE}"], ["died of", "hangs", "status 127"])
    if not why_no_disk():
        for size in range(0, 160 * 1024, 4096):
            yield SmallDisk(size)
