#include "runtime/cuda/papers/bulk/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

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

using Columns = std::vector<int>;  ///< segments of each window that shares have had so far, from the first on

void check_part(const formats::BmatView& a, const BulkPart& part, int segments, Columns& columns) {
  REQUIRE(part.window_begin < part.window_end);
  REQUIRE(part.segment_begin < part.segment_end);
  CHECK(part.tile_begin == first_tile(a, part.window_begin));
  CHECK(part.tile_end == first_tile(a, part.window_end));
  CHECK(part.value_begin == a.value_offset[static_cast<std::size_t>(part.window_begin)]);
  CHECK((part.window_end - part.window_begin == 1 || part.segment_end - part.segment_begin == segments));
  for (std::int32_t w = part.window_begin; w < part.window_end; ++w) {
    int& had = columns[static_cast<std::size_t>(w)];
    CHECK(had == part.segment_begin);
    if (w > 0) CHECK(columns[static_cast<std::size_t>(w) - 1] == segments);
    had = part.segment_end;
  }
}

bool is_empty(const BulkPart& part) { return part.window_begin == part.window_end; }

void check_partition(const formats::BmatView& a, int segments, std::span<const BulkShare> shares) {
  Columns columns(a.row_window_offset.size() - 1, 0);
  for (const BulkShare& share : shares) {
    CHECK_FALSE(std::all_of(share.begin(), share.end(), is_empty));
    for (const BulkPart& part : share)
      if (!is_empty(part)) check_part(a, part, segments, columns);
  }
  CHECK(std::all_of(columns.begin(), columns.end(), [=](int had) { return had == segments; }));
}

double cost_of(const formats::BmatView& a, std::int64_t window, const BulkCosts& costs) {
  return costs.tile * static_cast<double>(first_tile(a, window + 1) - first_tile(a, window)) + costs.window;
}

double cost_of(const formats::BmatView& a, const BulkShare& share, int segments, const BulkCosts& costs) {
  double cost = 0;
  for (const BulkPart& part : share)
    for (std::int32_t w = part.window_begin; w < part.window_end; ++w)
      cost += cost_of(a, w, costs) * (part.segment_end - part.segment_begin) / segments;
  return cost;
}

bool cuts_windows(std::span<const BulkShare> shares) {
  return std::any_of(shares.begin(), shares.end(),
                     [](const BulkShare& share) { return !is_empty(share[0]) || !is_empty(share[2]); });
}

constexpr BulkDivision kDivisions[] = {divide_by_targets, divide_greedily, divide_genetically};

/// A matrix whose window w has `tiles[w]` tiles of 16 rows and 8 columns, and no values.
struct Windows {
  explicit Windows(const std::vector<std::int32_t>& tiles) {
    for (const std::int32_t count : tiles) offsets.push_back(offsets.back() + count);
    values.resize(offsets.size(), 0);
    view.row_window_offset = offsets;
    view.value_offset = values;
  }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  std::vector<std::int32_t> offsets{0};
  std::vector<std::int64_t> values;
  formats::BmatView view;
};

double greatest_share(const BulkCostModel& model, const BulkCuts& cuts) {
  const std::vector<double> costs = bulk_share_costs(model, cuts);
  return *std::max_element(costs.begin(), costs.end());
}

}  // namespace

TEST_CASE("equation 1: tiles times cf1, windows times cf2, and cf3") {
  const Windows m({3, 0, 5});
  const BulkCostModel model(m.view, 4, {.tile = 0.5, .window = 3, .fixed = 7});
  CHECK(model.total() == doctest::Approx(8 * 0.5 + 3 * 3 + 7));
  CHECK(model.before(model.end()) == doctest::Approx(8 * 0.5 + 3 * 3));
  CHECK(model.before(4) == doctest::Approx(3 * 0.5 + 3));            // the first window
  CHECK(model.between(8, 9) == doctest::Approx((5 * 0.5 + 3) / 4));  // a segment of the last
  const std::vector<double> costs = bulk_share_costs(model, {0, 5, 12});
  CHECK(costs[0] == doctest::Approx(3 * 0.5 + 3 + 3.0 / 4 + 7.0 / 2));
  CHECK(costs[0] + costs[1] == doctest::Approx(model.total()));
}

TEST_CASE("equation 2: the maximum share of the total, and the tiles of cut windows that are loaded again") {
  const Windows m({4, 4, 4});
  const BulkCostModel model(m.view, 4, {.tile = 1, .window = 1, .fixed = 0, .reload = 0.25});
  CHECK(bulk_penalty(model, {0, 4, 8, 12}) == 0);
  CHECK(bulk_objective(model, {0, 4, 8, 12}) == doctest::Approx(1.0 / 3));
  // One window of four tiles is loaded twice by two shares of a total of 15.
  CHECK(bulk_penalty(model, {0, 6, 12}) == doctest::Approx(0.25 * 4 / (2 * 15)));
  CHECK(bulk_objective(model, {0, 6, 12}) == doctest::Approx(0.5 + 0.25 * 4 / (2 * 15)));
  CHECK(bulk_penalty(model, {0, 6, 6, 12}) == doctest::Approx(0.25 * 4 / (3 * 15)));  // an empty share
}

TEST_CASE("Algorithm 1 continues from each snapped cut; absolute targets do not") {
  // Nine equal windows of 16 segments: an eighth of the result is 18 segments, which a cut must exceed.
  const Windows m(std::vector<std::int32_t>(9, 14));
  const BulkCostModel model(m.view, 16, {});
  // 76 + 19 = 95 is the last segment of its window: the cut moves to 96, and the next ones with it.
  CHECK(divide_greedily(model, 8) == BulkCuts{0, 19, 38, 57, 76, 96, 115, 134, 144});
  CHECK(divide_by_targets(model, 8) == BulkCuts{0, 18, 36, 54, 72, 90, 108, 126, 144});
}

TEST_CASE("Algorithm 1 does not snap back to the previous cut") {
  // The average is less than an eighth of the first window: as printed, all cuts would return to 0.
  const Windows m({1000, 10, 10, 10});
  const BulkCostModel model(m.view, 64, {});
  const BulkCuts cuts = divide_greedily(model, 32);
  CHECK(cuts[1] == 3);
  CHECK(cuts[2] == 6);
  for (std::size_t i = 1; i < cuts.size(); ++i) CHECK((cuts[i] > cuts[i - 1] || cuts[i] == model.end()));
}

TEST_CASE("one generation of the genetic algorithm improves the shares of Algorithm 1") {
  Random random(11);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::int32_t> tiles(200);
    for (std::int32_t& count : tiles) count = static_cast<std::int32_t>(random() % 300);
    const Windows m(tiles);
    const BulkCostModel model(m.view, 8, {});
    const BulkCuts greedy = divide_greedily(model, 33), refined = divide_genetically(model, 33);
    CHECK(refined == divide_genetically(model, 33));
    CHECK(std::is_sorted(refined.begin(), refined.end()));
    CHECK(bulk_objective(model, refined) < bulk_objective(model, greedy));
    CHECK(greatest_share(model, refined) < greatest_share(model, greedy));
  }
}

TEST_CASE("one share per window, whatever the number of shares") {
  const Windows m({3, 0, 500});
  CHECK(divide_by_windows(BulkCostModel(m.view, 4, {}), 7) == BulkCuts{0, 4, 8, 12});
}

TEST_CASE("shares of equal numbers of windows, whatever they cost") {
  const Windows m({3, 0, 500, 1, 1});
  const BulkCostModel model(m.view, 4, {});
  CHECK(divide_by_window_counts(model, 2) == BulkCuts{0, 8, 20});
  CHECK(divide_by_window_counts(model, 5) == divide_by_windows(model, 5));
  CHECK(divide_by_window_counts(model, 8) == BulkCuts{0, 0, 4, 4, 8, 12, 12, 16, 20});  // some are empty
}

TEST_CASE("bulk partition: every column of every window once, whatever the number of shares") {
  Random random(1);
  for (const std::int64_t rows : {1, 15, 16, 100, 333, 1000}) {
    const Formatted m = format_matrix(uneven_matrix(rows, 700, random), "bmat");
    const formats::BmatView a = formats::as_bmat(m.data.view());
    for (const int segments : {1, 2, 9, 16})
      for (const std::int64_t count : {1, 2, 3, 7, 66, 264, 5000}) {
        CAPTURE(rows);
        CAPTURE(segments);
        CAPTURE(count);
        for (const BulkDivision divide : kDivisions) {
          const std::vector<BulkShare> shares = partition_columns(a, segments, count, {}, divide);
          CHECK(std::ssize(shares) <= count);
          CHECK(std::ssize(shares) <= segments * (std::ssize(a.row_window_offset) - 1));
          check_partition(a, segments, shares);
        }
      }
  }
}

TEST_CASE("bulk partition: shares cost the same but for what cuts move by") {
  Random random(2);
  const Formatted m = format_matrix(uneven_matrix(3000, 900, random), "bmat");
  const formats::BmatView a = formats::as_bmat(m.data.view());
  const BulkCosts costs;
  const std::int64_t windows = std::ssize(a.row_window_offset) - 1;
  double total = 0, longest = 0;
  for (std::int64_t w = 0; w < windows; ++w) {
    total += cost_of(a, w, costs);
    longest = std::max(longest, cost_of(a, w, costs));
  }
  for (const int segments : {4, 16})
    for (const std::int64_t count : {4, 16, 60}) {
      const std::vector<BulkShare> shares = partition_columns(a, segments, count, costs);
      REQUIRE(std::ssize(shares) == count);
      const double target = total / static_cast<double>(count);
      // Each end moves by half a segment, or to an edge nearer than an eighth of the window.
      for (const BulkShare& share : shares)
        CHECK(std::abs(cost_of(a, share, segments, costs) - target) <= 2 * longest / 8 + 1e-9);
    }
}

TEST_CASE("bulk partition: cuts near the edge of a window move there") {
  Random random(3);
  // 40 windows of 25 tiles: shares of two windows, of a whole one and 1 / 16, of three halves.
  const Formatted m = format_matrix(random_matrix(640, 200, 0.99, DType::f32, random), "bmat");
  const formats::BmatView a = formats::as_bmat(m.data.view());
  CHECK_FALSE(cuts_windows(partition_columns(a, 16, 20, {})));
  CHECK_FALSE(cuts_windows(partition_columns(a, 16, 40, {})));
  const std::vector<BulkShare> near = partition_columns(a, 16, 38, {});
  CHECK(is_empty(near[0][2]));
  CHECK(near[0][1].window_end == 1);
  const std::vector<BulkShare> far = partition_columns(a, 16, 27, {});
  CHECK(far[0][2].segment_end == 8);
  CHECK(far[1][0].segment_begin == 8);
}

TEST_CASE("bulk partition: a window that costs as much as all others is shared by many blocks") {
  Random random(5);
  const formats::Csr dense_row = random_matrix(
      64, 4000, DType::f32, random, [](std::int64_t r, std::int64_t) { return r == 20 ? 1.0 : 0.0; });
  const Formatted m = format_matrix(dense_row, "bmat");
  const std::vector<BulkShare> shares = partition_columns(formats::as_bmat(m.data.view()), 16, 132, {});
  CHECK(std::ssize(shares) == 16);
}

TEST_CASE("bulk costs are those of the request; what is no cost does not count") {
  const formats::FormatView format;
  const runtime::cuda::DeviceInfo device;
  const auto read = [&](std::vector<runtime::cuda::KernelCost> costs) {
    return bulk_costs({format, 32, device, costs});
  };
  const BulkCosts given = read({{"tile_cost", 0.5}, {"window_cost", 5}});
  CHECK(given.tile == 0.5);
  CHECK(given.window == 5);
  const BulkCosts none = read({{"tile_cost", -1}, {"window_cost", 1e300}});
  CHECK(none.tile == BulkCosts{}.tile);
  CHECK(none.window == BulkCosts{}.window);
}

TEST_CASE("bulk stages: eight lanes that read together use eight banks") {
  for (int segments = 1; segments <= std::end(kBulkShapes)[-1].segments; ++segments) {
    const BulkStage stage = bulk_stage(segments, bulk_shape(segments).tiles, 512);
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

namespace {

/// What is made for a product with so many columns of f32.
std::optional<BulkHeader> header_for(std::int64_t n, std::size_t shared_per_block) {
  Random random(7);
  static const Formatted m = format_matrix(uneven_matrix(333, 700, random), "bmat");
  const runtime::cuda::DeviceInfo device{
      .capability = 90, .sm_count = 132, .l2_bytes = 50 << 20, .shared_per_block = shared_per_block};
  runtime::cuda::Schedule schedule;
  return append_bulk(schedule, {m.data.view(), n, device}, 4, {.tile_bytes = 512});
}

}  // namespace

TEST_CASE("bulk shapes: rows of up to 2,048 bytes are one slice, wider ones some of equal width") {
  constexpr std::pair<std::int64_t, int> kSegments[] = {{32, 1},   {64, 2},  {128, 4},  {256, 8},  {260, 9},
                                                        {512, 16}, {516, 9}, {640, 10}, {1024, 16}};
  for (const auto& expected : kSegments) {
    CAPTURE(expected.first);
    const auto header = header_for(expected.first, 227 << 10);
    REQUIRE(header);
    CHECK(header->slice_segments == expected.second);
  }
}

TEST_CASE("bulk shapes: a block with 227 KiB has the stages of the table") {
  for (const BulkShape& shape : kBulkShapes) {
    CAPTURE(shape.segments);
    const auto header = header_for(shape.segments * kBulkSegmentBytes / 4, 227 << 10);
    REQUIRE(header);
    CHECK(header->stages == shape.stages);
    const std::int64_t bytes =
        kBulkBarrierBytes + header->stages * bulk_stage(shape.segments, shape.tiles, 512).bytes;
    CHECK(shape.blocks * (bytes + 1024) <= 228 << 10);
  }
}

TEST_CASE(
    "bulk shapes: slices are as wide as the memory of a block allows; none without room for two stages") {
  const auto small = header_for(512, 99 << 10);
  REQUIRE(small);
  CHECK(small->segments_most == 8);
  CHECK(small->slice_segments == 8);
  CHECK(small->stages >= 2);
  CHECK_FALSE(header_for(512, 32 << 10));
}
