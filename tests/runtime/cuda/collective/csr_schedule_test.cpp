// The division of CSR rows for CUDA devices: every entry and every row is somebody's work, exactly once.
#include "runtime/cuda/collective/csr_schedule.hpp"

#include <doctest/doctest.h>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/device/whole_pieces.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::CsrPiece;
using runtime::cuda::CsrRun;
using runtime::cuda::CsrSplit;
using runtime::cuda::Schedule;

namespace {

const runtime::cuda::DeviceInfo kDevice = {.capability = 90, .sm_count = 132};

template <class T>
std::span<const T> items(const Schedule& schedule, std::int64_t at, std::int64_t count) {
  return {reinterpret_cast<const T*>(schedule.bytes.data() + at), static_cast<std::size_t>(count)};
}

/// Follows every item and marks what it covers.
void check_schedule(const formats::Csr& a, DType dense, std::int64_t n) {
  Schedule schedule;
  const auto header = runtime::cuda::append_csr(schedule, {a.view().row_ptr}, dense, n, kDevice);
  const auto runs = items<CsrRun>(schedule, header.runs_at, header.runs);
  const auto pieces = items<CsrPiece>(schedule, header.pieces_at, header.pieces);
  const auto splits = items<CsrSplit>(schedule, header.splits_at, header.splits);
  std::vector<int> rows(static_cast<std::size_t>(a.rows)), entries(static_cast<std::size_t>(a.nnz()));
  const auto mark = [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t k = first; k < first + count; ++k) ++entries.at(static_cast<std::size_t>(k));
  };
  for (const CsrRun& run : runs) {
    const std::int64_t count = run.entries_and_rows & 0xFF, last = run.row + count;
    REQUIRE(count >= 1);
    REQUIRE(count <= runtime::cuda::kMaxRunRows);
    CHECK(run.entry == a.row_ptr[run.row]);
    CHECK((run.entries_and_rows >> 8) == a.row_ptr[last] - run.entry);
    mark(run.entry, run.entries_and_rows >> 8);
    for (std::int64_t r = run.row; r < last; ++r) ++rows[static_cast<std::size_t>(r)];
  }
  std::size_t next = 0;
  for (std::size_t s = 0; s < splits.size(); ++s) {  // pieces stand in the order of their entries
    CHECK(splits[s].first_piece == static_cast<std::int32_t>(next));
    CHECK(splits[s].pieces >= 2);
    ++rows[static_cast<std::size_t>(splits[s].row)];
    std::int64_t entry = a.row_ptr[splits[s].row];
    for (std::int32_t p = 0; p < splits[s].pieces; ++p, ++next) {
      CHECK(pieces[next].split == static_cast<std::int32_t>(s));
      CHECK(pieces[next].entry == entry);
      mark(entry, pieces[next].entries);
      entry += pieces[next].entries;
    }
    CHECK(entry == a.row_ptr[splits[s].row + 1]);
  }
  CHECK(next == pieces.size());
  for (const int count : rows) REQUIRE(count == 1);
  for (const int count : entries) REQUIRE(count == 1);
  const auto geometry = runtime::cuda::csr_geometry(n, runtime::cuda::csr_vector(dense));
  const std::int64_t width = std::int64_t{geometry.lanes} * runtime::cuda::csr_vector(dense);
  CHECK(geometry.slices * width >= n);
  CHECK((geometry.slices - 1) * width < n);
}

}  // namespace

TEST_CASE("csr schedule: every row and every entry is covered once, whatever the shape") {
  Random random(1);
  const auto skewed = [](std::int64_t r, std::int64_t) { return r % 97 == 5 ? 0.9 : 0.004; };
  const auto sparse = [](std::int64_t r, std::int64_t) { return r % 3 == 0 ? 0.01 : 0.0; };
  for (const std::int64_t n : {1, 32, 33, 64, 128, 1000}) {
    for (const DType dense : {DType::f32, DType::f64, DType::f16}) {
      check_schedule(random_matrix(400, 2000, DType::f32, random, skewed), dense, n);
      check_schedule(random_matrix(900, 100, DType::f32, random, sparse), dense, n);
    }
    check_schedule(random_matrix(50, 50, 0, DType::f32, random), DType::f32, n);
    check_schedule(random_matrix(0, 50, 0, DType::f32, random), DType::f32, n);
    check_schedule(random_matrix(1, 3000, 1, DType::f32, random), DType::f32, n);
  }
}

TEST_CASE("csr schedule: many rows are shared out in parts that join without gaps") {
  Random random(2);
  formats::Csr a;
  a.rows = 100003;
  a.cols = 10;
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  a.row_ptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r)
    a.row_ptr[r + 1] = a.row_ptr[r] + static_cast<std::int64_t>(random() % 5);
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[a.rows]);
  check_schedule(a, DType::f32, 32);
  check_schedule(a, DType::f32, 128);
}

TEST_CASE("csr schedule: with lanes of its own, room for the sums in the usual grid as well") {
  const std::vector<std::int64_t> row_ptr = {0, 5000, 5001};
  for (const int lanes : {8, 16, 32})
    for (const std::int64_t n : {8, 33, 72, 130, 200}) {
      CAPTURE(lanes);
      CAPTURE(n);
      Schedule schedule;
      const runtime::cuda::CsrHeader header = runtime::cuda::append_csr(
          schedule, {.row_ptr = row_ptr, .lanes = lanes}, DType::f32, n, {.sm_count = 1});
      REQUIRE(header.pieces > 1);
      const auto counters = header.scratch.partials_at - header.scratch.counters_at,
                 sums = static_cast<std::int64_t>(schedule.workspace_bytes) - header.scratch.partials_at;
      for (const runtime::cuda::CsrGeometry& grid :
           {runtime::cuda::csr_geometry(n, 4), runtime::cuda::csr_geometry_of(lanes, n, 4)}) {
        CHECK(counters >= 4 * header.splits * grid.slices);
        CHECK(sums >= header.pieces * grid.slices * grid.lanes * 16);
      }
    }
}

TEST_CASE("csr schedule: of a very long row there are about as many pieces as each has entries") {
  for (const std::int64_t entries : {100, 5000, 40000, 250000}) {
    CAPTURE(entries);
    const std::vector<std::int64_t> row_ptr = {0, entries, entries + 1};
    Schedule schedule;
    const auto header = runtime::cuda::append_csr(schedule, {row_ptr}, DType::f32, 128, kDevice);
    const auto pieces = items<CsrPiece>(schedule, header.pieces_at, header.pieces);
    const auto longest = static_cast<std::int64_t>(pieces.front().entries);
    CHECK(longest >= 32);
    if (entries > 4096) CHECK(longest >= header.pieces);
    CHECK(longest <= std::max<std::int64_t>(64, 2 * header.pieces));
  }
}

TEST_CASE("csr kernels: B is moved in pieces of 16 bytes only if all heads are aligned") {
  alignas(16) float memory[64];
  using runtime::cuda::whole_pieces;
  CHECK(whole_pieces({memory, 8, 16}, 8, sizeof(float)));
  for (const runtime::Operand& operand :
       {runtime::Operand{memory, 8, 17}, {memory, 9, 16}, {memory + 1, 8, 16}})
    CHECK_FALSE(whole_pieces(operand, 8, sizeof(float)));
}
