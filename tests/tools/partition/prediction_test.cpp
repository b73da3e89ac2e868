#include "tools/partition/prediction.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "formats/layout/csr.hpp"
#include "tests/formats/sample_matrices.hpp"

using namespace sptile;
using tools::PartCounts;
using tools::ProductWork;
using tools::StepWork;

namespace {

// A device whose products all have one rate.
constexpr tools::ClusterModel kModel = {
    .bandwidth = 1e9, .latency = 1e-6, .start = 2e-6, .rate = 1e9, .n = 100, .value_bytes = 4};

PartCounts exchange(std::int64_t rows, std::int64_t peers) {
  return {.received = rows, .sent = rows / 2, .senders = peers, .receivers = peers};
}

tools::PartWork products(std::int64_t local, std::int64_t halo) {
  return {{.entries = local}, {.entries = halo}};
}

// Counts of one H100 and of two, and microseconds measured with N = 128 (docs/results/two-gpus.csv).
struct Measured {
  std::string_view matrix;
  ProductWork one;
  std::array<tools::PartWork, 2> parts;
  std::array<std::int64_t, 2> received;
  double one_us, local_us, exchange_us, step_us;
};

const std::array kMeasured = {
    Measured{"ship_001",
             {4644230, 34920, 179039, 34830},
             {{{{2287870, 17936, 81516, 17991}, {17820, 1008, 504, 463}},
               {{2320720, 16984, 82728, 17040}, {17820, 1008, 504, 509}}}},
             {504, 504},
             64.65,
             40.08,
             46.64,
             55.65},
    Measured{"roadnet-like",
             {5519276, 1971281, 4553736, 1954847},
             {{{{2758928, 985404, 2275802, 976445}, {947, 1894, 947, 947}},
               {{2758454, 985877, 2276040, 978376}, {947, 1894, 947, 947}}}},
             {947, 947},
             777.09,
             398.18,
             41.5,
             404.59},
    Measured{"fem-like",
             {77536125, 985527, 8326390, 1232727},
             {{{{38387941, 492763, 4100457, 604859}, {380081, 28988, 14707, 14497}},
               {{38388022, 492764, 4101768, 604774}, {380081, 28990, 14705, 14499}}}},
             {14495, 14494},
             1359.16,
             705.97,
             57.4,
             732.31},
    Measured{"protein-like",
             {79952690, 132534, 14542875, 158633},
             {{{{37745620, 66316, 5436586, 73536}, {2230965, 132410, 4200, 3975}},
               {{37641517, 66218, 5612807, 72138}, {2334588, 132330, 6344, 3350}}}},
             {3813, 3459},
             1373.66,
             669.32,
             52.52,
             779.9},
    Measured{"igb-small-like",
             {13076142, 1000000, 7511575, 6989780},
             {{{{5656867, 535748, 3723041, 3248488}, {1090383, 720154, 256419, 196533}},
               {{4418310, 464252, 3240979, 2785966}, {1910582, 819860, 432282, 223882}}}},
             {162280, 154037},
             1490.96,
             732.84,
             300.04,
             1027.69},
    Measured{"reddit-like-ordered",
             {116148920, 232965, 45719333, 365288},
             {{{{49973803, 110169, 18318609, 135272}, {8107110, 219184, 453246, 14193}},
               {{49449366, 122796, 14050170, 155191}, {8618641, 244138, 488750, 15007}}}},
             {14201, 14503},
             3287.6,
             1556.55,
             46.95,
             1867.67},
};

bool within(double predicted, double measured_us, double share) {
  return std::abs(predicted * 1e6 / measured_us - 1) <= share;
}

}  // namespace

TEST_CASE("one part alone takes what the product takes") {
  const auto p = tools::predict_step({exchange(0, 0)}, {{.entries = 1000}, {products(1000, 0)}}, kModel);
  CHECK(p.step == doctest::Approx(2e-4));
  CHECK(p.alone == doctest::Approx(2e-4));
  CHECK(p.exchange == 0);
  CHECK(p.efficiency == doctest::Approx(1));
}

TEST_CASE("an exchange that is longer than the local product is waited for") {
  const StepWork work = {{.entries = 2200}, {products(1000, 100), products(1000, 100)}};
  const auto p = tools::predict_step({exchange(1000, 3), exchange(10, 1)}, work, kModel);
  CHECK(p.exchange == doctest::Approx(1000 * 400e-9 + 3e-6 + 2e-6));
  CHECK(p.step == doctest::Approx(p.exchange + 2e-5));
  CHECK(p.alone == doctest::Approx(4.4e-4));
  CHECK(p.efficiency == doctest::Approx(p.alone / (2 * p.step)));
}

TEST_CASE("an exchange that is shorter is hidden") {
  const auto p = tools::predict_step({exchange(100, 2)}, {{.entries = 1010}, {products(1000, 10)}}, kModel);
  CHECK(p.exchange < p.local);
  CHECK(p.step == doctest::Approx(p.local + p.halo));
}

TEST_CASE("nothing takes no time") {
  for (const tools::ClusterModel& model : {kModel, tools::ClusterModel{}}) {
    const auto p = tools::predict_step({PartCounts{}, PartCounts{}}, {{}, {{}, {}}}, model);
    CHECK(p.step == 0);
    CHECK(p.efficiency == 1);
  }
}

TEST_CASE("a product waits for operations, for loads and for rows of C") {
  const tools::ProductModel model = {.launch = 1, .rate = 200, .near = 10, .memory = 5};
  CHECK(model.seconds({100, 20, 30, 5}, 10, 2) == doctest::Approx(1 + 10 + 6 + 10));
  CHECK(model.seconds({0, 20, 0, 0}, 10, 2) == 0);
}

TEST_CASE("the defaults predict what was measured with one H100 and with two") {
  for (const Measured& m : kMeasured) {
    CAPTURE(m.matrix);
    const StepWork work = {m.one, {m.parts[0], m.parts[1]}};
    const std::vector<PartCounts> counts = {
        {.received = m.received[0], .sent = m.received[1], .senders = 1, .receivers = 1},
        {.received = m.received[1], .sent = m.received[0], .senders = 1, .receivers = 1}};
    const auto p = tools::predict_step(counts, work, {});
    CHECK(within(p.alone, m.one_us, 0.12));
    CHECK(within(p.local, m.local_us, 0.15));
    CHECK(within(p.exchange, m.exchange_us, 0.35));
    CHECK(within(p.step, m.step_us, 0.10));
    CHECK(p.efficiency == doctest::Approx(m.one_us / (2 * m.step_us)).epsilon(0.15));
  }
}

TEST_CASE("each row of B that a cache can hold is missed once") {
  // A ring in two parts: the first and the last row of each need a row of the other part.
  constexpr std::int32_t kRows = 20000;
  tests::Rows rows;
  for (std::int32_t r = 0; r < kRows; ++r) {
    rows.push_back({(r + kRows - 1) % kRows, (r + 1) % kRows});
    std::ranges::sort(rows.back());
  }
  const formats::Csr a = tests::make_csr(kRows, rows, DType::none);
  const auto division = reorder::divide_in_order(a.view(), {}, 2);
  const auto survey = tools::survey_parts({a.view(), {}}, division, nullptr);
  REQUIRE(survey);
  const StepWork work = tools::work_of_step({a.view(), {}}, division, *survey, 512);
  const auto near = [](double found, double expected) { return std::abs(found / expected - 1) < 0.05; };
  CHECK(work.one.entries == 2 * kRows);
  CHECK(work.one.outputs == kRows);
  CHECK(near(work.one.near_misses, kRows));
  CHECK(near(work.one.far_misses, kRows));
  REQUIRE(work.parts.size() == 2);
  for (const tools::PartWork& part : work.parts) {
    CHECK(part.local.entries == kRows - 2);
    CHECK(part.local.outputs == kRows / 2);
    CHECK(near(part.local.near_misses, kRows / 2));
    CHECK(near(part.local.far_misses, kRows / 2));
    CHECK(part.halo.entries == 2);
    CHECK(part.halo.outputs == 4);
  }
}

TEST_CASE("rows of B that are far apart are missed each time") {
  // Every row of A loads the same 4,000 rows of B, more than the near cache holds.
  tests::Rows rows(4000);
  for (std::size_t r = 0; r < 20; ++r)
    for (std::int32_t c = 0; c < 4000; ++c) rows[r].push_back(c);
  const formats::Csr a = tests::make_csr(4000, rows, DType::none);
  const auto division = reorder::divide_in_order(a.view(), {}, 1);
  const auto survey = tools::survey_parts({a.view(), {}}, division, nullptr);
  REQUIRE(survey);
  const ProductWork one = tools::work_of_step({a.view(), {}}, division, *survey, 512).one;
  CHECK(one.near_misses > 0.9 * 20 * 4000);
  CHECK(one.far_misses < 1.1 * 4000);
}
