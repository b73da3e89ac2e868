// Reader of FROSTT tensors (.tns) with two modes.
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads one entry per line: 1-based row, column, value. Lines that start with # are comments. Two optional
/// first lines, the number of modes and their sizes, give the shape, which otherwise follows from the maximum
/// indices. Duplicates are summed. Recognizes compressed text. Errc::bad_input with file and line;
/// Errc::unsupported for tensors of other orders.
Result<ReadMatrix> read_tns(InputBytes input);

}  // namespace sptile::formats
