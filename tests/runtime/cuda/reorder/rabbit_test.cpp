// The steps of the rabbit ordering on devices, run on the host: the same bits as the ordering on the CPU.
#include "runtime/cuda/reorder/rabbit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/core/compact_columns.hpp"
#include "formats/core/random.hpp"
#include "reorder/graph/communities.hpp"
#include "reorder/graph/graph.hpp"
#include "reorder/registry.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"
#include "tests/runtime/cuda/reorder/graph_cases.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceOrder;
using runtime::cuda::rabbit::MergeCounts;

namespace {

DeviceOrder order_of(const formats::Csr& a, bool backwards, std::int64_t stored_links, MergeCounts& counts) {
  HostRun run(backwards);
  auto made = runtime::cuda::rabbit_on(
      run, pattern_of(a), [=](std::int64_t) { return stored_links; }, &counts);
  REQUIRE_MESSAGE(made.has_value(), made.error().message);
  return std::move(*made);
}

void check_order(const formats::Csr& a) {
  const auto expected = reorder::find_reorderer("rabbit")->run(a.view(), {});
  REQUIRE(expected);
  const auto graph = reorder::graph_of(formats::CompactColumns(a.view()).view());
  REQUIRE(graph);
  reorder::MergeWork work;
  REQUIRE(reorder::merge_communities(*graph, nullptr, &work));
  for (const bool backwards : {false, true})
    for (const std::int64_t stored_links : {std::int64_t{1}, std::int64_t{1} << 20}) {
      CAPTURE(backwards);
      CAPTURE(stored_links);
      MergeCounts counts;
      const DeviceOrder made = order_of(a, backwards, stored_links, counts);
      CHECK(std::equal(expected->begin(), expected->end(), made.new_to_old));
      CHECK(std::tuple(counts.rounds, counts.choices, counts.reads) ==
            std::tuple(work.rounds, work.choices, work.reads));
    }
}

}  // namespace

TEST_CASE("cuda rabbit: the order of the CPU for every shape of matrix") {
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    check_order(one.matrix);
  }
}

TEST_CASE("cuda rabbit: the order of the CPU for chains of choices, hubs and many components") {
  for (const ConvertCase& one : graphs()) {
    CAPTURE(one.name);
    check_order(one.matrix);
  }
}

TEST_CASE("cuda rabbit: the order of the CPU for communities, whose vertices choose several times") {
  for (const std::uint64_t seed : {1, 2, 3})
    check_order(planted(4000, 3 * static_cast<std::int64_t>(seed), seed));
}

TEST_CASE("cuda rabbit: the order of the CPU for random matrices of few rows") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random(17, seed);
    const std::int64_t rows = 1 + random.below(60), most = seed % 3 == 0 ? 100000 : 60,
                       cols = random.below(2) == 0 ? rows : 1 + random.below(most);
    Entries entries;
    for (std::int64_t i = random.below(4 * rows); i > 0; --i)
      entries.emplace_back(random.below(rows), random.below(cols));
    check_order(matrix_of(rows, cols, entries));
  }
}

TEST_CASE("cuda rabbit: invalid matrices and too many vertices are refused") {
  formats::Csr a = planted(100, 3, 1);
  HostRun run;
  const auto refused = [&](const DeviceCsr& csr) {
    const auto made = runtime::cuda::rabbit_on(run, csr, runtime::cuda::usual_stored_links);
    REQUIRE(!made);
    return made.error();
  };
  a.col_idx[3] = 100;
  CHECK(refused(pattern_of(a)).code == Errc::bad_input);
  CHECK(refused(pattern_of(a)).message.find("col_idx[3] = 100") != std::string::npos);
  DeviceCsr ordered = pattern_of(a);
  ordered.row_order = a.col_idx.data();
  CHECK(refused(ordered).code == Errc::usage);
  DeviceCsr wide;
  wide.rows = 2147483647;
  wide.cols = 1;
  const auto graph = runtime::cuda::rabbit::graph_on(run, wide);
  REQUIRE(!graph);
  CHECK(graph.error().code == Errc::unsupported);
  CHECK(graph.error().message.find("bipartite graph") != std::string::npos);
}
