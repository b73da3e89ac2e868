#!/usr/bin/env python3
"""Reads HDF5 files that HDF5 loops on, and writes HDF5 where memory is short: every command ends, with exit code 0, 3 or
5, and leaves neither a process nor a file.

    hdf5_test.py SPTILE [--no-limits]

--no-limits: address space is not limited. Ends with 77 (skipped) where h5py is missing.
"""
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}", file=sys.stderr)
    sys.exit(77)

SECONDS = 60  # after which a command hangs


def write_good(path):
    """A 3 x 4 matrix as h5py writes it, with compressed arrays and a text in the global heap."""
    descriptor = {"binsparse": {"version": "0.1", "format": "CSR", "shape": [3, 4]}}
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        file.attrs["binsparse"] = json.dumps(descriptor)
        for name, values in (("pointers_to_1", numpy.array([0, 2, 2, 4], "i8")), ("values", numpy.ones(4, "f4")),
                             ("indices_1", numpy.array([0, 3, 1, 2], "i4"))):
            file.create_dataset(name, data=values, chunks=(4,), compression="gzip", shuffle=True)


def write_endless(path, good):
    """The free space at the end of the global heap has no bytes: HDF5 1.10 steps over it for ever."""
    data = bytearray(good.read_bytes())
    heap = data.index(b"GCOL")
    at, end = heap + 16, heap + struct.unpack_from("<Q", data, heap + 8)[0]
    while at < end:
        index, _, _, size = struct.unpack_from("<HHIQ", data, at)
        if index == 0:
            break
        at += 16 + (size + 7) // 8 * 8
    assert at < end, "the heap has no free space"
    struct.pack_into("<Q", data, at + 8, 0)
    path.write_bytes(data)


def start(command, *arguments, before=None):
    return subprocess.Popen([command, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            preexec_fn=before)


def run(command, *arguments, before=None):
    """Returns exit code and messages."""
    child = start(command, *arguments, before=before)
    messages = child.communicate(timeout=SECONDS)[1]
    return child.returncode, messages


def helper_of(process):
    """The helper that a process has started, once HDF5 loops in it; None when the process ends before that."""
    ticks = os.sysconf("SC_CLK_TCK") // 4
    while process.poll() is None:
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = stat.read_text().split("(", 1)[1].rsplit(") ", 1)
            except (OSError, IndexError):
                continue
            fields = rest.split()
            if name == "sptile-hdf5" and int(fields[1]) == process.pid and int(fields[11]) >= ticks:
                return int(stat.parent.name)
        time.sleep(0.005)
    return None


def is_gone(pid):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def ignore_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def take_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def check_endless(command, endless):
    code, messages = run(command, "stats", endless)
    assert code == 3 and "damaged" in messages, (code, messages)


def check_signals(command, endless):
    """Both processes are gone soon after a signal to the first."""
    for number in (signal.SIGINT, signal.SIGKILL):
        child = start(command, "stats", endless, before=take_ctrl_c)
        helper = helper_of(child)
        child.send_signal(number)
        child.communicate(timeout=SECONDS)
        assert helper is None or is_gone(helper), f"a helper is left after signal {number}"


def check_crash(command, endless):
    """A helper that dies is a damaged file, also where nobody learns of its death."""
    for before in (None, ignore_children):
        child = start(command, "stats", endless, before=before)
        helper = helper_of(child)
        if helper is not None:
            os.kill(helper, signal.SIGSEGV)
        messages = child.communicate(timeout=SECONDS)[1]
        assert child.returncode == 3 and "damaged" in messages, (child.returncode, messages)


def check_limits(command, good, folder):
    """Exit code 5 and no file, or a file that is whole."""
    bundle = folder / "a.h5"
    assert run(command, "convert", good, bundle, "-q") == (0, "")
    seen = set()
    for kibibytes in (*range(44000, 90000, 4500), 150000, 400000):
        for verb, source, name in (("convert", good, "a.h5"), ("convert", bundle, "b.h5"), ("export", bundle, "a.bsp.h5")):
            with tempfile.TemporaryDirectory(dir=folder) as out:
                limit = (kibibytes << 10, kibibytes << 10)
                code, messages = run(command, verb, source, pathlib.Path(out) / name, "-q", "--threads", "2",
                                     before=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, limit))
                left = os.listdir(out)
                assert code in (0, 5) and left == ([name] if code == 0 else []), (kibibytes, verb, code, messages, left)
                seen.add(code)
    assert seen == {0, 5}, seen


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good, endless = folder / "good.bsp.h5", folder / "endless.bsp.h5"
        write_good(good)
        write_endless(endless, good)
        for before in (None, ignore_children):
            assert run(command, "stats", "-q", good, before=before) == (0, "")
        check_endless(command, endless)
        check_signals(command, endless)
        check_crash(command, endless)
        if "--no-limits" not in sys.argv:
            check_limits(command, good, folder)


if __name__ == "__main__":
    main()
