// METIS graph files: one line per vertex with its neighbors.
#pragma once

#include <string>

#include "formats/io/files/output_group.hpp"
#include "formats/io/read_matrix.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Reads the adjacency matrix, with edge weights as f64 values or as a pattern. Sizes and weights of vertices
/// are ignored with a note. Errc::bad_input with file and line for neighbors out of range, a number of edges
/// that differs from the header, or edges listed at one end only.
Result<ReadMatrix> read_metis_graph(InputBytes input);

/// Writes a symmetric matrix without diagonal nonzeros, either a pattern or with positive integer values.
/// Errc::unsupported for other matrices, naming a nonzero.
Status write_metis_graph(const CsrView& a, const std::string& path, Placing placing);

}  // namespace sptile::formats
