#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"scale", "log2 of the number of vertices", true, 1, 30},
    {"edges", "number of edges to draw; loops are dropped and duplicates merged; each edge gives two entries",
     true, 0, 0x1p40},
};

// Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining" (SDM 2004); the probabilities
// of the four quadrants are those of Graph 500: 0.57, 0.19, 0.19, 0.05.
Result<formats::Csr> make_rmat(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t scale = integer_argument(arguments, "scale"),
                     count = integer_argument(arguments, "edges");
  EdgeList edges(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    std::int64_t u = 0, v = 0;
    for (std::int64_t level = 0; level < scale; ++level) {
      const double x = random.uniform();
      u = 2 * u + (x >= 0.76);
      v = 2 * v + ((x >= 0.57 && x < 0.76) || x >= 0.95);
    }
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
