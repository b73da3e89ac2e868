#include "tools/spy/raster.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <numeric>

#include "formats/core/random.hpp"
#include "tests/reorder/random_pattern.hpp"

using namespace sptile;
namespace spy = tools::spy;

namespace {

// Each entry by itself: every cell whose share of rows and columns meets it.
std::vector<std::int64_t> obvious(const reorder::Pattern& a, std::span<const std::int32_t> row_place,
                                  std::span<const std::int32_t> column_place, std::int64_t height,
                                  std::int64_t width) {
  const auto covers = [](std::int64_t line, std::int64_t lines, std::int64_t cell, std::int64_t cells) {
    return lines > cells ? line * cells / lines == cell : cell * lines / cells == line;
  };
  std::vector<std::int64_t> counts(static_cast<std::size_t>(height * width), 0);
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (auto k = a.row_ptr[static_cast<std::size_t>(r)]; k < a.row_ptr[static_cast<std::size_t>(r) + 1]; ++k)
      for (std::int64_t y = 0; y < height; ++y) {
        if (!covers(row_place[static_cast<std::size_t>(r)], a.rows, y, height)) continue;
        const auto c = static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(k)]);
        for (std::int64_t x = 0; x < width; ++x)
          counts[static_cast<std::size_t>(y * width + x)] += covers(column_place[c], a.cols, x, width);
      }
  return counts;
}

std::vector<std::int32_t> inverse(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  return place;
}

}  // namespace

TEST_CASE("raster: counts what each cell holds, for matrices smaller and larger than the grid") {
  for (const auto& [rows, cols] :
       {std::pair{5, 3}, {3, 7}, {100, 40}, {40, 100}, {16, 16}, {60, 60}, {300, 2}}) {
    const auto row_count = rows;
    CAPTURE(row_count);
    const auto column_count = cols;
    CAPTURE(column_count);
    const reorder::Pattern a = reorder::random_pattern(rows, cols, 0.2, 5);
    const auto row_order = random_permutation(rows, RandomStream(1)),
               column_order = random_permutation(cols, RandomStream(2));
    const spy::Raster raster = spy::rasterise(a.view(), row_order, column_order, 16);
    CHECK(std::max(raster.height, raster.width) == 16);
    CHECK(raster.counts ==
          obvious(a, inverse(row_order), inverse(column_order), raster.height, raster.width));
    std::vector<std::int32_t> rows_given(static_cast<std::size_t>(rows)),
        columns_given(static_cast<std::size_t>(cols));
    std::iota(rows_given.begin(), rows_given.end(), 0);
    std::iota(columns_given.begin(), columns_given.end(), 0);
    CHECK(spy::rasterise(a.view(), {}, {}, 16).counts ==
          obvious(a, rows_given, columns_given, raster.height, raster.width));
  }
}

TEST_CASE("raster: a large matrix loses no entry, and threads do not matter") {
  const reorder::Pattern a = reorder::random_pattern(1000, 777, 0.05, 9);
  const auto with_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return spy::rasterise(a.view(), {}, {}, 64).counts;
  };
  const auto counts = with_threads(1);
  CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == a.view().nnz());
  CHECK(counts == with_threads(2));
}

TEST_CASE("raster: matrices without rows, columns or entries are blank") {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 9}, {9, 0}, {9, 9}}) {
    const spy::Raster raster = spy::rasterise(reorder::random_pattern(rows, cols, 0, 1).view(), {}, {}, 32);
    CHECK(raster.height >= 1);
    CHECK(raster.width >= 1);
    for (const std::int64_t count : raster.counts) CHECK(count == 0);
  }
}

TEST_CASE("paint: white where nothing is, black for the most, one scale for all panels") {
  const spy::Raster left{1, 3, {0, 1, 10}}, right{1, 2, {0, 100}};
  const spy::Image image = spy::render(std::vector{left, right});
  CHECK(image.height == 1);
  CHECK(image.width == 3 + 12 + 2);
  CHECK(image.pixels[0] == 255);
  CHECK(image.pixels[1] == 170);
  CHECK(image.pixels[2] == 85);
  CHECK(image.pixels[15] == 255);
  CHECK(image.pixels[16] == 0);
}
