#include "tools/gen/drawn_edges.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of vertices", true, 1, 1e9, 200000.0},
    {"edges", "number of edges to draw; loops are dropped and duplicates merged", true, 0, 0x1p40, 2000000.0},
    {"mix", "fraction of edges independent of the communities", false, 0, 1, 0.2}};

Result<formats::Csr> make_sbm(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows"), count = integer_argument(arguments, "edges");
  const double mix = real_argument(arguments, "mix");
  ShuffledGraphStream random(seed);
  const std::vector<std::int64_t> borders = draw_borders(random, rows);
  Edges edges;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [u, v] = draw_community_edge(random, borders, mix);
    if (u != v) edges.emplace_back(u, v);
  }
  return shuffled_graph(edges, rows, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kSbm = replica("sbm", "Planted communities in random order, as in the tables of orderings",
                               "--rows 1000 --edges 8000 --mix 0.2", kArguments, make_sbm);

}  // namespace sptile::tools::gen
