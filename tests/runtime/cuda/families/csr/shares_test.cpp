// The division of nonzeros into equal shares; the property runner tests the products.
#include "runtime/cuda/families/csr/shares.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

using Numbers = std::vector<std::int64_t>;

template <class T>
std::vector<T> part(const Schedule& schedule, std::int64_t at, std::int64_t count) {
  std::vector<T> items(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(items.data(), schedule.bytes.data() + at, items.size() * sizeof(T));
  return items;
}

Numbers offsets(const Numbers& lengths) {
  Numbers row_ptr(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), row_ptr.begin() + 1);
  return row_ptr;
}

Numbers random_lengths(std::int64_t rows, std::int64_t max, Random& random) {
  Numbers lengths(static_cast<std::size_t>(rows));
  for (std::int64_t& length : lengths) length = std::uniform_int_distribution<std::int64_t>(0, max)(random);
  return lengths;
}

/// Checks that chunks tell the row of every nonzero.
void check_chunks(const Numbers& row_ptr, const Schedule& schedule, const SharesHeader& header) {
  const auto chunks =
      part<RowChunk>(schedule, header.chunks_at, (row_ptr.back() + kRowChunk - 1) / kRowChunk);
  const auto rows = header.rows_at < 0 ? std::vector<std::int32_t>()
                                       : part<std::int32_t>(schedule, header.rows_at, header.rows);
  std::size_t found = 0, next = 0;  // nonzeros whose row is right, and the index of the current row
  for (std::size_t row = 0; row + 1 < row_ptr.size(); ++row) {
    if (row_ptr[row] == row_ptr[row + 1]) continue;
    if (!rows.empty()) REQUIRE(rows[next] == static_cast<std::int32_t>(row));
    for (std::int64_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k) {
      const RowChunk& chunk = chunks[static_cast<std::size_t>(k / kRowChunk)];
      const bool last = (chunk.ends >> (k % kRowChunk) & 1) != 0;
      const bool first = k % kRowChunk != 0 || chunk.row == static_cast<std::int32_t>(next);
      if (last == (k + 1 == row_ptr[row + 1]) && first) ++found;
    }
    ++next;
  }
  CHECK(found == static_cast<std::size_t>(row_ptr.back()));
  CHECK(header.rows == static_cast<std::int64_t>(next));
}

/// Checks that every nonzero is in one block, and that blocks have entire rows or a segment of one.
void check_blocks(const Numbers& row_ptr, const SharesShape& shape, const Schedule& schedule,
                  const SharesHeader& header) {
  const auto blocks = part<CsrPiece>(schedule, header.blocks_at, header.blocks);
  const auto splits = part<CsrSplit>(schedule, header.splits_at, header.splits);
  std::vector<int> owners(static_cast<std::size_t>(row_ptr.back()));
  for (const CsrPiece& block : blocks) {
    REQUIRE(block.entries > 0);
    REQUIRE(block.entry + block.entries <= row_ptr.back());
    CHECK(block.entry % kRowChunk + block.entries <= shape.places());
    for (std::int64_t k = block.entry; k < block.entry + block.entries; ++k)
      ++owners[static_cast<std::size_t>(k)];
    if (block.split >= 0) continue;
    CHECK(std::binary_search(row_ptr.begin(), row_ptr.end(), block.entry));
    CHECK(std::binary_search(row_ptr.begin(), row_ptr.end(), block.entry + block.entries));
  }
  CHECK(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
  std::int64_t next = 0;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    CHECK(splits[s].first_piece == next);
    std::int64_t entry = row_ptr[static_cast<std::size_t>(splits[s].row)];
    for (const std::int64_t end = next + splits[s].pieces; next < end; ++next) {
      const CsrPiece& piece = blocks[static_cast<std::size_t>(next)];
      CHECK(piece.split == static_cast<std::int32_t>(s));
      CHECK(piece.entry == entry);
      entry += piece.entries;
    }
    CHECK(entry == row_ptr[static_cast<std::size_t>(splits[s].row) + 1]);
  }
  CHECK(next == header.pieces);
}

}  // namespace

TEST_CASE("csr shares: every nonzero is in one block and knows its row, for any shape of a block") {
  Random random(6);
  for (const SharesShape shape :
       {SharesShape{16, 1}, SharesShape{16, 2}, SharesShape{4, 1}, SharesShape{8, 8}})
    for (const std::int64_t max : {1, 5, 60, 700, 9000}) {
      CAPTURE(shape.places());
      CAPTURE(max);
      const Numbers row_ptr = offsets(random_lengths(max > 100 ? 90 : 3000, max, random));
      const Schedule schedule = shares_schedule(row_ptr, shape, {1, 4});
      const auto& header = schedule.header.as<SharesHeader>();
      check_chunks(row_ptr, schedule, header);
      check_blocks(row_ptr, shape, schedule, header);
      CHECK(header.empty + header.rows == std::ssize(row_ptr) - 1);
      for (const std::int32_t row : part<std::int32_t>(schedule, header.empty_at, header.empty))
        CHECK(row_ptr[static_cast<std::size_t>(row)] == row_ptr[static_cast<std::size_t>(row) + 1]);
    }
}

TEST_CASE("csr shares: rows are listed only if some are empty") {
  CHECK(shares_schedule(offsets({3, 1, 2}), {16, 1}, {1, 4}).header.as<SharesHeader>().rows_at < 0);
  CHECK(shares_schedule(offsets({3, 0, 2}), {16, 1}, {1, 4}).header.as<SharesHeader>().rows_at >= 0);
}

TEST_CASE("csr shares: little work gives groups fewer chunks") {
  const DeviceInfo device = {.capability = 90, .sm_count = 132};
  CHECK(shares_shape(1000, 16, 2, 8, device).chunks == 1);
  CHECK(shares_shape(100'000'000, 16, 2, 8, device).chunks == 2);
}
