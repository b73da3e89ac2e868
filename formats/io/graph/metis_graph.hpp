// Graphs as METIS and its kin keep them: a line a vertex, with its neighbours.
#pragma once

#include <string>

#include "formats/io/files/output_group.hpp"
#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads the adjacency matrix, with the weights of edges as f64 values or as a pattern; sizes and weights of
/// vertices are left aside, and that is noted. Errc::bad_input with file and line: for neighbours out of
/// range, a number of edges that is not the header's, edges that are listed at one end only.
Result<ReadMatrix> read_metis_graph(InputBytes input);

/// Writes a symmetric matrix without a diagonal, a pattern or one of positive whole numbers; others are
/// refused with Errc::unsupported, which names an entry.
Status write_metis_graph(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
