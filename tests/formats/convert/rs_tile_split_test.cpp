#include "formats/convert/rs_tile_split.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "formats/layout/rs_tile_rules.hpp"

using namespace sptile::formats;

namespace {
template <class T>
Buffer<T> buffer(const std::vector<T>& elements) {
  Buffer<T> result(static_cast<std::int64_t>(elements.size()));
  std::copy(elements.begin(), elements.end(), result.begin());
  return result;
}
template <class T>
std::vector<T> elements(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}
}  // namespace

TEST_CASE("rs_tile split: the limit is the largest of 32, 8 means and the 1024th part") {
  CHECK(split_limit(0, 0) == 32);
  CHECK(split_limit(100, 100) == 32);
  CHECK(split_limit(1000, 100) == 80);
  CHECK(split_limit(1001, 100) == 88);  // the mean is rounded up
  CHECK(split_limit(10'240'000, 10'000'000) == 10'000);
}

TEST_CASE("rs_tile split: a setting replaces the limit") {
  const RsTileSetting setting{.rule = {}, .tau_nnz = {}, .tau_inc = {}, .split = 3};
  CHECK(split_limit(1000, 100, setting) == 3);
  const SplitWindows split = split_windows(std::vector<std::int32_t>{0, 8}, buffer<std::int32_t>({0, 7, 10}),
                                           buffer<std::uint64_t>(std::vector<std::uint64_t>(10, 1)), setting);
  CHECK(elements(split.row_window_offset) == std::vector<std::int32_t>{0, 2, 4, 7, 10});
  CHECK(elements(split.row_window_id) == std::vector<std::int32_t>{0, 0, 0, 8});
  CHECK(split.split == 1);
}

TEST_CASE("rs_tile split: a window above the limit becomes nearly equal pieces, others stay") {
  // Windows of 1, 70, 2 and 32 tiles, and many of one tile that keep the mean small.
  std::vector<std::int32_t> starts{0, 8, 16, 30}, offsets{0, 1, 71, 73, 105};
  for (int i = 0; i < 60; ++i) {
    starts.push_back(40 + 8 * i);
    offsets.push_back(offsets.back() + 1);
  }
  std::vector<std::uint64_t> bitmap(static_cast<std::size_t>(offsets.back()), 1);
  bitmap[1] = 0xFF;  // the first tile of the long window
  const SplitWindows split = split_windows(starts, buffer(offsets), buffer(bitmap));
  CHECK(split.limit == 32);
  CHECK(split.split == 1);
  CHECK(split.pieces == 3);
  REQUIRE(split.row_window_id.size() == 66);
  const auto first = [](const auto& all) { return std::vector(all.begin(), all.begin() + 7); };
  CHECK(first(elements(split.row_window_id)) == std::vector<std::int32_t>{0, 8, 8, 8, 16, 30, 40});
  CHECK(first(elements(split.row_window_offset)) == std::vector<std::int32_t>{0, 1, 24, 47, 71, 73, 105});
  CHECK(first(elements(split.value_offset)) == std::vector<std::int64_t>{0, 1, 31, 54, 78, 80, 112});
  CHECK(first(elements(split.window_flags)) == std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 0});
  CHECK(split.row_window_offset[66] == offsets.back());
}

TEST_CASE("rs_tile split: no windows give no pieces") {
  const SplitWindows split = split_windows({}, buffer<std::int32_t>({0}), {});
  CHECK(split.row_window_id.empty());
  CHECK(elements(split.row_window_offset) == std::vector<std::int32_t>{0});
  CHECK(elements(split.value_offset) == std::vector<std::int64_t>{0});
  CHECK(split.split == 0);
}
