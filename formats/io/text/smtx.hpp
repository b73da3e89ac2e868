// Reader of patterns from the Deep Learning Matrix Collection (.smtx): CSR in three lines of text.
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads a pattern: "rows, columns, nonzeros", rows + 1 offsets and 0-based columns. Numbers are separated by
/// commas, blanks or line ends. Recognizes compressed text. Errc::bad_input with file and line.
Result<ReadMatrix> read_smtx(InputBytes input);

}  // namespace sptile::formats
