#include "formats/core/sample_neighbors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

using namespace sptile;
using namespace sptile::formats;

namespace {

// Node i has the neighbors i + 1, ..., i + degree(i), modulo the number of nodes.
struct Ring {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;

  explicit Ring(const std::vector<std::int64_t>& degrees) {
    const auto nodes = static_cast<std::int64_t>(degrees.size());
    for (std::int64_t i = 0; i < nodes; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(col_idx.size());
      for (std::int64_t k = 1; k <= degrees[static_cast<std::size_t>(i)]; ++k)
        col_idx.push_back(static_cast<std::int32_t>((i + k) % nodes));
      std::sort(col_idx.begin() + begin, col_idx.end());
      row_ptr.push_back(static_cast<std::int64_t>(col_idx.size()));
    }
  }
  [[nodiscard]] CsrView view() const {
    const auto nodes = static_cast<std::int64_t>(row_ptr.size()) - 1;
    return {nodes, nodes, row_ptr, col_idx, {}};
  }
};

NeighborSample sampled(const CsrView& graph, const std::vector<std::int64_t>& seeds,
                       const std::vector<std::int64_t>& fan_outs, std::uint64_t seed = 1) {
  auto made = sample_neighbors(graph, seeds, fan_outs, seed);
  REQUIRE(made);
  return std::move(*made);
}

std::string refusal(const CsrView& graph, const std::vector<std::int64_t>& seeds,
                    const std::vector<std::int64_t>& fan_outs, Errc code) {
  const auto made = sample_neighbors(graph, seeds, fan_outs, 1);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == code);
  return made.error().message;
}

}  // namespace

TEST_CASE("samples have edges of the graph, as many as degree and fan-out allow") {
  std::vector<std::int64_t> degrees(300);
  for (std::size_t i = 0; i < degrees.size(); ++i) degrees[i] = static_cast<std::int64_t>(i * 7 % 40);
  degrees[0] = 250;
  const Ring ring(degrees);
  const CsrView graph = ring.view();
  const std::vector<std::int64_t> seeds{0, 5, 299, 120}, fan_outs{100, 9, -1};
  const NeighborSample s = sampled(graph, seeds, fan_outs);
  REQUIRE(s.ends.size() == 4);
  CHECK(std::equal(seeds.begin(), seeds.end(), s.node_ids.begin()));
  CHECK(std::set<std::int64_t>(s.node_ids.begin(), s.node_ids.end()).size() == s.node_ids.size());
  CHECK(s.ends.back() == static_cast<std::int64_t>(s.node_ids.size()));
  CHECK(s.row_ptr.size() == s.node_ids.size() + 1);
  bool fits = true;
  for (std::size_t i = 0; i < s.node_ids.size(); ++i) {
    const auto node = static_cast<std::size_t>(s.node_ids[i]);
    std::size_t hop = 0;
    while (hop < 3 && static_cast<std::int64_t>(i) >= s.ends[hop]) ++hop;
    const std::int64_t limit = hop == 3 ? 0 : fan_outs[hop] < 0 ? degrees[node] : fan_outs[hop];
    fits &= s.row_ptr[i + 1] - s.row_ptr[i] == std::min(degrees[node], limit);
    for (std::int64_t k = s.row_ptr[i]; k < s.row_ptr[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const std::int64_t entry = s.edge_ids[at];
      fits &= graph.row_ptr[node] <= entry && entry < graph.row_ptr[node + 1];
      fits &= s.node_ids[static_cast<std::size_t>(s.col_idx[at])] ==
              graph.col_idx[static_cast<std::size_t>(entry)];
      fits &= k == s.row_ptr[i] || s.col_idx[at - 1] < s.col_idx[at];
      fits &= s.col_idx[at] < s.ends[hop + 1];
    }
  }
  CHECK(fits);
}

TEST_CASE("each neighbor is chosen with the same probability, for few and for many of them") {
  for (const std::int64_t fan_out : {3, 12, 39}) {  // drawn, and selected in order
    const Ring ring(std::vector<std::int64_t>(64, 40));
    std::vector<double> chosen(40, 0.0);
    constexpr int kTimes = 4000;
    for (std::uint64_t seed = 0; seed < kTimes; ++seed)
      for (const std::int64_t entry : sampled(ring.view(), {0}, {fan_out}, seed).edge_ids)
        chosen[static_cast<std::size_t>(entry)] += 1;
    CHECK(std::accumulate(chosen.begin(), chosen.end(), 0.0) == kTimes * fan_out);
    const double p = static_cast<double>(fan_out) / 40, expected = kTimes * p;
    double chi_square = 0;  // of draws without replacement: scaled to 39 degrees of freedom
    for (const double count : chosen)
      chi_square += (count - expected) * (count - expected) / (expected * (1 - p));
    CHECK(chi_square * 39 / 40 < 72.1);  // exceeded with probability 0.001
  }
}

TEST_CASE("samples repeat for the same seed, and differ for others") {
  const Ring ring(std::vector<std::int64_t>(100, 50));
  const NeighborSample a = sampled(ring.view(), {1, 2, 3}, {5, 5}, 7),
                       b = sampled(ring.view(), {1, 2, 3}, {5, 5}, 7);
  CHECK(a.edge_ids == b.edge_ids);
  CHECK(a.node_ids == b.node_ids);
  CHECK(a.edge_ids != sampled(ring.view(), {1, 2, 3}, {5, 5}, 8).edge_ids);
}

TEST_CASE("no seeds, no hops and isolated nodes give empty rows") {
  const Ring ring({0, 2, 0});
  CHECK(sampled(ring.view(), {}, {3, 3}).ends == std::vector<std::int64_t>{0, 0, 0});
  CHECK(sampled(ring.view(), {}, {3}).row_ptr == std::vector<std::int64_t>{0});
  const NeighborSample isolated = sampled(ring.view(), {2, 0}, {3, 3});
  CHECK(isolated.edge_ids.empty());
  CHECK(isolated.row_ptr == std::vector<std::int64_t>{0, 0, 0});
  CHECK(sampled(ring.view(), {1}, {}).node_ids == std::vector<std::int64_t>{1});
}

TEST_CASE("repeated seeds are separate nodes, and edges lead to the first") {
  const Ring ring(std::vector<std::int64_t>(5, 4));
  const NeighborSample s = sampled(ring.view(), {2, 2, 1}, {-1});
  CHECK(s.node_ids == std::vector<std::int64_t>{2, 2, 1, 0, 3, 4});
  CHECK(s.row_ptr == std::vector<std::int64_t>{0, 4, 8, 12, 12, 12, 12});
  CHECK(std::count(s.col_idx.begin(), s.col_idx.end(), 1) == 0);
}

TEST_CASE("invalid graphs, seeds and fan-outs are refused") {
  const Ring ring({1, 1, 1});
  CHECK(refusal(ring.view(), {0, 3}, {1}, Errc::usage) == "seed 1 is node 3; expected 0 to 2");
  CHECK(refusal(ring.view(), {-1}, {1}, Errc::usage) == "seed 0 is node -1; expected 0 to 2");
  for (const std::int64_t fan_out : {0, -2})
    CHECK(refusal(ring.view(), {0}, {1, fan_out}, Errc::usage).find("use 1 or more, or -1") !=
          std::string::npos);
  CsrView wide = ring.view();
  wide.cols = 4;
  CHECK(refusal(wide, {0}, {1}, Errc::usage).find("square") != std::string::npos);

  Ring bad_rows({1, 1, 1});
  bad_rows.row_ptr[1] = 5;
  CHECK(refusal(bad_rows.view(), {0}, {1}, Errc::bad_input).find("row_ptr[0]") != std::string::npos);
  CHECK(sampled(bad_rows.view(), {2}, {1}).edge_ids.size() == 1);  // only visited rows are checked
  for (const std::int32_t col : {-1, 3}) {
    Ring bad_columns({1, 1, 1});
    bad_columns.col_idx[0] = col;
    CHECK(refusal(bad_columns.view(), {0}, {1}, Errc::bad_input) ==
          "col_idx[0] is " + std::to_string(col) + "; expected 0 to 2");
  }
}
