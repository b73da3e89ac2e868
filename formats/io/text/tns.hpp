// Sparse tensors of two indices as FROSTT keeps them (.tns).
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads a line an entry: row, column, counted from 1, value. Lines that start with # are comments; two lines
/// in front, the number of indices and the size of each, give the shape, which else is that of the largest
/// indices. Entries of one place are summed. Compressed text is recognised. Errc::bad_input with file and
/// line, Errc::unsupported for tensors of other orders.
Result<ReadMatrix> read_tns(InputBytes input);

}  // namespace sptile::formats
