// The division of rows by the csr kernel for one column; the property runner tests its products.
#include "runtime/cuda/families/csr/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

using Lengths = std::vector<std::int64_t>;

template <class T>
std::vector<T> part(const Schedule& schedule, std::int64_t at, std::int64_t count) {
  std::vector<T> items(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(items.data(), schedule.bytes.data() + at, items.size() * sizeof(T));
  return items;
}

/// Checks that every row belongs to one block or to the pieces of one split, and that none has too much work.
void check_schedule(const Lengths& lengths, const StreamShape& shape) {
  CAPTURE(shape.places());
  Lengths row_ptr{0};
  for (const std::int64_t length : lengths) row_ptr.push_back(row_ptr.back() + length);
  const Schedule schedule = stream_schedule(row_ptr, 4, shape);
  const auto& header = schedule.header.as<StreamHeader>();
  const auto at = [&](std::int64_t row) { return row_ptr[static_cast<std::size_t>(row)]; };
  const auto ends = part<std::uint16_t>(schedule, header.ends_at, std::ssize(lengths));
  const auto pieces = part<CsrPiece>(schedule, header.pieces_at, header.pieces);
  std::vector<int> owners(lengths.size());
  for (const StreamBlock& block : part<StreamBlock>(schedule, header.blocks_at, header.blocks)) {
    REQUIRE(block.rows > 0);
    REQUIRE(block.row + block.rows <= std::ssize(lengths));
    const std::int64_t line = block.entry - block.entry % kStreamLine;
    CHECK(block.rows <= shape.rows());
    CHECK(block.entry == at(block.row));
    CHECK(block.entry + block.entries == at(block.row + block.rows));
    CHECK(block.entry + block.entries - line <=
          (are_long(block.rows, block.entries) ? shape.long_places(row_ptr.back()) : shape.places()));
    for (std::int64_t row = block.row; row < block.row + block.rows; ++row) {
      ++owners[static_cast<std::size_t>(row)];
      CHECK(line + ends[static_cast<std::size_t>(row)] == at(row + 1));
    }
  }
  std::int64_t next = 0;
  for (const CsrSplit& split : part<CsrSplit>(schedule, header.splits_at, header.splits)) {
    REQUIRE(split.row < std::ssize(lengths));
    ++owners[static_cast<std::size_t>(split.row)];
    CHECK(split.first_piece == next);
    std::int64_t entry = at(split.row);
    for (; next < split.first_piece + split.pieces; ++next) {
      const CsrPiece& piece = pieces[static_cast<std::size_t>(next)];
      CHECK(piece.entry == entry);
      CHECK(piece.entries > 0);
      CHECK(piece.entries <= shape.piece());
      entry += piece.entries;
    }
    CHECK(entry == at(split.row + 1));
  }
  CHECK(next == header.pieces);
  CHECK(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
}

Lengths random_lengths(std::int64_t rows, std::int64_t max, Random& random) {
  Lengths lengths(static_cast<std::size_t>(rows));
  for (std::int64_t& length : lengths) length = std::uniform_int_distribution<std::int64_t>(0, max)(random);
  return lengths;
}

}  // namespace

TEST_CASE("csr stream kernel: every row belongs to one block or split, for any shape of a block") {
  Random random(5);
  for (const StreamShape shape :
       {kStreamShape, StreamShape{128, 4}, StreamShape{512, 8}, StreamShape{512, 16}})
    for (const std::int64_t max : {1, 5, 60, 2000, 20000})
      check_schedule(random_lengths(max > 100 ? 400 : 70000, max, random), shape);
}

TEST_CASE("csr stream kernel: more columns, and heads, are refused") {
  const DeviceInfo device = {.capability = 90, .sm_count = 1};
  const runtime::Variant one;
  runtime::Variant heads;
  heads.heads = 2;
  CHECK(check_one_column({9, 1, one, device}));
  CHECK_FALSE(check_one_column({9, 2, one, device}));
  CHECK_FALSE(check_one_column({9, 1, heads, device}));
}
