#include "tools/gen/drawn_edges.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"scale", "log2 of the number of vertices; 16 edges per vertex are drawn", true, 1, 26, 18.0}};

Result<formats::Csr> make_rmat18(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t scale = integer_argument(arguments, "scale"), rows = std::int64_t{1} << scale;
  ShuffledGraphStream random(seed);
  Edges edges;
  for (std::int64_t i = 0; i < 16 * rows; ++i) {
    const auto [u, v] = draw_rmat_edge(random, scale);
    if (u != v) edges.emplace_back(u, v);
  }
  return shuffled_graph(edges, rows, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kRmat18 = replica("rmat18", "Undirected R-MAT graph of 2^18 vertices in random order",
                                  "--scale 9", kArguments, make_rmat18);

}  // namespace sptile::tools::gen
