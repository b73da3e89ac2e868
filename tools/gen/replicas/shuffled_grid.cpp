#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"side", "side length of the grid of SIDE x SIDE vertices", true, 1, 46340, 1000.0}};

Result<formats::Csr> make_grid(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t side = integer_argument(arguments, "side"), n = side * side;
  ShuffledGraphStream random(seed);
  Edges edges;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i + side < n) edges.emplace_back(i, i + side);
    if (i % side + 1 < side) edges.emplace_back(i, i + 1);
  }
  return shuffled_graph(edges, n, EdgeKind::undirected, random, progress);
}
}  // namespace

const Generator kGrid = replica("grid", "Square grid in random order, as in the tables of orderings",
                                "--side 30", kArguments, make_grid);

}  // namespace sptile::tools::gen
