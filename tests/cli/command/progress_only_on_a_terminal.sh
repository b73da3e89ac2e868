# Runs under a pseudo-terminal and without one, and looks at stderr.
sptile gen random --rows 100000 --cols 100000 --nnz 1500000 -o a.mtx -q
python3 - << 'PYTHON'
import os, pty, subprocess
env = dict(os.environ, TERM="xterm")

def stderr_of(*options):
    """What convert writes to a stderr that is a terminal."""
    main, other = pty.openpty()
    run = subprocess.Popen(["sptile", "convert", "a.mtx", "a.h5", "--force", "--threads", "1", *options], env=env,
                           stderr=other, stdout=subprocess.DEVNULL)
    os.close(other)
    seen = b""
    try:
        while chunk := os.read(main, 4096):
            seen += chunk
    except OSError:
        pass  # the other end is closed
    assert run.wait() == 0
    return seen

painted = stderr_of()
print("a bar on a terminal:", b"\r\x1b[K" in painted and b"[" in painted and painted.endswith(b"\r\x1b[K"))
for option in ("--no-progress", "--quiet"):
    print("with", option, "it is silent:", stderr_of(option) == b"")
PYTHON
TERM=xterm sptile convert a.mtx a.h5 --force > /dev/null
