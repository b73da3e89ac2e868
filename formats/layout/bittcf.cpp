#include "formats/layout/bittcf.hpp"

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = BitTcfArray;
constexpr int kWindowRows = 8;
constexpr ArraySpec kArrays[] = {{"row_window_offset", DType::i32},
                                 {"tc_offset", DType::u32},
                                 {"tc_local_bit", DType::u64},
                                 {"sparse_a_to_b", DType::i32, false, true},
                                 {"values", DType::none, true}};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::tc_local_bit).size; }

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view, std::numeric_limits<std::uint32_t>::max()); !s) return s;
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 8 rows, + 1"); !s)
    return s;
  if (Status s = check_whole_tiles(view, A::sparse_a_to_b); !s) return s;
  const std::int64_t tiles = view.array(A::sparse_a_to_b).size / 8;
  if (Status s = check_length(view, A::tc_local_bit, tiles, "one per 8 columns of sparse_a_to_b"); !s)
    return s;
  if (Status s = check_length(view, A::tc_offset, tiles + 1, "tiles + 1"); !s) return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

Status check_all_offsets(const FormatView& view, int threads) {
  return check_tile_offsets(view, A::row_window_offset, A::tc_offset, view.nnz, threads);
}

Status check_contents(const FormatView& view, int threads) {
  if (Status s = check_all_offsets(view, threads); !s) return s;
  return check_masked_tiles(view, {A::row_window_offset, A::tc_offset, A::tc_local_bit, A::sparse_a_to_b}, {},
                            threads);
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::sparse_a_to_b).as<std::int32_t>();
  blocks.tile_value = view.array(A::tc_offset).as<std::uint32_t>();
  blocks.masks = static_cast<const std::byte*>(view.array(A::tc_local_bit).data);
  blocks.mask_bytes = 8;
  return blocks;
}

}  // namespace

constexpr FormatLayout kBitTcfLayout = {.name = "bittcf",
                                        .summary = "8x8 tiles, one 64-bit mask per tile (Acc-SpMM)",
                                        .group = "/formats/bittcf",
                                        .window_rows = kWindowRows,
                                        .tile_rows = kWindowRows,
                                        .tile_cols = 8,
                                        .arrays = kArrays,
                                        .check_lengths = check_lengths,
                                        .check_contents = check_contents,
                                        .tc_blocks = tc_blocks,
                                        .blocks = blocks,
                                        .check_offsets = check_all_offsets};

BitTcfView as_bittcf(const FormatView& view) { return typed_view<BitTcfView, 5>(view); }

}  // namespace sptile::formats
