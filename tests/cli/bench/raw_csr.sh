# A raw CSR file: magic, rows, columns; entries; row pointers; columns. It is a pattern unless values are made up.
python3 - <<'PYTHON'
import struct
row_ptr, columns = [0, 2, 2, 5], [0, 3, 1, 2, 4]
with open("a.csr", "wb") as file:
    file.write(struct.pack("<iiiq", 0x43535231, 3, 5, 5) + struct.pack("<9i", *row_ptr, *columns))
PYTHON
bench() { sptile bench a.csr --format csr,bittcf -n 4 --repeat 1 --json "$@" | jq -c '[.rows[] | [.nnz, .value_dtype, .checked]] | unique'; }
bench
bench --values random
sptile convert a.csr a.h5 -q
sptile verify a.h5 --against a.csr --json | jq .ok
head -c 50 a.csr > cut.csr
sptile stats cut.csr
