# A bar is painted on a stderr that is a terminal, and cleared in the end; nowhere else.
sptile gen grid2d --side 10 -o a.mtx -q
python3 - << 'PYTHON'
import os, pty, select, subprocess
env = dict(os.environ, TERM="xterm")


def stderr_of(*options, patience):
    """What convert writes to a stderr that is a terminal while its input is slow: until it has written something, or
    for so many seconds."""
    main, other = pty.openpty()
    run = subprocess.Popen(["sptile", "convert", "-", "a.h5", "--force", *options], env=env, stderr=other,
                           stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    os.close(other)
    run.stdin.write(open("a.mtx", "rb").read())
    select.select([main], [], [], patience)
    run.stdin.close()
    seen = b""
    try:
        while chunk := os.read(main, 4096):
            seen += chunk
    except OSError:
        pass  # the other end is closed
    assert run.wait() == 0
    return seen


painted = stderr_of(patience=60)
print("painted:", painted.startswith(b"\r\x1b[Kread") and painted.endswith(b"\r\x1b[K"))
print("silent with --no-progress:", stderr_of("--no-progress", patience=1) == b"")
print("silent with --quiet:", stderr_of("--quiet", patience=1) == b"")
PYTHON
(cat a.mtx; sleep 0.5) | TERM=xterm sptile convert - a.h5 --force > /dev/null
