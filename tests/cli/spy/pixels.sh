# Decodes the picture: every entry is dark, every empty cell white, and the second panel has the rows moved.
sptile gen random --rows 40 --cols 40 --nnz 300 -o a.mtx -q
sptile spy a.mtx -o a.png --reorder random --seed 5 --rows-only --size 40 -q
sptile reorder a.mtx --method random --seed 5 -o b.mtx -q
python3 - <<'EOF'
import struct, zlib
def pixels(path):
    data, at, body = open(path, "rb").read(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert (depth, colour) == (8, 0), "not 8-bit grey"
        body += chunk if kind == b"IDAT" else b""
        at += size + 12
    raw, rows, above = zlib.decompress(body), [], [0] * width
    for y in range(height):
        kind, line = raw[y * (width + 1)], list(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left, up, corner = (line[x - 1] if x else 0), above[x], (above[x - 1] if x else 0)
            paeth = min((left, up, corner), key=lambda v: (abs(left + up - corner - v)))
            line[x] = (line[x] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
        rows.append(line)
        above = line
    return rows
def entries(path):
    lines = [line.split() for line in open(path) if not line.startswith("%")][1:]
    return {(int(r) - 1, int(c) - 1) for r, c, _ in lines}
rows = pixels("a.png")
assert (len(rows), len(rows[0])) == (40, 92), (len(rows), len(rows[0]))
for left, path in (0, "a.mtx"), (52, "b.mtx"):
    dark = {(y, x) for y in range(40) for x in range(40) if rows[y][left + x] < 255}
    assert dark == entries(path), path
EOF
