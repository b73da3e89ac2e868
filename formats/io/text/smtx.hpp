// Patterns as the Deep Learning Matrix Collection keeps them (.smtx): CSR in three lines of text.
#pragma once

#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads "rows, columns, nonzeros", rows + 1 offsets and the columns, counted from 0: a pattern. Numbers are
/// parted by commas, blanks or ends of lines. Compressed text is recognised. Errc::bad_input with file and
/// line.
Result<ReadMatrix> read_smtx(InputBytes input);

}  // namespace sptile::formats
