// Edge lists: one edge per line with source, target and optional weight.
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
  int base = -1;               ///< index base, 0 or 1; -1: 0 if a vertex 0 occurs, else 1
  char separator = 0;          ///< ' ' (any white space), '\t', ',' or ';'; 0: detected from the first edge
  std::string columns = {};    ///< roles of the columns: "source,target,weight", "-" for an ignored one;
                               ///< empty: from the heading, else source, target, weight
  bool compress_rows = false;  ///< store only the nonempty rows of a matrix that is mostly_empty
};

/// Reads one nonzero per edge, in the direction of the line. Duplicate edges are summed, or counted if there
/// are no weights. The matrix is square unless a header states a shape: "# ROWS x COLS, base B" of
/// write_edge_list, the header of KONECT, or a first line of counts consistent with all other lines. Lines
/// that start with #, % or // are comments. Accepts a byte order mark, a heading with names in any order
/// (also in the last comment), quoted fields, ids such as 1.0, attributes in braces (networkx) and compressed
/// text. Notes report guesses and ignored data. Errc::bad_input with file and line; Errc::unsupported for ids
/// above 2^31 - 1; Errc::usage for unknown columns.
Result<ReadMatrix> read_edge_list(InputBytes input, const EdgeListOptions& options);

/// Returns whether text starts like an edge list: after comments, a heading that names sources and targets,
/// or a line of two or more numbers.
bool starts_edge_list(std::string_view head);

/// Writes 0-based vertices and the heading comment. The separator is a comma for .csv, a tab for .tsv, else a
/// blank; .gz, .xz and .zst compress, and "-" is standard output.
Status write_edge_list(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
