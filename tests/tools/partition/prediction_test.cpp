#include "tools/partition/prediction.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using tools::PartCounts;

namespace {

constexpr tools::ClusterModel kModel = {
    .bandwidth = 1e9, .latency = 1e-6, .rate = 1e9, .n = 100, .value_bytes = 4};

PartCounts part(std::int64_t local, std::int64_t halo, std::int64_t rows, std::int64_t peers) {
  return {.rows = 10,
          .local_entries = local,
          .halo_entries = halo,
          .received = rows,
          .sent = rows / 2,
          .senders = peers,
          .receivers = peers};
}

}  // namespace

TEST_CASE("one part alone takes what the product takes") {
  const auto p = tools::predict_step({part(1000, 0, 0, 0)}, kModel);
  CHECK(p.step == doctest::Approx(2e-4));
  CHECK(p.alone == doctest::Approx(2e-4));
  CHECK(p.efficiency == doctest::Approx(1));
}

TEST_CASE("an exchange that is longer than the local product is waited for") {
  const auto p = tools::predict_step({part(1000, 100, 1000, 3), part(1000, 100, 10, 1)}, kModel);
  CHECK(p.exchange == doctest::Approx(1000 * 400e-9 + 3e-6));
  CHECK(p.step == doctest::Approx(p.exchange + 2e-5));
  CHECK(p.alone == doctest::Approx(4.4e-4));
  CHECK(p.efficiency == doctest::Approx(p.alone / (2 * p.step)));
}

TEST_CASE("an exchange that is shorter is hidden") {
  const auto p = tools::predict_step({part(1000, 10, 100, 2)}, kModel);
  CHECK(p.exchange < p.local);
  CHECK(p.step == doctest::Approx(p.local + p.halo));
}

TEST_CASE("nothing takes no time") {
  const auto p = tools::predict_step({PartCounts{}, PartCounts{}}, kModel);
  CHECK(p.step == 0);
  CHECK(p.efficiency == 1);
}
