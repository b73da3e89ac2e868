#include "formats/convert/libra_split.hpp"

#include <doctest/doctest.h>

#include <span>
#include <vector>

using namespace sptile::formats;

namespace {

using Rule = LibraSplit (*)(std::span<const std::uint8_t>, LibraSetting, std::int32_t*);

struct Split {
  LibraSplit counts;
  std::vector<std::int32_t> slots;
};

Split split_by(Rule rule, const std::vector<std::uint8_t>& counts, LibraSetting setting) {
  Split result{{}, std::vector<std::int32_t>(counts.size(), 99)};
  result.counts = rule(counts, setting, result.slots.data());
  return result;
}

Split split(const std::vector<std::uint8_t>& counts, int threshold, int block_columns = 8) {
  return split_by(split_columns, counts, {threshold, block_columns});
}

Split blocks(const std::vector<std::uint8_t>& counts, int threshold) {
  return split_by(split_blocks, counts, {threshold, 16});
}

}  // namespace

TEST_CASE("libra split: dense columns are chosen and the last tile is filled with the densest others") {
  // The threshold itself is dense. Six slots are left: both columns of 2, then the first four of 1.
  const Split s = split({1, 3, 2, 1, 8, 1, 1, 2, 1, 1}, 3);
  CHECK(s.slots == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, -1, -1});
  CHECK(s.counts.dense == 2);
  CHECK(s.counts.filled == 6);
  CHECK(s.counts.entries == 19);
}

TEST_CASE("libra split: of equals the first columns fill the tile") {
  const Split s = split({2, 2, 4, 4, 4, 4, 4, 2, 1, 4}, 3);
  CHECK(s.slots == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, -1, -1, 7});
  CHECK(s.counts.filled == 2);
}

TEST_CASE("libra split: a window without dense columns has no tile to fill") {
  const Split s = split({2, 2, 1, 0}, 3);
  CHECK(s.slots == std::vector<std::int32_t>{-1, -1, -1, -1});
  CHECK(s.counts.dense == 0);
  CHECK(s.counts.filled == 0);
  CHECK(s.counts.entries == 0);
}

TEST_CASE("libra split: full tiles are not filled, and padding is never chosen") {
  CHECK(split({3, 3, 3, 3, 3, 3, 3, 3, 2, 2}, 3).slots ==
        std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, -1, -1});
  const Split s = split({3, 1, 0, 0, 0, 0, 0, 0}, 3);
  CHECK(s.slots == std::vector<std::int32_t>{0, 1, -1, -1, -1, -1, -1, -1});
  CHECK(s.counts.filled == 1);
}

TEST_CASE("libra split: blocks of 16 columns are filled to the next 16") {
  std::vector<std::uint8_t> counts(20, 1);
  counts[4] = 3;
  counts[19] = 2;
  const Split s = split(counts, 3, 16);
  CHECK(s.counts.dense == 1);
  CHECK(s.counts.filled == 15);
  CHECK(s.counts.entries == 3 + 2 + 14);
  CHECK(s.slots[14] == 14);  // columns 0 to 3, 4, and 5 to 14
  CHECK(s.slots[15] == -1);
  CHECK(s.slots[19] == 15);
}

TEST_CASE("libra split: threshold 1 chooses all columns, 9 none") {
  CHECK(split({1, 8, 0}, 1).slots == std::vector<std::int32_t>{0, 1, -1});
  CHECK(split({1, 8, 0}, 9).slots == std::vector<std::int32_t>{-1, -1, -1});
  CHECK(split({}, 3).counts.dense == 0);
}

TEST_CASE("libra split: blocks hold the densest columns first, equals in their order") {
  const Split s = blocks({1, 8, 2, 8, 0, 2}, 21);
  CHECK(s.slots == std::vector<std::int32_t>{4, 0, 2, 1, -1, 3});
  CHECK(s.counts.dense == 5);
  CHECK(s.counts.filled == 0);
  CHECK(s.counts.entries == 21);
}

TEST_CASE("libra split: blocks below the threshold are left out, which are the last") {
  std::vector<std::uint8_t> counts(40, 1);  // blocks of 16, 16 and 8 entries
  CHECK(blocks(counts, 17).counts.dense == 0);
  CHECK(blocks(counts, 16).counts.dense == 32);
  CHECK(blocks(counts, 9).counts.entries == 32);
  CHECK(blocks(counts, 8).counts.dense == 40);
  counts[39] = 8;  // comes first; the first block has 23
  const Split s = blocks(counts, 17);
  CHECK(s.counts.dense == 16);
  CHECK(s.counts.entries == 23);
  CHECK(s.slots[39] == 0);
  CHECK(s.slots[0] == 1);
  CHECK(s.slots[14] == 15);
  CHECK(s.slots[15] == -1);
  CHECK(blocks({}, 1).counts.dense == 0);
}
