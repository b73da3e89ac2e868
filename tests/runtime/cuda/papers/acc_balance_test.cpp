// Acc-SpMM's load balancing: when it balances, and how.
#include "runtime/cuda/papers/acc/balance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace sptile;
using namespace sptile::runtime::cuda;

namespace {

/// Windows of 8 rows with so many tiles, of one entry each.
struct Windows {
  std::vector<std::int32_t> tile_offset{0};
  std::vector<std::uint32_t> tile_value;
  formats::Blocks blocks;

  explicit Windows(const std::vector<std::int32_t>& tiles) {
    for (const std::int32_t count : tiles) tile_offset.push_back(tile_offset.back() + count);
    tile_value.resize(static_cast<std::size_t>(tile_offset.back()) + 1);
    std::iota(tile_value.begin(), tile_value.end(), 0u);
    blocks.placement = formats::WindowPlacement::regular;
    blocks.window_rows = 8;
    blocks.tile_offset = tile_offset;
    blocks.tile_value = tile_value;
  }
  [[nodiscard]] TileWindows view() const { return {tile_offset, blocks}; }
};

TileSchedule divided(const Windows& windows, DivideWindows divide) {
  return divide(windows.view(), TileTuning(), DeviceInfo());
}

/// Tiles of the items.
std::vector<std::int32_t> lengths(const TileSchedule& schedule) {
  std::vector<std::int32_t> tiles;
  for (const TileItem& item : schedule.items) tiles.push_back(item.tile_end - item.tile_begin);
  return tiles;
}

/// Proves a division as one that was stored.
DivisionTotals checked(const Windows& windows, const TileSchedule& schedule) {
  ScheduleReader reader({});
  const DivisionTotals totals = check_division(reader, windows.view(), schedule.items, schedule.splits, 1);
  CHECK(reader.ok());
  return totals;
}

using Lengths = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("acc: the degree of imbalance is the mean deviation from the average") {
  CHECK(acc_imbalance(std::vector<std::int32_t>{0}) == 0);
  CHECK(acc_imbalance(Windows({5, 5, 5}).tile_offset) == 0);
  CHECK(acc_imbalance(Windows({0, 0, 0, 8}).tile_offset) == 3);
  CHECK(acc_imbalance(Windows({20, 0, 10, 10}).tile_offset) == 5);
}

TEST_CASE("acc: a matrix is balanced when its degree exceeds 8") {
  const Windows eight({0, 16, 0, 16}), more({0, 17, 0, 17});
  REQUIRE(acc_imbalance(eight.tile_offset) == 8);
  CHECK(lengths(divided(eight, divide_acc)) == Lengths{0, 16, 0, 16});
  CHECK(divided(eight, divide_acc).splits.empty());
  CHECK(lengths(divided(more, divide_acc)) == lengths(divided(more, divide_acc_balanced)));
  CHECK_FALSE(divided(more, divide_acc).splits.empty());
}

TEST_CASE("acc: as many thread blocks as windows, but none with more than 32 tiles") {
  CHECK(acc_block_time(Windows({}).view()) == 1);
  CHECK(acc_block_time(Windows({0, 0}).view()) == 1);
  CHECK(acc_block_time(Windows({1, 0, 0, 0}).view()) == 2);
  CHECK(acc_block_time(Windows({3, 1, 2, 6}).view()) == 4);
  CHECK(acc_block_time(Windows({400, 400}).view()) == 33);
}

TEST_CASE("acc: a short window is filled up, a long one cut, and each written window costs a tile") {
  // As in figure 6: the second and the third window share a block, the fourth has several.
  const Windows windows({3, 1, 1, 7});
  REQUIRE(acc_block_time(windows.view()) == 4);
  const TileSchedule s = divided(windows, divide_acc_balanced);
  CHECK(lengths(s) == Lengths{3, 2, 3, 3, 1});
  CHECK(s.items[1].window_begin == 1);
  CHECK(s.items[1].window_end == 3);
  CHECK(s.splits.size() == 1);
  CHECK(s.slots == 3);
  // The rest of a block goes to the beginning of the next window.
  const TileSchedule rest = divided(Windows({1, 6, 4, 1}), divide_acc_balanced);
  CHECK(lengths(rest) == Lengths{1, 1, 3, 2, 3, 1, 1});
}

TEST_CASE("acc: 32 tiles at most, and 32 windows of an item") {
  CHECK(lengths(divided(Windows({70, 0}), divide_acc_balanced)) == Lengths{32, 32, 6, 0});
  std::vector<std::int32_t> tiles(100, 0);
  tiles[50] = 4000;
  const TileSchedule s = divided(Windows(tiles), divide_acc_balanced);
  std::int64_t max = 0;
  for (const TileItem& item : s.items) max = std::max<std::int64_t>(max, item.window_end - item.window_begin);
  CHECK(max == kMaxItemWindows);
  CHECK(std::ranges::max(lengths(s)) == 32);
}

TEST_CASE("acc: what it makes is a division, whatever the windows are") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int32_t> tiles(random() % 60);
    const std::int32_t max = round % 3 == 0 ? 3 : round % 3 == 1 ? 30 : 300;
    for (std::int32_t& count : tiles)
      count = random() % 4 == 0 ? 0 : static_cast<std::int32_t>(random() % static_cast<unsigned>(max));
    const Windows windows(tiles);
    for (const DivideWindows divide : {divide_acc, divide_acc_balanced, divide_acc_windows}) {
      const TileSchedule s = divided(windows, divide);
      const DivisionTotals totals = checked(windows, s);
      CHECK(totals.slots == s.slots);
      CHECK(totals.counters == s.counters);
      CHECK(s.teams == 0);
      if (divide == divide_acc_balanced)
        for (const std::int32_t length : lengths(s)) CHECK(length < acc_block_time(windows.view()));
    }
  }
}
