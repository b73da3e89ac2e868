# Flips one bit in each array: verify names the array, as text and in JSON, and gives 3.
sptile gen random --rows 300 --cols 200 --nnz 2000 -o a.mtx -q
sptile convert a.mtx a.h5 -q --reorder auto  # what it chose is an array, too
python3 - << 'PYTHON'
import json, struct, subprocess
data = open("a.h5", "rb").read()
assert b"/choices" in data and b"/row_order" in data
for i in range(struct.unpack_from("<I", data, 12)[0]):
    entry = data[64 + 128 * i:192 + 128 * i]
    path = entry[:72].rstrip(b"\0").decode()
    offset, size = struct.unpack_from("<QQ", entry, 96)
    if size == 0:
        continue
    bad = bytearray(data)
    bad[offset + size // 2] ^= 4
    open("bad.h5", "wb").write(bad)
    done = subprocess.run(["sptile", "verify", "bad.h5", "--json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    failed = [c["name"] for c in report["checks"] if not c["ok"]]
    if done.returncode != 3 or report["ok"] or not (f"checksum {path}" in failed or failed == ["header"]):
        print(path, done.returncode, failed, done.stderr)
PYTHON
