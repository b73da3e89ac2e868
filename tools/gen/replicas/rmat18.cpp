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
    std::int64_t u = 0, v = 0;
    for (std::int64_t level = 0; level < scale; ++level) {
      const double x = random.uniform();
      u = 2 * u + (x >= 0.76);
      v = 2 * v + ((x >= 0.57 && x < 0.76) || x >= 0.95);
    }
    if (u != v) edges.emplace_back(u, v);
  }
  return shuffled_graph(edges, rows, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kRmat18 = replica("rmat18", "Undirected R-MAT graph of 2^18 vertices in random order",
                                  "--scale 9", kArguments, make_rmat18);

}  // namespace sptile::tools::gen
