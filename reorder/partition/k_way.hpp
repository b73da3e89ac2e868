// Parts by METIS, for little communication.
#pragma once

#include "reorder/partition/methods.hpp"

namespace sptile::reorder {

/// Cuts graph_of(a) into parts of like weight (row_weight, within 3 %) for the least communication volume, by
/// METIS_PartGraphKway with METIS_OBJTYPE_VOL (Karypis and Kumar, JPDC 1998); rows without neighbours then
/// fill up the lightest parts. Gives the part of each row. Serial, deterministic. Errc::unsupported where the
/// graph does not fit METIS's integers, Errc::io with the bytes where it does not fit the memory.
Result<std::vector<std::int32_t>> k_way_parts(const formats::CsrView& a, std::int32_t parts,
                                              const PartitionOptions& options);

/// Bytes that k_way_parts takes beside the matrix, about: the graph, METIS's copy of it, and what METIS makes
/// of that.
std::int64_t k_way_memory(std::int64_t rows, std::int64_t nnz);

}  // namespace sptile::reorder
