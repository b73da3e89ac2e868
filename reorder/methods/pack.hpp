// Builds windows with few distinct columns.
#pragma once

#include <array>

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

inline constexpr std::array<Parameter, 9> kPackParameters = {{
    {"match-from-rows", "1 matches single rows, 0 packs the first windows greedily", 0, 0, 1, true},
    {"degree-base", "initial order: 0 original, 1 by degree, 2 by degree for long columns", 2, 0, 2, true},
    {"longest-list", "maximum candidate rows per column of a window", 256, 8, 65536, true},
    {"lookups", "candidate rows per window, per row and entry of its first row", 8, 1, 65536, true},
    {"swap-passes", "passes of row swaps between windows", 1, 0, 100, true},
    {"swap-partners", "windows each window swaps rows with, per pass", 1, 1, 32, true},
    {"match-rows", "maximum height of matched windows; 1 disables matching", 1024, 1, 1e6, true},
    {"match-partners", "candidate partners per match", 4, 1, 32, true},
    {"match-list", "candidate partners per column", 64, 4, 65536, true},
}};
inline constexpr Setting kPackFast[] = {{"swap-passes", 0}, {"match-rows", 1}};
inline constexpr Setting kPackQuality[] = {{"swap-passes", 6}, {"swap-partners", 8}};
inline constexpr Preset kPackPresets[] = {
    {"fast", "greedy windows", kPackFast},
    {"default", "greedy windows, one pass of swaps, matched into taller ones", {}},
    {"quality", "greedy windows, up to six passes of swaps, matched into taller ones", kPackQuality},
};

/// Minimizes the number of distinct columns per window of options.window_rows rows, summed over the windows:
/// the connectivity of the hypergraph with rows as vertices, columns as nets and windows as parts. Windows
/// are packed greedily (pack_greedily) or matched from single rows (match_upwards), rows are swapped between
/// them (swap_rows), then windows are matched into taller ones. The tallest windows follow the original order
/// if stretches of 65,536 rows then have fewer columns. If columns are long and degree order has fewer
/// blocks, at this height or twice it, degree order is returned. Empty rows come last. Accepts any shape;
/// symmetry is not required. O(nnz) times the bounds in the parameters; memory: about 16 bytes per nonzero.
Result<std::vector<std::int32_t>> order_by_packing(const formats::CsrView& a, const ReorderOptions& options);

}  // namespace sptile::reorder
