// Edge lists: a line an edge, from, to and perhaps a weight.
#pragma once

#include <string>

#include "formats/io/input_bytes.hpp"
#include "formats/io/read_matrix.hpp"
#include "formats/progress.hpp"

namespace sptile::formats {

/// What is found out where it is not said.
struct EdgeListOptions {
  int base = -1;               ///< of the vertices, 0 or 1; -1: 0 where a vertex 0 is named, else 1
  char separator = 0;          ///< ' ' (blanks and tabs), '\t', ',' or ';'; 0: what the first edge has
  bool compress_rows = false;  ///< keep only the rows with entries of a matrix that is mostly_empty
};

/// Reads a square matrix, an entry an edge as it stands; lines that start with #, % or // are comments, and a
/// first line of words is a heading. Our own heading comment "# ROWS x COLS, base B" gives shape and base.
/// Either all edges have weights or none. Compressed text is recognised. Errc::bad_input with file and line.
Result<ReadMatrix> read_edge_list(InputBytes input, const EdgeListOptions& options);

/// Writes vertices from 0, parted by commas under .csv, tabs under .tsv, else blanks, with the heading
/// comment; .gz, .xz and .zst compress, "-" is standard output.
Status write_edge_list(const CsrView& a, const std::string& path, bool force);

}  // namespace sptile::formats
