#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/drawn_edges.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"scale", "log2 of the number of vertices", true, 1, 30},
    {"edges", "number of edges to draw; loops are dropped and duplicates merged; each edge gives two entries",
     true, 0, 0x1p40},
};

Result<formats::Csr> make_rmat(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t scale = integer_argument(arguments, "scale"),
                     count = integer_argument(arguments, "edges");
  EdgeList edges(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    const auto [u, v] = draw_rmat_edge(random, scale);
    u == v ? edges.drop(i) : edges.set(i, u, v);
  });
  return csr_from_edges(std::move(edges), std::int64_t{1} << scale, progress);
}
}  // namespace

const Generator kRmat = {"rmat",
                         "R-MAT graph: power-law degrees, no locality",
                         "--scale 10 --edges 8000",
                         Shape::symmetric,
                         kArguments,
                         make_rmat};

}  // namespace sptile::tools::gen
