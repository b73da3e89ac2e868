#include "runtime/cuda/papers/bulk/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

/// Rows of very different lengths, some windows empty, one very long.
formats::Csr uneven_matrix(std::int64_t rows, std::int64_t cols, Random& random) {
  return random_matrix(rows, cols, DType::f32, random, [=](std::int64_t r, std::int64_t) {
    if (r / 16 % 4 == 1) return 0.0;
    if (r == 40) return 0.9;
    return r % 7 == 0 ? 0.2 : 0.02;
  });
}

std::int64_t first_tile(const formats::BmatView& a, std::int64_t window) {
  return a.row_window_offset[static_cast<std::size_t>(window)];
}

/// Part of a window that a piece has.
struct Part {
  std::int32_t window, slot;
};

/// Windows of a piece in order, and where their sums go.
std::vector<Part> parts_of(const BulkPiece& piece) {
  std::vector<Part> parts;
  for (std::int32_t w = piece.window_begin; w < piece.window_end; ++w) {
    std::int32_t slot = w == piece.window_end - 1 ? piece.tail_slot : -1;
    if (w == piece.window_begin && piece.head_slot >= 0) slot = piece.head_slot;
    parts.push_back({w, slot});
  }
  return parts;
}

void check_partition(const formats::BmatView& a, const BulkPartition& partition) {
  std::int64_t tile = 0;
  std::int32_t slot = 0, window = 0;
  std::vector<std::int32_t> pieces(a.row_window_offset.size() - 1, 0);
  for (const BulkPiece& piece : partition.pieces) {
    REQUIRE(piece.tile_begin == tile);
    REQUIRE(piece.tile_end >= piece.tile_begin);
    REQUIRE(piece.window_begin < piece.window_end);
    tile = piece.tile_end;
    std::int64_t value = a.value_offset[static_cast<std::size_t>(piece.window_begin)];
    for (std::int64_t w = 4 * first_tile(a, piece.window_begin); w < 4 * std::int64_t{piece.tile_begin}; ++w)
      value += __builtin_popcount(a.bits[static_cast<std::size_t>(w)]);
    CHECK(piece.value_begin == value);
    for (const Part part : parts_of(piece)) {
      const auto w = static_cast<std::size_t>(part.window);
      REQUIRE(part.window >= window);
      REQUIRE(part.window <= window + 1);
      window = part.window;
      ++pieces[w];
      const bool whole =
          piece.tile_begin <= first_tile(a, part.window) && piece.tile_end >= first_tile(a, part.window + 1);
      CHECK(whole == (part.slot < 0));
      if (!whole) CHECK(part.slot == slot++);
    }
  }
  CHECK(tile == a.row_window_offset.back());
  CHECK(slot == std::ssize(partition.slot_splits));
  std::int32_t next = 0, counter = 0;
  std::size_t split = 0;
  for (const std::int32_t count : pieces) {  // split windows are in order
    if (count == 1) continue;
    REQUIRE(split < partition.splits.size());
    const SplitWindow& made = partition.splits[split];
    CHECK(made.first_slot == next);
    CHECK(made.count == count);
    CHECK(made.first_counter == counter);
    for (std::int32_t p = 0; p < count; ++p)
      CHECK(partition.slot_splits[static_cast<std::size_t>(next++)] == static_cast<std::int32_t>(split));
    counter += sum_counters(count);
    ++split;
  }
  CHECK(split == partition.splits.size());
  CHECK(counter == partition.counters);
}

double cost_of(const formats::BmatView& a, const BulkPiece& piece, const BulkCosts& costs) {
  double cost = costs.tile * (piece.tile_end - piece.tile_begin);
  for (std::int32_t w = piece.window_begin; w < piece.window_end; ++w)
    if (piece.tile_end >= first_tile(a, w + 1)) cost += costs.window;
  return cost;
}

}  // namespace

TEST_CASE("bulk partition: every tile and every window once, whatever the number of pieces") {
  Random random(1);
  for (const std::int64_t rows : {1, 15, 16, 100, 333, 1000}) {
    const Formatted m = format_matrix(uneven_matrix(rows, 700, random), "bmat");
    const formats::BmatView a = formats::as_bmat(m.data.view());
    for (const std::int64_t count : {1, 2, 3, 7, 66, 264, 5000}) {
      CAPTURE(rows);
      CAPTURE(count);
      const BulkPartition partition = partition_tiles(a, count, {});
      CHECK(std::ssize(partition.pieces) <= count);
      check_partition(a, partition);
    }
  }
}

TEST_CASE("bulk partition: pieces cost the same but for a tile, or for a cut that moved to an edge") {
  Random random(2);
  const Formatted m = format_matrix(uneven_matrix(3000, 900, random), "bmat");
  const formats::BmatView a = formats::as_bmat(m.data.view());
  const BulkCosts costs;
  const double total = costs.tile * a.row_window_offset.back() +
                       costs.window * static_cast<double>(a.row_window_offset.size() - 1);
  for (const std::int64_t count : {4, 16, 60}) {
    const BulkPartition partition = partition_tiles(a, count, costs);
    REQUIRE(std::ssize(partition.pieces) == count);
    const double target = total / static_cast<double>(count);
    // Each end of a piece moves by half a tile or half a window's end, or to an edge that is near.
    const double tolerance = 2 * std::max(costs.tile + costs.window, target / 16 + costs.window);
    for (const BulkPiece& piece : partition.pieces)
      CHECK(std::abs(cost_of(a, piece, costs) - target) <= tolerance);
  }
}

TEST_CASE("bulk partition: cuts near the edge of a window move there") {
  Random random(3);
  // Windows of 25 tiles, pieces of about two of them.
  const Formatted m = format_matrix(random_matrix(640, 200, 0.9, DType::f32, random), "bmat");
  const formats::BmatView a = formats::as_bmat(m.data.view());
  CHECK(partition_tiles(a, 20, {}).splits.empty());
  CHECK(partition_tiles(a, 40, {}).splits.empty());
  CHECK_FALSE(partition_tiles(a, 50, {}).splits.empty());
}

TEST_CASE("bulk partition: blocks have whole numbers of pieces when there is enough to do") {
  Random random(4);
  const Formatted m = format_matrix(random_matrix(2000, 400, 0.3, DType::f32, random), "bmat");
  const formats::BmatView a = formats::as_bmat(m.data.view());
  CHECK(piece_count(a, 4, {}) % 4 == 0);
  CHECK(piece_count(a, 4, {}) > 4);
  CHECK(piece_count(a, 264, {}) == 264);
  CHECK(piece_count(a, 100000, {}) < 1000);
}

TEST_CASE("bulk costs are those of the request; what is no cost does not count") {
  const formats::FormatView format;
  const runtime::cuda::DeviceInfo device;
  const auto read = [&](std::vector<runtime::cuda::KernelCost> costs) {
    return bulk_tuning({format, 32, device, costs}).costs;
  };
  const BulkCosts given = read({{"tile_cost", 0.5}, {"window_cost", 5}});
  CHECK(given.tile == 0.5);
  CHECK(given.window == 5);
  CHECK(given.piece == BulkCosts{}.piece);
  const BulkCosts none = read({{"tile_cost", -1}, {"window_cost", 0}, {"piece_cost", 1e300}});
  CHECK(none.tile == BulkCosts{}.tile);
  CHECK(none.window == BulkCosts{}.window);
  CHECK(none.piece == BulkCosts{}.piece);
}

TEST_CASE("bulk stages: eight lanes that read together use eight banks") {
  for (int segments = 1; segments <= kBulkSegmentsMost; ++segments) {
    const BulkStage stage = bulk_stage(segments, 4, 16);
    CHECK(stage.pitch % 16 == 0);
    CHECK(stage.pitch >= segments * kBulkSegmentBytes);
    CHECK(stage.bytes % 128 == 0);
    for (int group = 0; group < 8; group += 2) {
      unsigned banks = 0;
      for (int lane = 4 * group; lane < 4 * group + 8; ++lane)
        banks |= 1u << (lane % 4 * stage.pitch / 16 + lane / 4) % 8;
      CHECK(banks == 0xffu);
    }
  }
}
