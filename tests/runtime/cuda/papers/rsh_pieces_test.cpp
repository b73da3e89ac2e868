// Divisions that take the windows and pieces of rs_tile as they are stored.
#include "runtime/cuda/papers/rsh/pieces.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace sptile;
using namespace sptile::runtime::cuda;

namespace {

/// Stored windows with so many tiles, of one entry each; `rows` are their first rows, the same for the pieces
/// of one window.
struct Stored {
  std::vector<std::int32_t> rows, tile_offset{0}, joined;
  std::vector<std::uint32_t> tile_value;
  formats::Blocks blocks;

  Stored(std::vector<std::int32_t> first_rows, const std::vector<std::int32_t>& tiles)
      : rows(std::move(first_rows)) {
    for (const std::int32_t count : tiles) tile_offset.push_back(tile_offset.back() + count);
    tile_value.resize(static_cast<std::size_t>(tile_offset.back()) + 1);
    std::iota(tile_value.begin(), tile_value.end(), 0u);
    blocks.placement = formats::WindowPlacement::scattered;
    blocks.window_rows = 8;
    blocks.first_row = rows;
    blocks.tile_offset = tile_offset;
    blocks.tile_value = tile_value;
    for (std::int64_t w = 0; w < blocks.windows(); ++w)
      if (!blocks.continues(w)) joined.push_back(tile_offset[static_cast<std::size_t>(w)]);
    joined.push_back(tile_offset.back());
  }
  [[nodiscard]] TileWindows view() const { return {joined, blocks}; }
};

struct Item {
  std::int32_t window_begin, window_end, tiles;
  friend bool operator==(const Item&, const Item&) = default;
};

/// The items, which must be a division.
std::vector<Item> divided(const Stored& stored, DivideWindows divide) {
  const TileSchedule s = divide(stored.view(), TileTuning(), {.sm_count = 1});
  ScheduleReader reader({});
  const DivisionTotals totals = check_division(reader, stored.view(), s.items, s.splits, 1);
  CHECK(reader.ok());
  CHECK(totals.slots == s.slots);
  CHECK(totals.counters == s.counters);
  std::vector<Item> items;
  for (const TileItem& item : s.items)
    items.push_back({item.window_begin, item.window_end, item.tile_end - item.tile_begin});
  return items;
}

using Items = std::vector<Item>;

}  // namespace

TEST_CASE("rsh: stored windows and stored pieces, each for itself") {
  const Stored stored({0, 8, 8, 8, 16, 30}, {2, 40, 40, 39, 1, 300});
  CHECK(divided(stored, divide_stored) ==
        Items{{0, 1, 2}, {1, 2, 40}, {1, 2, 40}, {1, 2, 39}, {2, 3, 1}, {3, 4, 300}});
}

TEST_CASE("rsh: runs are those of the device, cuts those of the file") {
  // The last window is longer than the device would like, but the file has it whole.
  const Stored stored({0, 8, 16, 24, 32, 32, 40, 48, 900}, {2, 3, 4, 1, 40, 5, 1, 1, 900});
  CHECK(divided(stored, divide_stored_runs) ==
        Items{{0, 4, 10}, {4, 5, 40}, {4, 5, 5}, {5, 7, 2}, {7, 8, 900}});
}

TEST_CASE("rsh: nothing stored, nothing split") {
  for (const DivideWindows divide : {divide_stored, divide_stored_runs}) {
    CHECK(divided({{}, {}}, divide).empty());
    CHECK(divided({{3}, {7}}, divide) == Items{{0, 1, 7}});
  }
}
