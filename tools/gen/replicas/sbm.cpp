#include <algorithm>
#include <cmath>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of vertices", true, 1, 1e9, 200000.0},
    {"edges", "number of edges to draw; loops are dropped and duplicates merged", true, 0, 0x1p40, 2000000.0},
    {"mix", "fraction of edges independent of the communities", false, 0, 1, 0.2}};

// Returns community boundaries, with sizes from a power law with exponent 2.5, between 20 and 1000.
std::vector<std::int64_t> draw_borders(ShuffledGraphStream& random, std::int64_t rows) {
  std::vector<std::int64_t> borders{0};
  while (borders.back() < rows) {
    const auto size = static_cast<std::int64_t>(20 * std::pow(1 - random.uniform(), -1 / 1.5));
    borders.push_back(std::min(rows, borders.back() + std::min<std::int64_t>(size, 1000)));
  }
  return borders;
}

Result<formats::Csr> make_sbm(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows"), count = integer_argument(arguments, "edges");
  const double mix = real_argument(arguments, "mix");
  ShuffledGraphStream random(seed);
  const std::vector<std::int64_t> borders = draw_borders(random, rows);
  Edges edges;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t u = random.below(rows);
    std::int64_t first = 0, last = rows;
    if (random.uniform() >= mix) {
      const auto end = std::upper_bound(borders.begin(), borders.end(), u);
      first = *(end - 1);
      last = *end;
    }
    const std::int64_t v = first + random.below(last - first);
    if (u != v) edges.emplace_back(u, v);
  }
  return shuffled_graph(edges, rows, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kSbm = replica("sbm", "Planted communities in random order, as in the tables of orderings",
                               "--rows 1000 --edges 8000 --mix 0.2", kArguments, make_sbm);

}  // namespace sptile::tools::gen
