#include "formats/convert/tall_window.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "formats/convert/tile_bits.hpp"
#include "formats/convert/window_merger.hpp"
#include "formats/core/value_types.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::formats {
namespace {

template <class Key>
class TypedMerger : public TallMerger {
 private:
  void merge_rows(const CsrView& a, std::int64_t first_row) override {
    constexpr int kBatch = WindowMerger<Key>::kBatch;
    for (int part = 0; part < 8; part += kBatch) {
      std::array<std::int32_t, kBatch> starts{};
      int count = 0;
      for (; count < kBatch && first_row + 16 * (part + count) < a.rows; ++count)
        starts[static_cast<std::size_t>(count)] = static_cast<std::int32_t>(first_row + 16 * (part + count));
      merger_.merge(a, std::span(starts).first(static_cast<std::size_t>(count)));
      for (int i = 0; i < kBatch; ++i) take(i < count ? i : -1, rows_[part + i]);
    }
  }

  void take(int i, TallRows& rows) {
    const auto capacity = i < 0 ? 0 : static_cast<std::size_t>(merger_.size(i)) + 1;
    rows.columns.resize(capacity);
    rows.low.resize(capacity);
    rows.high.resize(capacity);
    if (i >= 0)
      rows.columns.resize(static_cast<std::size_t>(
          merger_.columns(i, rows.columns.data(), rows.low.data(), rows.high.data())));
  }

  WindowMerger<Key> merger_{16};
};

/// Merges two ascending lists; a column in both gets the union of the masks.
void merge_lists(std::span<const TallKey> a, std::span<const TallKey> b, std::vector<TallKey>& out) {
  out.resize(a.size() + b.size());
  std::size_t i = 0, j = 0, k = 0;
  while (i < a.size() && j < b.size()) {
    const TallKey x = a[i], y = b[j];
    const TallKey column_x = x >> 16, column_y = y >> 16;
    out[k++] = (column_x <= column_y ? x : 0) | (column_y <= column_x ? y : 0);
    i += column_x <= column_y;
    j += column_y <= column_x;
  }
  const auto copy_rest = [&](std::span<const TallKey> rest) {
    std::copy(rest.begin(), rest.end(), out.begin() + static_cast<std::ptrdiff_t>(k));
    k += rest.size();
  };
  copy_rest(a.subspan(i));
  copy_rest(b.subspan(j));
  out.resize(k);
}

/// Moves the masks of a list to the upper half of a window.
std::uint32_t bits_before(int level) { return 2u << level; }

}  // namespace

void TallMerger::merge(const CsrView& a, std::int64_t first_row, int level) {
  merge_rows(a, first_row);
  for (int part = 0; part < 8; ++part) {
    const TallRows& rows = rows_[part];
    std::vector<TallKey>& list = lists_[0][part];
    list.resize(rows.columns.size());
    for (std::size_t c = 0; c < list.size(); ++c)
      list[c] = static_cast<TallKey>(rows.columns[c]) << 16 | (rows.low[c] != 0 ? 1u : 0u) |
                (rows.high[c] != 0 ? 2u : 0u);
  }
  for (int l = 0; l < level; ++l)
    for (int i = 0; i < 4 >> l; ++i) {
      std::vector<TallKey> upper = lists_[l][2 * i + 1];
      for (TallKey& key : upper) key = (key & ~TallKey{0xFFFF}) | (key & 0xFFFF) << bits_before(l);
      merge_lists(lists_[l][2 * i], upper, lists_[l + 1][i]);
    }
}

std::unique_ptr<TallMerger> make_tall_merger(std::int64_t cols) {
  if (cols <= WindowMerger<std::uint32_t>::kMaxCols) return std::make_unique<TypedMerger<std::uint32_t>>();
  return std::make_unique<TypedMerger<std::uint64_t>>();
}

std::span<const std::uint64_t> TallSorter::sort(std::span<const TallKey> columns) {
  items_.resize(columns.size());
  other_.resize(columns.size());
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    items_[i] = static_cast<std::uint64_t>(tall_mask(columns[i])) << 32 | i;
    used |= tall_mask(columns[i]);
  }
  for (int shift = 32; shift < 48 && used >> (shift - 32) != 0; shift += 8) {  // one byte of the mask per
                                                                               // pass
    std::array<std::uint32_t, 257> next{};
    for (const std::uint64_t item : items_) ++next[(item >> shift & 0xFF) + 1];
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    for (const std::uint64_t item : items_) other_[next[item >> shift & 0xFF]++] = item;
    items_.swap(other_);
  }
  return items_;
}

void TallBuilder::place_columns(std::span<const TallKey> columns, TallTiles& tiles) {
  const std::span<const std::uint64_t> sorted = sorter_.sort(columns);
  const std::size_t first = tiles.col_id.size();
  tiles.col_id.resize(first + 8 * static_cast<std::size_t>(groups_));
  slot_.resize(columns.size());
  BitReversedOrder order(groups_);
  for (std::int64_t place = 0; place < groups_; ++place) {
    const auto start = 8 * static_cast<std::size_t>(order.next());
    for (std::size_t c = 0; c < 8; ++c) {
      const std::size_t position = sorted[std::min(start + c, sorted.size() - 1)] & 0xFFFFFFFF;
      const std::size_t slot = 8 * static_cast<std::size_t>(place) + c;
      tiles.col_id[first + slot] = tall_column(columns[position]);
      if (start + c < sorted.size()) slot_[position] = static_cast<std::uint32_t>(slot);
    }
  }
}

void TallBuilder::collect_bits(const TallMerger& merger, std::span<const TallKey> columns, int first_part,
                               int parts) {
  bits_.assign(static_cast<std::size_t>(groups_ * sub_windows_), 0);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(bits_.data());  // byte c of a tile holds its column c
  part_slot_.clear();
  for (int part = 0; part < parts; ++part) {
    const TallRows& rows = merger.rows(first_part + part);
    std::size_t at = 0;
    for (std::size_t c = 0; c < rows.columns.size(); ++c) {
      while (tall_column(columns[at]) != rows.columns[c]) ++at;
      const std::uint32_t slot = slot_[at];
      part_slot_.push_back(slot);
      const std::size_t tile =
          slot / 8 * static_cast<std::size_t>(sub_windows_) + 2 * static_cast<std::size_t>(part);
      bytes[8 * tile + slot % 8] = rows.low[c];
      bytes[8 * tile + 8 + slot % 8] = rows.high[c];
    }
  }
}

void TallBuilder::append_tiles(std::uint32_t first_value, TallTiles& tiles) {
  first_.resize(bits_.size());
  std::size_t t = 0;
  for (std::int64_t g = 0; g < groups_; ++g) {
    std::uint32_t mask = 0;
    for (int s = 0; s < sub_windows_; ++s, ++t) {
      first_[t] = first_value;
      if (bits_[t] == 0) continue;
      bits_[t] = transpose_bits(bits_[t]);
      tiles.bitmap.push_back(bits_[t]);
      tiles.value_offset.push_back(first_value);
      first_value += static_cast<std::uint32_t>(std::popcount(bits_[t]));
      mask |= 1u << s;
    }
    tiles.group_mask.push_back(mask);
    tiles.tiles_of_group.push_back(std::popcount(mask));
  }
  tiles.groups_of_window.push_back(static_cast<std::int32_t>(groups_));
}

template <class Word>
void TallBuilder::move_values(const CsrView& a, const TallMerger& merger, std::int64_t first_row,
                              int first_part, int parts, Word* to) const {
  const auto* from = static_cast<const Word*>(a.values.data);
  auto slot = part_slot_.begin();
  for (int part = 0; part < parts; ++part) {
    const Word* next[16];  // next nonzero of each row, in the stored order
    for (int r = 0; r < 16; ++r)
      next[r] = from + a.row_ptr[static_cast<std::size_t>(std::min(first_row + 16 * part + r, a.rows))];
    const TallRows& rows = merger.rows(first_part + part);
    for (std::size_t c = 0; c < rows.columns.size(); ++c, ++slot) {
      const std::size_t tile =
          *slot / 8 * static_cast<std::size_t>(sub_windows_) + 2 * static_cast<std::size_t>(part);
      const auto take = [&](std::size_t t, unsigned used, const Word** row) {
        for (; used != 0; used &= used - 1) {
          const int r = std::countr_zero(used);
          const std::uint64_t below = (std::uint64_t{1} << (8u * static_cast<unsigned>(r) + *slot % 8)) - 1;
          to[first_[t] + static_cast<std::uint32_t>(std::popcount(bits_[t] & below))] = *row[r]++;
        }
      };
      take(tile, rows.low[c], next);
      take(tile + 1, rows.high[c], next + 8);
    }
  }
}

void TallBuilder::build(const CsrView& a, const TallMerger& merger, std::int64_t first_row, int level, int i,
                        TallTiles& tiles, void* values) {
  const int height = tall_height(level), parts = height / 16, first_part = i * parts;
  const std::span<const TallKey> columns = merger.columns(level, i);
  const std::int64_t row = first_row + i * height;
  sub_windows_ = 2 * parts;
  groups_ = (static_cast<std::int64_t>(columns.size()) + 7) / 8;
  place_columns(columns, tiles);
  collect_bits(merger, columns, first_part, parts);
  append_tiles(static_cast<std::uint32_t>(a.row_ptr[static_cast<std::size_t>(row)]), tiles);
  if (values == nullptr) return;
  visit_word(a.values.dtype, [&](auto word) {
    move_values(a, merger, row, first_part, parts, static_cast<decltype(word)*>(values));
  });
}

}  // namespace sptile::formats
