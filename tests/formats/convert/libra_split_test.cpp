#include "formats/convert/libra_split.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace sptile::formats;

namespace {

struct Split {
  LibraSplit counts;
  std::vector<std::uint8_t> chosen;
};

Split split(const std::vector<std::uint8_t>& counts, int threshold) {
  Split result{{}, std::vector<std::uint8_t>(counts.size(), 99)};
  result.counts = split_window(counts, threshold, result.chosen.data());
  return result;
}

}  // namespace

TEST_CASE("libra split: dense columns are chosen and the last tile is filled with the densest others") {
  // The threshold itself is dense. Six slots are left: both columns of 2, then the first four of 1.
  const Split s = split({1, 3, 2, 1, 8, 1, 1, 2, 1, 1}, 3);
  CHECK(s.chosen == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  CHECK(s.counts.dense == 2);
  CHECK(s.counts.filled == 6);
  CHECK(s.counts.entries == 19);
}

TEST_CASE("libra split: of equals the first columns fill the tile") {
  const Split s = split({2, 2, 4, 4, 4, 4, 4, 2, 1, 4}, 3);
  CHECK(s.chosen == std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 0, 0, 1});
  CHECK(s.counts.filled == 2);
}

TEST_CASE("libra split: a window without dense columns has no tile to fill") {
  const Split s = split({2, 2, 1, 0}, 3);
  CHECK(s.chosen == std::vector<std::uint8_t>{0, 0, 0, 0});
  CHECK(s.counts.dense == 0);
  CHECK(s.counts.filled == 0);
  CHECK(s.counts.entries == 0);
}

TEST_CASE("libra split: full tiles are not filled, and padding is never chosen") {
  CHECK(split({3, 3, 3, 3, 3, 3, 3, 3, 2, 2}, 3).chosen ==
        std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  const Split s = split({3, 1, 0, 0, 0, 0, 0, 0}, 3);
  CHECK(s.chosen == std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0, 0, 0});
  CHECK(s.counts.filled == 1);
}

TEST_CASE("libra split: threshold 1 chooses all columns, 9 none") {
  CHECK(split({1, 8, 0}, 1).chosen == std::vector<std::uint8_t>{1, 1, 0});
  CHECK(split({1, 8, 0}, 9).chosen == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(split({}, 3).counts.dense == 0);
}
