// The division of rows by the csr kernel that keeps B in shared memory; the property runner tests its
// products.
#include "runtime/cuda/families/csr/resident.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "formats/layout/csr.hpp"
#include "tests/runtime/random_problem.hpp"

using namespace sptile;
using namespace sptile::test;
using namespace sptile::runtime::cuda;

namespace {

double uneven(std::int64_t r, std::int64_t c) {
  if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 0.01;
  if (r % 40 == 17) return 0.95;
  return (r / 8 + c / 16) % 3 == 0 ? 0.4 : 0.02;
}

}  // namespace

TEST_CASE("csr resident kernel: a B that does not fit, and heads, are refused") {
  const runtime::Variant one;
  runtime::Variant heads;
  heads.heads = 2;
  const DeviceInfo device = {
      .capability = 90,
      .sm_count = 1,
      .shared_per_block = static_cast<std::size_t>(resident_bytes(300, 1, DType::f32))};
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
  const DeviceInfo device = {.capability = 90, .sm_count = 132, .shared_per_block = 227 << 10};
  const Schedule schedule = resident_schedule({formats::as_format(a.view()), 512, device}, DType::f32);
  const auto& header = schedule.header.as<ResidentHeader>();
  const std::int64_t warps = header.parts * kResidentWarps;
  std::vector<ResidentStart> starts(static_cast<std::size_t>(warps) + 1);
  std::memcpy(starts.data(), schedule.bytes.data() + header.starts_at, starts.size() * sizeof(ResidentStart));
  CHECK(starts.front() == ResidentStart{0, 0});
  CHECK(starts.back() == ResidentStart{a.nnz(), a.rows});
  std::int64_t max = 0;
  for (std::size_t w = 0; w + 1 < starts.size(); ++w) {
    CHECK(starts[w].row <= starts[w + 1].row);
    CHECK(starts[w].entry <= starts[w + 1].entry);
    CHECK(a.row_ptr[starts[w].row] <= starts[w].entry);
    max = std::max(max, starts[w + 1].entry - starts[w].entry);
  }
  CHECK(max <= 2 * a.nnz() / warps + 64);
}
