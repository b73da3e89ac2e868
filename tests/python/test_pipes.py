"""Ctrl-C ends whatever waits for a pipe: the calls of the package and the command; nothing half-written stays."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import command, wait_until_blocked

import sptile

TEXT = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 3\n2 3 4\n"
RIGHT = np.array([[3.0, 0, 0], [0, 0, 4]])
CALLS = {
    "read": "sptile.read('pipe')",
    "convert": "sptile.convert('pipe', 'a.h5')",
    "reorder": "sptile.reorder('pipe')",
}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def take_ctrl_c() -> None:
    """Programs that a shell runs in the background ignore it, and so does what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def silent_writer(pipe: Path, text: str | None) -> Iterator[None]:
    """Holds the pipe open after some text; None: nobody opens it."""
    if text is None:
        yield
        return
    fd = os.open(pipe, os.O_RDWR)
    os.write(fd, text.encode())
    try:
        yield
    finally:
        os.close(fd)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("text", [None, "", TEXT[:60]])
def test_ctrl_c_ends_a_call_that_waits_for_a_pipe(pipe: Path, call: str, text: str | None) -> None:
    program = f"import sptile; sptile.read; print('ready', flush=True); {CALLS[call]}"
    with silent_writer(pipe, text):
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=pipe.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=take_ctrl_c,
        )
        assert child.stdout is not None
        child.stdout.readline()
        wait_until_blocked(child.pid)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        try:
            errors = child.communicate(timeout=60)[1]
        finally:
            child.kill()
    assert "KeyboardInterrupt" in errors.splitlines()[-1]
    assert [path.name for path in pipe.parent.iterdir()] == ["pipe"]


@pytest.mark.parametrize("source", ["pipe", "-"])
@pytest.mark.parametrize("text", [None, "", TEXT[:60]])
def test_ctrl_c_ends_the_command_that_waits_for_a_pipe(pipe: Path, source: str, text: str | None) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    with silent_writer(pipe, text):
        child = subprocess.Popen(
            [program, "convert", source, "a.h5"],
            cwd=pipe.parent,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=take_ctrl_c,
        )
        wait_until_blocked(child.pid)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        try:
            assert child.wait(timeout=60) == -signal.SIGINT
        finally:
            child.kill()
    assert [path.name for path in pipe.parent.iterdir()] == ["pipe"]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_pipe_is_read_to_its_end_however_slow_its_writer_is(pipe: Path, parts: int) -> None:
    def write() -> None:
        time.sleep(0.3)
        with open(pipe, "w") as file:
            for start in range(0, len(TEXT), len(TEXT) // parts):
                file.write(TEXT[start : start + len(TEXT) // parts])
                file.flush()
                time.sleep(0.2)

    writer = threading.Thread(target=write)
    writer.start()
    found = sptile.read(pipe)
    writer.join()
    assert np.array_equal(found.toarray(), RIGHT)


def test_a_pipe_that_ends_without_text_is_refused(pipe: Path) -> None:
    writer = threading.Thread(target=lambda: open(pipe, "w").close())
    writer.start()
    with pytest.raises(sptile.BadInputError, match="the file ends before a banner"):
        sptile.read(pipe)
    writer.join()


def test_two_threads_wait_for_two_pipes(pipe: Path) -> None:
    other = pipe.with_name("other")
    os.mkfifo(other)
    found: dict[Path, np.ndarray] = {}

    def read(path: Path) -> None:
        found[path] = sptile.read(path).toarray()

    readers = [threading.Thread(target=read, args=(path,)) for path in (pipe, other)]
    for reader in readers:
        reader.start()
    time.sleep(0.2)
    for path in (other, pipe):  # not in the order in which they are waited for
        path.write_text(TEXT)
    for reader in readers:
        reader.join()
    assert all(np.array_equal(found[path], RIGHT) for path in (pipe, other))
