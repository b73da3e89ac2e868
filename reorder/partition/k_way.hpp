// Parts by METIS, for little communication.
#pragma once

#include "reorder/partition/methods.hpp"

namespace sptile::reorder {

/// Cuts graph_of(a) into parts of like weight (row_weight) by METIS_PartGraphKway (Karypis and Kumar, JPDC
/// 1998), once for the least edge cut and once for the least volume; rows without neighbours fill up the
/// lightest parts, what the largest sender has is bounded (bound_largest_send), and of both the one whose
/// largest sender sends less is taken. Gives the part of each row. Serial, deterministic. Errc::unsupported
/// where the graph does not fit METIS's integers, Errc::io with the bytes where it does not fit the memory.
Result<std::vector<std::int32_t>> k_way_parts(const formats::CsrView& a, std::int32_t parts,
                                              const PartitionOptions& options);

/// Bytes that k_way_parts takes beside the matrix, about, as measured with graphs of several kinds: the graph
/// with so many neighbours over all rows, METIS's copy of it, and what METIS makes of that.
std::int64_t k_way_memory(std::int64_t rows, std::int64_t neighbours);

}  // namespace sptile::reorder
