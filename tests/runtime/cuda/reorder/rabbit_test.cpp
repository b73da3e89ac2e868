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
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/host_run.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceOrder;
using runtime::cuda::rabbit::MergeCounts;

namespace {

DeviceCsr pattern_of(const formats::Csr& a) {
  DeviceCsr csr;
  csr.rows = a.rows;
  csr.cols = a.cols;
  csr.nnz = a.nnz();
  csr.row_ptr = a.row_ptr.data();
  csr.col_idx = a.col_idx.data();
  return csr;
}

using Entries = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns the pattern of these entries, which may be repeated.
formats::Csr matrix_of(std::int64_t rows, std::int64_t cols, Entries entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(entries));
  std::ranges::fill(a.row_ptr, 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ++a.row_ptr[entries[i].first + 1];
    a.col_idx[static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(entries[i].second);
  }
  for (std::int64_t r = 0; r < rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  return a;
}

Entries with_transposed(Entries entries) {
  for (std::size_t i = entries.size(); i-- > 0;) entries.emplace_back(entries[i].second, entries[i].first);
  return entries;
}

std::vector<ConvertCase> graphs() {
  constexpr std::int64_t n = 3000;
  Entries path, star, stars, cliques, skewed, wheel, loops;
  for (std::int64_t v = 0; v < n; ++v) {
    if (v > 0) path.emplace_back(v - 1, v);
    star.emplace_back(7, v);
    stars.emplace_back(v, v % 20);
    for (std::int64_t u = v / 9 * 9; u < v; ++u) cliques.emplace_back(u, v);
    RandomStream random(5, static_cast<std::uint64_t>(v));
    for (int k = 0; k < 6; ++k) skewed.emplace_back(v, random.below(1 + random.below(1 + random.below(n))));
    wheel.emplace_back(0, v);
    wheel.emplace_back(v, (v + 1) % n);
    loops.emplace_back(v, v);
    if (v % 5 == 0) loops.emplace_back(v, (v * 7 + 1) % n);
  }
  std::vector<ConvertCase> cases;
  cases.push_back({"path", matrix_of(n, n, path)});
  cases.push_back({"symmetric path", matrix_of(n, n, with_transposed(path))});
  cases.push_back({"star: one row longer than a block", matrix_of(n, n, star)});
  cases.push_back({"stars with common leaves", matrix_of(n, n, stars)});
  cases.push_back({"disconnected cliques", matrix_of(n, n, cliques)});
  cases.push_back({"skewed degrees", matrix_of(n, n, skewed)});
  cases.push_back({"symmetric, skewed degrees", matrix_of(n, n, with_transposed(skewed))});
  cases.push_back({"bipartite, skewed degrees", matrix_of(n, n + 1, skewed)});
  cases.push_back({"wheel", matrix_of(n, n, wheel)});
  cases.push_back({"loops and isolated vertices", matrix_of(n, n, loops)});
  return cases;
}

/// Communities of different sizes with links between them, so that vertices choose several times.
formats::Csr planted(std::int64_t n, std::int64_t degree, std::uint64_t seed) {
  Entries entries;
  for (std::int64_t v = 0; v < n; ++v) {
    RandomStream random(seed, static_cast<std::uint64_t>(v));
    const std::int64_t size = 20 + 30 * (v / 400 % 7), first = v / size * size;
    for (std::int64_t k = 0; k < degree; ++k)
      entries.emplace_back(
          v, random.below(4) == 0 ? random.below(n) : std::min(n - 1, first + random.below(size)));
  }
  return matrix_of(n, n, with_transposed(entries));
}

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
