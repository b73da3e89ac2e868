#include "formats/layout/bmat.hpp"

#include <bit>

#include "formats/layout/blocks.hpp"
#include "formats/layout/invariants.hpp"

namespace sptile::formats {
namespace {

using A = BmatArray;
constexpr int kWindowRows = 16;
constexpr ArraySpec kArrays[] = {{"row_window_offset", DType::i32},
                                 {"value_offset", DType::i64},
                                 {"bits", DType::u32},
                                 {"col_id", DType::i32, false, true},
                                 {"values", DType::none, true}};

std::int64_t tc_blocks(const FormatView& view) { return view.array(A::col_id).size / 8; }

Status check_lengths(const FormatView& view) {
  if (Status s = check_shape(view); !s) return s;
  const std::int64_t windows = (view.rows + kWindowRows - 1) / kWindowRows;
  if (Status s = check_length(view, A::row_window_offset, windows + 1, "windows of 16 rows, + 1"); !s)
    return s;
  if (Status s = check_length(view, A::value_offset, windows + 1, "windows of 16 rows, + 1"); !s) return s;
  if (Status s = check_whole_tiles(view, A::col_id); !s) return s;
  if (Status s = check_length(view, A::bits, 4 * tc_blocks(view), "4 per tile"); !s) return s;
  return check_length(view, A::values, view.nnz, "one per entry");
}

/// Reduces an 8x4 word (bit 4 * row + column) to the mask of its nonempty columns.
unsigned used_columns_of_word(std::uint32_t word) {
  word |= word >> 16;
  word |= word >> 8;
  word |= word >> 4;
  return word & 0xF;
}

/// Checks the padding rows of one tile; sets its number of nonzeros and the mask of its nonempty columns.
Status check_tile(const FormatView& view, const BmatView& a, std::int64_t tile, int rows,
                  std::int64_t& entries, unsigned& used) {
  used = 0;
  for (int w = 0; w < 4; ++w) {
    const std::int64_t i = 4 * tile + w;
    const std::uint32_t word = a.bits[static_cast<std::size_t>(i)];
    const int rows_left = rows - 8 * (w % 2);
    if (rows_left < 8 && (rows_left <= 0 ? word : word >> (4 * rows_left)) != 0)
      return broken_mask(view, A::bits, i, word, "no bits in rows past the end of the matrix");
    entries += std::popcount(word);
    used |= used_columns_of_word(word) << (4 * (w / 2));
  }
  return {};
}

Status check_window(const FormatView& view, const BmatView& a, std::size_t w, WindowColumnsCheck& columns) {
  const int rows = rows_in_window(view, static_cast<std::int64_t>(w) * kWindowRows, kWindowRows);
  const std::int64_t end = a.row_window_offset[w + 1];
  std::int64_t entries = a.value_offset[w];
  columns.begin_window();
  for (std::int64_t t = a.row_window_offset[w]; t < end; ++t) {
    unsigned used = 0;
    if (Status s = check_tile(view, a, t, rows, entries, used); !s) return s;
    if (Status s = columns.next(t, used, t + 1 == end); !s) return s;
  }
  if (entries != a.value_offset[w + 1])
    return broken_element(view, A::value_offset, static_cast<std::int64_t>(w) + 1, a.value_offset[w + 1],
                          std::to_string(entries) + ", as the bits of window " + std::to_string(w) + " say");
  return {};
}

Status check_all_offsets(const FormatView& view, int threads) {
  const BmatView a = as_bmat(view);
  if (Status s = check_offsets(view, A::row_window_offset, a.row_window_offset, tc_blocks(view), threads); !s)
    return s;
  return check_offsets(view, A::value_offset, a.value_offset, view.nnz, threads);
}

Status check_contents(const FormatView& view, int threads) {
  const BmatView a = as_bmat(view);
  if (Status s = check_all_offsets(view, threads); !s) return s;
  const auto windows = static_cast<std::int64_t>(a.row_window_offset.size()) - 1;
  return check_windows(
      {view, A::col_id, a.col_id}, windows, threads,
      [&](std::size_t w, WindowColumnsCheck& columns) { return check_window(view, a, w, columns); });
}

Blocks blocks(const FormatView& view) {
  Blocks blocks;
  blocks.placement = WindowPlacement::regular;
  blocks.window_rows = kWindowRows;
  blocks.tile_offset = view.array(A::row_window_offset).as<std::int32_t>();
  blocks.columns = view.array(A::col_id).as<std::int32_t>();
  blocks.window_value = view.array(A::value_offset).as<std::int64_t>();
  blocks.masks = static_cast<const std::byte*>(view.array(A::bits).data);
  blocks.mask_bytes = 16;
  return blocks;
}

}  // namespace

constexpr FormatLayout kBmatLayout = {
    .name = "bmat",
    .summary = "16x8 tiles, four 8x4 words in register order (Voltrix-SpMM)",
    .group = "/formats/bmat",
    .window_rows = kWindowRows,
    .tile_rows = kWindowRows,
    .tile_cols = 8,
    .arrays = kArrays,
    .check_lengths = check_lengths,
    .check_contents = check_contents,
    .tc_blocks = tc_blocks,
    .blocks = blocks,
    .check_offsets = check_all_offsets};

BmatView as_bmat(const FormatView& view) { return typed_view<BmatView, 5>(view); }

}  // namespace sptile::formats
