// A directed R-MAT graph in random order, with the probabilities of Graph 500.
#include "tools/gen/drawn_edges.hpp"
#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/replica.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"scale", "log2 of the number of vertices; published measurements use the default", true, 1, 30, 20.0},
    {"edges",
     "number of directed edges to draw; duplicates are merged; published measurements use the default", true,
     0, 0x1p40, 16800000.0}};

Result<formats::Csr> make_rmat20(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t scale = integer_argument(arguments, "scale"),
                     count = integer_argument(arguments, "edges");
  const std::vector<std::int32_t> label =
      replica_permutation(std::int64_t{1} << scale, replica_seed(22, seed));
  const std::uint64_t first = replica_seed(21000000, seed);
  EdgeList edges = EdgeList::directed(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    ReplicaStream random(first + static_cast<std::uint64_t>(i));
    const auto [u, v] = draw_rmat_edge(random, scale);
    edges.set_directed(i, label[static_cast<std::size_t>(u)], label[static_cast<std::size_t>(v)]);
  });
  return csr_from_edges(std::move(edges), std::int64_t{1} << scale, progress);
}
}  // namespace

const Generator kRmat20 = replica("rmat20", "Directed R-MAT graph of 2^20 vertices in random order",
                                  "--scale 10 --edges 8000", kArguments, make_rmat20);

}  // namespace sptile::tools::gen
