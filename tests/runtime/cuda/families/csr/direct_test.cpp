// The division of rows by the direct csr kernel; the property runner tests its products.
#include "runtime/cuda/collective/direct_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::direct_shape;
using runtime::cuda::DirectHeader;
using runtime::cuda::DirectRequest;

namespace {

runtime::cuda::DeviceInfo device(int sm_count) { return {.capability = 90, .sm_count = sm_count}; }

DirectRequest request(std::int64_t n) {
  const runtime::cuda::DirectShape shape = direct_shape(n, 4);
  return {shape, shape.slices(n), 4};
}

std::int64_t entries(std::span<const std::int64_t> row_ptr, std::int32_t row) {
  return row_ptr[static_cast<std::size_t>(row) + 1] - row_ptr[static_cast<std::size_t>(row)];
}

/// Returns the rows of each class as the schedule lists them; none if it does not.
std::vector<std::vector<std::int32_t>> listed_classes(std::span<const std::int64_t> row_ptr, std::int64_t n) {
  const auto made = runtime::cuda::direct_schedule(row_ptr, request(n), device(1));
  const auto& header = made.header.as<DirectHeader>();
  std::vector<std::vector<std::int32_t>> classes;
  for (int c = 0; header.rows_at >= 0 && c < header.class_count; ++c) {
    const runtime::cuda::DirectClass& of = header.classes[static_cast<std::size_t>(c)];
    auto& rows = classes.emplace_back(static_cast<std::size_t>(of.rows));
    std::memcpy(rows.data(), made.bytes.data() + header.rows_at + 4 * of.first_row, 4 * rows.size());
  }
  return classes;
}

}  // namespace

TEST_CASE("direct csr schedule: much work on few multiprocessors has more rows of B in flight") {
  Random random(4);
  const formats::Csr a = random_matrix(300, 900, DType::none, random, [](std::int64_t r, std::int64_t) {
    return r == 7 ? 1.0 : r == 8 ? 0.3 : r % 3 == 0 ? 0.12 : 0.02;
  });
  const auto at_once = [&](std::int64_t n, int sm_count) {
    return runtime::cuda::direct_schedule(a.row_ptr, request(n), device(sm_count))
        .header.as<DirectHeader>()
        .at_once;
  };
  CHECK(at_once(1, 1) == runtime::cuda::kDirectMany);
  CHECK(at_once(8, 1) == runtime::cuda::kDirectMany);
  CHECK(at_once(1, 132) == runtime::cuda::kDirectFew);
  CHECK(at_once(32, 1) == runtime::cuda::kDirectFew);
}

TEST_CASE("direct csr schedule: one that was stored for another N or device is refused") {
  Random random(5);
  const formats::Csr a = random_matrix(75, 400, DType::none, random, [](std::int64_t r, std::int64_t) {
    return r == 17 ? 0.9 : r % 5 == 0 ? 0.0 : 0.03;
  });
  const auto made = runtime::cuda::direct_schedule(a.row_ptr, request(64), device(132));
  CHECK(made.header.as<DirectHeader>().pieces >= 3);
  CHECK(made.header.as<DirectHeader>().rows_at >= 0);
  const auto restored = [&](std::int64_t n, int sm_count) {
    return read_direct({{}, made.bytes}, a.row_ptr, request(n), device(sm_count));
  };
  CHECK(restored(64, 132));
  CHECK_FALSE(restored(8, 132));
  CHECK_FALSE(restored(64, 1));
}

TEST_CASE(
    "direct csr schedule: very different rows are sorted within their class, close to their neighbours") {
  Random random(7);
  const formats::Csr a = random_matrix(500, 60, DType::none, random, [](std::int64_t r, std::int64_t) {
    return r % 7 == 0 ? 0.0 : static_cast<double>(r % 11) / 40;
  });
  const auto classes = listed_classes(a.row_ptr, 64);
  REQUIRE_FALSE(classes.empty());
  constexpr std::size_t kWindow = runtime::cuda::DirectPolicy{}.sorted_rows;
  for (const std::vector<std::int32_t>& rows : classes) {
    std::vector<std::int32_t> in_order = rows;
    std::sort(in_order.begin(), in_order.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = std::find(in_order.begin(), in_order.end(), rows[i]) - in_order.begin();
      CHECK(static_cast<std::size_t>(at) / kWindow == i / kWindow);
      if (i % kWindow != 0) CHECK(entries(a.row_ptr, rows[i]) <= entries(a.row_ptr, rows[i - 1]));
    }
  }
}

TEST_CASE("direct csr schedule: rows stay in order if those of a warp take equal numbers of rounds") {
  std::vector<std::int64_t> row_ptr = {0};
  for (int r = 0; r < 400; ++r) row_ptr.push_back(row_ptr.back() + (r % 40 == 0 ? 60 : 5 + r % 3));
  const auto classes = listed_classes(row_ptr, 64);
  CHECK(classes.size() == 2);
  for (const std::vector<std::int32_t>& rows : classes) CHECK(std::is_sorted(rows.begin(), rows.end()));
}

TEST_CASE("direct csr schedule: rows of one class need no bytes and are restored without them") {
  std::vector<std::int64_t> row_ptr(41);
  for (std::size_t r = 0; r < row_ptr.size(); ++r) row_ptr[r] = static_cast<std::int64_t>(r);
  CHECK(runtime::cuda::direct_schedule(row_ptr, request(64), device(1)).bytes.empty());
  const auto restored = read_direct({}, row_ptr, request(64), device(1));
  REQUIRE(restored);
  CHECK(restored->header.as<DirectHeader>().row_blocks > 0);
}

TEST_CASE("direct csr kernels: a team holds whole rows of B where they are narrow") {
  CHECK(direct_shape(1, 4) == runtime::cuda::DirectShape{1, 1, 1});
  CHECK(direct_shape(4, 4) == runtime::cuda::DirectShape{1, 4, 1});
  CHECK(direct_shape(32, 4) == runtime::cuda::DirectShape{4, 4, 2});
  for (const int vector : {2, 4, 8})
    for (std::int64_t n = 1; n <= 300; ++n) {
      const auto shape = direct_shape(n, vector);
      CHECK(shape.slices(n) * shape.columns() >= n);
      if (n <= 16 * vector * 2) CHECK(shape.slices(n) == 1);
    }
}
