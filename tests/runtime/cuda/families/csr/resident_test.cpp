// The code of the csr kernel that keeps B in shared memory, run on the host lane by lane, and how its rows
// are divided.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/runtime/cuda/emulated_block.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wconversion"
#include "runtime/cuda/families/csr/resident.cu"
#pragma GCC diagnostic pop

#include "tests/runtime/cuda/emulated_product.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

std::vector<ScheduleScratch> no_scratch(const ScheduleHeader& /*header*/) { return {}; }

/// A device on which slices of so many rows of B just fit, of so many lines.
DeviceInfo device_for(std::int64_t rows, int lines, DType dense, int sm_count) {
  DeviceInfo device = emulated_device(sm_count);
  device.shared_per_block = static_cast<std::size_t>(resident_bytes(rows, lines, dense));
  return device;
}

/// Multiplies by each instance, with rows where they stand and elsewhere.
void check_all(const std::function<double(std::int64_t, std::int64_t)>& density, std::int64_t rows,
               std::int64_t cols, std::int64_t n, std::int64_t pad, int sm_count, Random& random) {
  CAPTURE(rows);
  CAPTURE(cols);
  for (const DeviceKernel& kernel : resident_kernels())
    for (const int lines : {1, 2}) {
      CAPTURE(lines);
      const bool permuted = lines == 2;
      const formats::Csr a = random_matrix(rows, cols, kernel.values, random, density);
      const Formatted formatted =
          format_matrix(a, "csr", permuted ? random_order(a.rows, random) : std::vector<std::int32_t>{});
      const Schedule schedule =
          check_emulated_product(kernel,
                                 {.exact = a,
                                  .format = formatted.data.view(),
                                  .order = formatted.order,
                                  .n = n,
                                  .pad = pad,
                                  .alpha = permuted ? 1.0 : 2.0,
                                  .beta = permuted ? 0.0 : -1.0,
                                  .device = device_for(cols, lines, kernel.dense, sm_count),
                                  .scratch = no_scratch},
                                 random);
      CHECK(schedule.header.as<ResidentHeader>().lines ==
            (n >= resident_columns(2, kernel.dense) ? lines : 1));
    }
}

double uneven(std::int64_t r, std::int64_t c) {
  if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 0.01;
  if (r % 40 == 17) return 0.95;
  return (r / 8 + c / 16) % 3 == 0 ? 0.4 : 0.02;
}

formats::Csr wide_matrix(Random& random) { return random_matrix(90, 400, DType::f32, random, uneven); }

}  // namespace

TEST_CASE("csr resident kernel: long rows that many warps share, empty rows, more parts than rows") {
  Random random(2);
  check_all([](auto, auto) { return 1.0; }, 3, 500, 64, 0, 1, random);
  check_all([](auto r, auto) { return r == 40 ? 1.0 : r % 9 == 0 ? 0.02 : 0.0; }, 81, 700, 64, 0, 2, random);
  check_all([](auto r, auto) { return r % 2 == 0 ? 0.3 : 0.0; }, 5, 90, 32, 0, 40, random);
  check_all([](auto, auto) { return 0.0; }, 70, 20, 32, 0, 3, random);
  check_all([](auto, auto) { return 0.5; }, 200, 1, 32, 0, 3, random);
  check_all([](auto, auto) { return 0.5; }, 0, 9, 32, 0, 3, random);
  check_all([](auto, auto) { return 0.5; }, 9, 0, 32, 0, 3, random);
}

TEST_CASE("csr resident kernel: short rows, some longer among them") {
  Random random(6);
  const auto some_longer = [](std::int64_t r, std::int64_t) { return r % 23 == 5 ? 0.5 : r % 3 ? 0.1 : 0.0; };
  for (const auto& [n, pad] : {std::pair{64, 0}, {128, 8}, {200, 0}, {37, 1}})
    check_all(some_longer, 301, 60, n, pad, 3, random);
  check_all([](auto, auto) { return 0.02; }, 3, 100, 64, 0, 1, random);
}

TEST_CASE("csr resident kernel: matrices of which B does not fit, and heads, are refused") {
  const runtime::Variant one;
  runtime::Variant heads;
  heads.heads = 2;
  const DeviceInfo device = device_for(300, 1, DType::f32, 1);
  CHECK(check_resident({300, 64, one, device}, DType::f32));
  CHECK_FALSE(check_resident({300, 64, heads, device}, DType::f32));
  const Status refused = check_resident({301, 64, one, device}, DType::f32);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::unsupported);
  CHECK(refused.error().message.find("up to 300 columns") != std::string::npos);
  CHECK_FALSE(check_resident({std::int64_t{1} << 62, 64, one, device}, DType::f32));
  DeviceInfo small = device;
  small.shared_per_block = 100;
  CHECK_FALSE(check_resident({1, 64, one, small}, DType::f32));
}

TEST_CASE("csr resident kernel: warps have about equal work") {
  Random random(4);
  const formats::Csr a = random_matrix(500, 600, DType::none, random, uneven);
  const DeviceInfo device = emulated_device(132);
  const Schedule schedule = resident_schedule({formats::as_format(a.view()), 512, device}, DType::f32);
  const auto& header = schedule.header.as<ResidentHeader>();
  const std::int64_t warps = header.parts * kResidentWarps;
  std::vector<ResidentStart> starts(static_cast<std::size_t>(warps) + 1);
  std::memcpy(starts.data(), schedule.bytes.data() + header.starts_at, starts.size() * sizeof(ResidentStart));
  CHECK(starts.front() == ResidentStart{0, 0});
  CHECK(starts.back() == ResidentStart{a.nnz(), a.rows});
  std::int64_t most = 0;
  for (std::size_t w = 0; w + 1 < starts.size(); ++w) {
    CHECK(starts[w].row <= starts[w + 1].row);
    CHECK(starts[w].entry <= starts[w + 1].entry);
    CHECK(a.row_ptr[starts[w].row] <= starts[w].entry);
    most = std::max(most, starts[w + 1].entry - starts[w].entry);
  }
  CHECK(most <= 2 * a.nnz() / warps + 64);
}

TEST_CASE("csr resident kernel: a stored schedule of other rows, or with one bit changed, is refused") {
  Random random(5);
  const formats::Csr a = wide_matrix(random);
  const formats::FormatView format = formats::as_format(a.view());
  const DeviceKernel& kernel = resident_kernels()[0];
  const DeviceInfo device = emulated_device(4);
  Schedule made = kernel.schedule({format, 128, device});
  const auto restored = [&] { return kernel.store->restore({format, 128, device}, {{}, made.bytes}); };
  REQUIRE(restored());
  for (std::size_t i = 0; i < made.bytes.size(); ++i) {
    CAPTURE(i);
    made.bytes[i] ^= std::byte{1} << (i % 8);
    const auto forged = restored();
    CHECK((!forged && forged.error().code == Errc::bad_input));
    made.bytes[i] ^= std::byte{1} << (i % 8);
  }
  const std::int64_t number = 0;
  CHECK_FALSE(kernel.store->restore({format, 128, device}, {{&number, 1}, made.bytes}));
  made.bytes.pop_back();
  CHECK_FALSE(restored());
}
