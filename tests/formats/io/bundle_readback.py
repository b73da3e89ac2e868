"""Reads the bundle of tests/bundle_sample.hpp (f32 in /csr, argv[2] in /formats/bittcf) with h5py.

Checks that HDF5 programs see the arrays where the table in the user block says, with the right types, and that
/csr and the root are a binsparse matrix.
"""
import json
import struct
import sys

import h5py
import numpy as np

path, value_type = sys.argv[1:3]
with open(path, "rb") as file:
    raw = file.read()
count, block, size = struct.unpack_from("<IQQ", raw, 12)
table = {}
for i in range(count):
    name, dtype, rank, rows, _, offset, length, _, _ = struct.unpack_from("<72sIIQQQQQQ", raw, 64 + 128 * i)
    table[name.rstrip(b"\0").decode()] = (offset, length, rows)
assert size == len(raw)

with h5py.File(path, "r") as file:
    assert file.userblock_size == block
    arrays = {}
    file.visititems(lambda name, item: arrays.update({"/" + name: item}) if isinstance(item, h5py.Dataset) else None)
    assert set(arrays) == set(table), set(arrays) ^ set(table)
    for name, array in arrays.items():
        offset, length, rows = table[name]
        properties = array.id.get_create_plist()
        assert array.id.get_offset() == offset and array.id.get_storage_size() == length and array.shape == (rows,)
        assert properties.get_layout() == h5py.h5d.CONTIGUOUS
        assert properties.get_alloc_time() == h5py.h5d.ALLOC_TIME_EARLY
        assert properties.get_fill_time() == h5py.h5d.FILL_TIME_NEVER
        assert array.dtype.byteorder in "<=|"
        assert raw[offset:offset + length] == array[()].tobytes()

    assert file.attrs["sptile_version"].decode()
    assert file.attrs["seed"] == 7 and file.attrs["note"].decode() == "größe"
    assert list(file["shape"]) == [3, 5, 5]
    assert list(file["row_order"]) == [2, 1, 0]

    csr = file["csr"]
    assert file.attrs["binsparse"] == csr.attrs["binsparse"]
    described = json.loads(csr.attrs["binsparse"])["binsparse"]
    assert described == {
        "version": "0.1.0", "format": "CSR", "shape": [3, 5], "number_of_stored_values": 5,
        "data_types": {"pointers_to_1": "int64", "indices_1": "int32", "values": "float32"}}
    for name, kind in described["data_types"].items():
        assert csr[name].dtype == np.dtype(kind), name
        assert file[name] == csr[name], name  # the same array by another name
    assert list(csr["pointers_to_1"]) == [0, 2, 2, 5]
    assert list(csr["indices_1"]) == [1, 4, 0, 1, 3]
    assert list(csr["values"]) == [1, 2, 3, 4, 5]

    tiles = file["formats/bittcf"]
    assert tiles.attrs["window_rows"] == 8 and tiles.attrs["threshold"] == 0.5
    values = tiles["values"]
    if value_type == "bf16":
        assert values.dtype == np.uint16 and values.attrs["dtype"] == b"bf16"
        numbers = (values[()].astype(np.uint32) << 16).view(np.float32)
    else:
        assert values.dtype == {"f16": np.float16, "f32": np.float32}[value_type]
        numbers = values[()]
    assert list(numbers) == [3, 4, 5, 1, 2]
    assert list(tiles["value_source"]) == [2, 3, 4, 0, 1]
print("ok")
