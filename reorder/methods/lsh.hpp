// Clusters similar rows, then similar clusters.
#pragma once

#include <array>

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr std::array<Parameter, 5> kLshParameters = {{
    {"bands", "number of hash bands", 16, 1, 1024, true},
    {"band-hashes", "minhashes per band", 2, 1, 16, true},
    {"similarity", "minimum Jaccard index of clustered rows", 0.2, 0, 1, false},
    {"cluster-rows", "maximum rows per cluster", 16, 1, 1 << 20, true},
    {"group-clusters", "maximum clusters per group; 1 disables groups", 128, 1, 1 << 20, true},
}};

/// TCA reordering (DTC-SpMM, ASPLOS 2024): merges rows that share minhash buckets, most similar pairs first,
/// into clusters of a window's size. The clusters, as sets of columns, are merged in the same way into groups
/// that fit in a cache. Empty rows come last, in their order. O(bands * (nnz * band-hashes + rows log rows)),
/// parallel except for the merging. Memory: a copy of the structure, and about 100 bytes per row.
Result<std::vector<std::int32_t>> order_by_lsh(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
