// Partitioning with little communication, by METIS.
#pragma once

#include "reorder/partition/methods.hpp"

namespace sptile::reorder {

/// Partitions graph_of(a) into parts of similar weight (row_weight) by METIS_PartGraphKway (Karypis and
/// Kumar, JPDC 1998), once for minimum edge cut and once for minimum volume. Rows without neighbors are
/// assigned to the lightest parts, and the largest send is reduced (bound_largest_send); the result whose
/// largest send is smaller is returned, as the part of each row. Serial, deterministic. Errc::unsupported if
/// the graph exceeds METIS's integers; Errc::io, stating the bytes, if it exceeds the memory.
Result<std::vector<std::int32_t>> k_way_parts(const formats::CsrView& a, std::int32_t parts,
                                              const PartitionOptions& options);

/// Returns the approximate bytes that k_way_parts needs in addition to the matrix, as measured with several
/// kinds of graphs: the graph with `neighbours` neighbors in total, METIS's copy, and METIS's own data.
std::int64_t k_way_memory(std::int64_t rows, std::int64_t neighbours);

}  // namespace sptile::reorder
