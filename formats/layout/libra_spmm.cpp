// libra_spmm: the columns of a window's tiles ascend.
#include "formats/layout/libra_format.hpp"
#include "formats/layout/libra_rules.hpp"

namespace sptile::formats {
namespace {

constexpr ColumnOrder kOrder{.ascending = true, .block_tiles = 1};
constexpr int kTried[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr FormatParameter kThreshold = {.name = "threshold",
                                        .summary = "minimum entries per 8x1 column vector for tensor cores",
                                        .unit = "entries of 8",
                                        .min = kLibraMinThreshold,
                                        .max = kLibraMaxThreshold,
                                        .standard = kLibraThreshold,
                                        .fitted_for = "spmm",
                                        .tried = kTried,
                                        .on_device = true};

Status check_contents(const FormatView& view, int threads) {
  return check_libra_contents(view, kOrder, threads);
}

}  // namespace

constexpr FormatLayout kLibraSpmmLayout = {
    .name = "libra_spmm",
    .summary = "8x8 tiles of dense columns, other entries in rows (Libra)",
    .group = "/formats/libra_spmm",
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
