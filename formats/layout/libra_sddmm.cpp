// libra_sddmm: columns are in any order, and two tiles form a block.
#include "formats/layout/libra_format.hpp"
#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {
namespace {

constexpr ColumnOrder kOrder{.ascending = false, .block_tiles = 2};
constexpr int kTried[] = {1, 8, 16, 24, 32, 48, 64, 129};
constexpr FormatParameter kThreshold = {.name = "threshold",
                                        .summary = "minimum entries per 8x16 block for tensor cores",
                                        .unit = "entries of a block's 128",
                                        .min = kLibraSddmmMinThreshold,
                                        .max = kLibraSddmmMaxThreshold,
                                        .standard = kLibraSddmmThreshold,
                                        .fitted_for = "sddmm",
                                        .tried = kTried,
                                        .on_device = true};

Status check_contents(const FormatView& view, int threads) {
  return check_libra_contents(view, kOrder, threads);
}

}  // namespace

constexpr FormatLayout kLibraSddmmLayout = {
    .name = "libra_sddmm",
    .summary = "8x16 blocks of the densest columns, other entries in rows (Libra)",
    .group = "/formats/libra_sddmm",
    .window_rows = kLibraWindowRows,
    .tile_rows = kLibraWindowRows,
    .tile_cols = 8,
    .ascending_columns = false,
    .arrays = kLibraArrays,
    .check_lengths = check_libra_lengths,
    .check_contents = check_contents,
    .tc_blocks = libra_tc_blocks,
    .blocks = libra_blocks,
    .parameter = &kThreshold};

}  // namespace sptile::formats
