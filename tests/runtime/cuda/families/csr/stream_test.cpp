// The code of the csr kernel for one column, run on the host lane by lane, and how its rows are divided.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/stream.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

using Lengths = std::vector<std::int64_t>;

std::vector<ScheduleScratch> scratch_of(const ScheduleHeader& header) {
  return {header.as<StreamHeader>().scratch};
}

std::int64_t below(std::int64_t end, Random& random) {
  return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
}

/// Rows of these lengths, each with neighbouring columns.
formats::Csr matrix_of(const Lengths& lengths, std::int64_t cols, DType values, Random& random) {
  formats::Csr a;
  a.rows = std::ssize(lengths);
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  std::int64_t* end = a.row_ptr.begin();
  *end = 0;
  for (const std::int64_t length : lengths) end[1] = *end + length, ++end;
  a.col_idx = formats::Buffer<std::int32_t>(*end);
  std::int32_t* id = a.col_idx.begin();
  for (const std::int64_t length : lengths) {
    std::iota(id, id + length, static_cast<std::int32_t>(below(cols - length + 1, random)));
    id += length;
  }
  a.values = random_values(a.nnz(), values, random);
  return a;
}

/// Multiplies by each instance, with rows where they stand and elsewhere.
void check_all(const Lengths& lengths, std::int64_t cols, Random& random) {
  for (const DeviceKernel& kernel : stream_kernels())
    for (const bool permuted : {false, true}) {
      const formats::Csr a = matrix_of(lengths, cols, kernel.values, random);
      const Formatted formatted =
          format_matrix(a, "csr", permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
      check_emulated_product(kernel,
                             {.exact = a,
                              .format = formatted.data.view(),
                              .order = formatted.order,
                              .n = 1,
                              .pad = permuted ? 2 : 0,
                              .alpha = permuted ? 1.0 : 2.0,
                              .beta = permuted ? 0.0 : -1.0,
                              .device = emulated_device(),
                              .scratch = scratch_of},
                             random);
    }
}

template <class T>
std::vector<T> part(const Schedule& schedule, std::int64_t at, std::int64_t count) {
  std::vector<T> items(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(items.data(), schedule.bytes.data() + at, items.size() * sizeof(T));
  return items;
}

/// Sees that every row is the work of one block, or of the pieces of one split, and that none has too much.
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

Lengths random_lengths(std::int64_t rows, std::int64_t most, Random& random) {
  Lengths lengths(static_cast<std::size_t>(rows));
  for (std::int64_t& length : lengths) length = below(most + 1, random);
  return lengths;
}

}  // namespace

TEST_CASE("csr stream kernel: rows of any length, by as many lanes as they want") {
  Random random(1);
  for (const std::int64_t most : {1, 3, 9, 40, 150, 700})
    check_all(random_lengths(std::max<std::int64_t>(4000 / most, 7), most, random), 900, random);
  for (const std::int64_t length : {2, 8, 32, 64})  // all begin in the same banks
    check_all(Lengths(static_cast<std::size_t>(3000 / length), length), 400, random);
  Lengths uneven = random_lengths(700, 2, random);
  for (std::size_t r = 100; r < 130; ++r) uneven[r] = 17 + below(30, random);  // all of a warp
  uneven[300] = 520, uneven[301] = 100, uneven[302] = 700;
  check_all(uneven, 900, random);
}

TEST_CASE("csr stream kernel: among short rows some that take a warp, a block, many blocks") {
  Random random(2);
  Lengths lengths = random_lengths(900, 4, random);
  lengths[3] = lengths[5] = 17;  // one more than a lane takes
  lengths[40] = 300, lengths[41] = 290, lengths[70] = 1000;
  lengths[300] = kStreamShape.places() - kStreamLine, lengths[301] = kStreamShape.places() + 1;
  lengths[500] = kStreamShape.piece(), lengths[501] = 4 * kStreamShape.piece() + 3;
  lengths[899] = 2 * kStreamShape.piece();
  check_all(lengths, 4 * kStreamShape.piece() + 40, random);
}

TEST_CASE("csr stream kernel: long rows, which the warps of a block share") {
  Random random(7);
  for (const auto& [rows, most] : {std::pair{40, 600}, {12, 3000}, {9, 4000}, {60, 300}}) {
    Lengths lengths = random_lengths(rows, most, random);
    for (std::int64_t& length : lengths)
      length = length % 7 == 0 ? 0 : length + 100 < most ? length + 100 : length;
    check_all(lengths, 4100, random);
  }
  check_all({0, 0, 256, 0, 256, 512, 0, 0, 1024, 0}, 1100, random);  // rows that end where parts do
  check_all({3000, 1, 0, 2, 3, 0, 4, 1, 0}, 3100, random);
  check_all(Lengths(40, 256), 300, random);
  check_all({4064, 0, 31, 4064, 4000, 64, 4032, 0}, 4100, random);
}

TEST_CASE("csr stream kernel: a long row in more pieces than a block has threads") {
  Random random(3);
  const std::int64_t entries = (kStreamShape.threads + 9) * std::int64_t{kStreamShape.piece()};
  const DeviceKernel& kernel = stream_kernels()[0];
  const formats::Csr a = matrix_of({3, entries, 5}, entries, DType::f32, random);
  check_emulated_product(kernel,
                         {.exact = a,
                          .format = formats::as_format(a.view()),
                          .order = {},
                          .n = 1,
                          .device = emulated_device(),
                          .scratch = scratch_of},
                         random);
}

TEST_CASE("csr stream kernel: every row is the work of somebody, for any shape of a block") {
  Random random(5);
  for (const StreamShape shape :
       {kStreamShape, StreamShape{128, 4}, StreamShape{512, 8}, StreamShape{512, 16}})
    for (const std::int64_t most : {1, 5, 60, 2000, 20000})
      check_schedule(random_lengths(most > 100 ? 400 : 70000, most, random), shape);
}

TEST_CASE("csr stream kernel: a stored schedule of other rows, or with one bit changed, is refused") {
  Random random(6);
  Lengths lengths = random_lengths(90, 60, random);
  lengths[7] = 3 * kStreamShape.piece(), lengths[50] = kStreamShape.places() + 7;
  const formats::Csr a = matrix_of(lengths, lengths[7], DType::f32, random);
  const DeviceKernel& kernel = stream_kernels()[0];
  const formats::FormatView format = formats::as_format(a.view());
  const DeviceInfo device = emulated_device();
  Schedule made = kernel.schedule({format, 1, device});
  CHECK(made.header.as<StreamHeader>().pieces >= 3);
  const auto restored = [&] { return kernel.store->restore({format, 1, device}, {{}, made.bytes}); };
  REQUIRE(restored());
  CHECK(restored()->workspace_bytes == made.workspace_bytes);
  for (std::size_t i = 0; i < made.bytes.size(); ++i) {
    CAPTURE(i);
    made.bytes[i] ^= std::byte{1} << (i % 8);
    const auto forged = restored();
    CHECK((!forged && forged.error().code == Errc::bad_input));
    made.bytes[i] ^= std::byte{1} << (i % 8);
  }
  const std::int64_t number = 0;
  CHECK_FALSE(kernel.store->restore({format, 1, device}, {{&number, 1}, made.bytes}));
  made.bytes.pop_back();
  CHECK_FALSE(restored());
  made.bytes.clear();
  CHECK_FALSE(restored());
}

TEST_CASE("csr stream kernel: more columns, and heads, are refused") {
  const DeviceInfo device = emulated_device();
  const runtime::Variant one;
  runtime::Variant heads;
  heads.heads = 2;
  CHECK(check_one_column({9, 1, one, device}));
  CHECK_FALSE(check_one_column({9, 2, one, device}));
  CHECK_FALSE(check_one_column({9, 1, heads, device}));
}
