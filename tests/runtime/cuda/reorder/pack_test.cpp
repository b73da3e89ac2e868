// The steps of greedy packing on devices, run on the host: the same bits as the ordering on the CPU.
#include "runtime/cuda/reorder/pack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reorder/greedy_packing.hpp"
#include "reorder/methods/pack.hpp"
#include "reorder/registry.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"
#include "tests/runtime/cuda/reorder/graph_cases.hpp"

using namespace sptile;
using namespace sptile::test;
using reorder::Setting;

namespace {

/// Compares the orders for the preset fast with these settings.
void check_order(const formats::Csr& a, int window_rows = 8, std::vector<Setting> settings = {}) {
  settings.insert(settings.begin(), std::begin(reorder::kPackFast), std::end(reorder::kPackFast));
  const reorder::ReorderOptions options = {.window_rows = window_rows, .settings = settings};
  const auto expected = reorder::find_reorderer("pack")->run(a.view(), options);
  REQUIRE(expected);
  const auto greedy = reorder::only_greedy(options);
  REQUIRE(greedy);
  for (const bool backwards : {false, true}) {
    CAPTURE(backwards);
    HostRun run(backwards);
    const auto made = runtime::cuda::pack_on(run, pattern_of(a), {greedy->rules, greedy->degree_base});
    REQUIRE_MESSAGE(made.has_value(), made.error().message);
    CHECK(std::equal(expected->begin(), expected->end(), made->new_to_old));
  }
}

}  // namespace

TEST_CASE("cuda pack: the order of the CPU for every shape of matrix") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    check_order(one.matrix);
  }
}

TEST_CASE("cuda pack: the order of the CPU for hubs, long rows and many components") {
  for (const ConvertCase& one : graphs()) {
    CAPTURE(one.name);
    check_order(one.matrix);
    check_order(one.matrix, 16, {{"longest-list", 8}, {"lookups", 1}});  // pools, and hubs in most matrices
  }
}

TEST_CASE("cuda pack: the order of the CPU for all heights, budgets and initial orders") {
  const formats::Csr a = planted(1500, 12, 1);
  for (const int window_rows : {1, 3, 8, 64}) {
    CAPTURE(window_rows);
    check_order(a, window_rows);
    check_order(a, window_rows, {{"degree-base", 1}, {"lookups", 1}});
    check_order(a, window_rows, {{"degree-base", 0}, {"longest-list", 8}});
    check_order(a, window_rows, {{"longest-list", 8}, {"lookups", 1}});
  }
}

TEST_CASE("cuda pack: the order of the CPU for several chains, which purge the lists of columns") {
  check_order(planted(4200, 20, 2));
  check_order(planted(2600, 20, 3), 8, {{"longest-list", 16}, {"lookups", 1}});
}

TEST_CASE("cuda pack: the order of the CPU for random matrices of few rows") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random(19, seed);
    const std::int64_t rows = 1 + random.below(60), most = seed % 3 == 0 ? 100000 : 60,
                       cols = random.below(2) == 0 ? rows : 1 + random.below(most);
    Entries entries;
    for (std::int64_t i = random.below(4 * rows); i > 0; --i)
      entries.emplace_back(random.below(rows), random.below(cols));
    const formats::Csr a = matrix_of(rows, cols, entries);
    check_order(a, 1 + static_cast<int>(random.below(9)), {{"longest-list", 8}});
  }
}

TEST_CASE("cuda pack: invalid matrices and too many lookups are refused") {
  formats::Csr a = planted(100, 3, 1);
  HostRun run;
  const auto refused = [&](const runtime::cuda::DeviceCsr& csr, const packing::GreedyRules& rules) {
    const auto made = runtime::cuda::pack_on(run, csr, {rules, packing::kDegreeForHubs});
    REQUIRE(!made);
    return made.error();
  };
  const Error lookups = refused(pattern_of(a), {1024, 256, 1 << 20});
  CHECK(lookups.code == Errc::unsupported);
  CHECK(lookups.message.find("lookups") != std::string::npos);
  runtime::cuda::DeviceCsr ordered = pattern_of(a);
  ordered.row_order = a.col_idx.data();
  CHECK(refused(ordered, {}).code == Errc::usage);
  a.col_idx[3] = 100;
  CHECK(refused(pattern_of(a), {}).code == Errc::bad_input);
}
