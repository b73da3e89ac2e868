# Contents that are sound but not the source's: only --check sees it, with exit code 7.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n' > a.mtx
sptile convert a.mtx a.h5 -q --format bittcf
python3 - << 'PYTHON'
import struct
data = bytearray(open("a.h5", "rb").read())
for i in range(struct.unpack_from("<I", data, 12)[0]):
    at = 64 + 128 * i
    if data[at:at + 72].rstrip(b"\0") == b"/formats/bittcf/values":
        offset = struct.unpack_from("<Q", data, at + 96)[0]
        data[offset:offset + 4] = struct.pack("<f", 2.0)
open("bad.h5", "wb").write(data)
PYTHON
status=0; sptile run bad.h5 --format bittcf -n 4 --check --json > report.json || status=$?
json-has checked=true rel_err < report.json
exit $status
