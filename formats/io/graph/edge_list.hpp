// Edge lists: one edge per line, source, target and perhaps a weight.
#pragma once

#include <string>
#include <string_view>

#include "formats/core/progress.hpp"
#include "formats/io/files/output_group.hpp"
#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Settings that override detection.
struct EdgeListOptions {
  int base = -1;               ///< of the vertices, 0 or 1; -1: 0 where a vertex 0 is named, else 1
  char separator = 0;          ///< ' ' (any white space), '\t', ',' or ';'; 0: that of the first edge
  std::string columns = {};    ///< "source,target,weight": roles of the columns, "-" for one to leave out;
                               ///< empty: by the heading, else source, target, weight
  bool compress_rows = false;  ///< keep only the rows with entries of a matrix that is mostly_empty
};

/// Reads one nonzero per edge, in the direction of the line; edges listed several times are summed, without
/// weights counted. The matrix is square, except where a header gives a shape: "# ROWS x COLS, base B" of
/// write_edge_list, the header of KONECT, or a first line of counts that fits all others. Lines that start
/// with #, % or // are comments. Accepts a byte order mark, a heading with names in any order (also in the
/// last comment), fields in quotes, ids such as 1.0, attributes in braces (networkx), compressed text. Notes
/// tell what was guessed and what was left out. Errc::bad_input with file and line; Errc::unsupported for ids
/// beyond 2^31 - 1; Errc::usage for unknown columns.
Result<ReadMatrix> read_edge_list(InputBytes input, const EdgeListOptions& options);

/// Tells whether text starts like an edge list: with a heading that names sources and targets or a line of
/// two or more numbers, behind comments.
bool starts_edge_list(std::string_view head);

/// Writes vertices from 0, separated by commas under .csv, tabs under .tsv, else blanks, with the heading
/// comment; .gz, .xz and .zst compress, "-" is standard output.
Status write_edge_list(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
