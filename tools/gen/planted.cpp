#include <vector>

#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
#include "tools/gen/drawn_edges.hpp"
#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {
namespace {
constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of vertices", true, 1, 0x7fffffff},
    {"edges", "number of edges to draw; loops are dropped and duplicates merged; each edge gives two entries",
     true, 0, 0x1p40},
    {"mix", "fraction of edges independent of the communities", false, 0, 1},
};
constexpr std::uint64_t kCommunitySalt = 0x636f6d6dull;

Result<formats::Csr> make_planted(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows"), count = integer_argument(arguments, "edges");
  const double mix = real_argument(arguments, "mix");
  RandomStream sizes(seed ^ kCommunitySalt);
  const std::vector<std::int64_t> borders = draw_borders(sizes, rows);
  EdgeList edges(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    const auto [u, v] = draw_community_edge(random, borders, mix);
    u == v ? edges.drop(i) : edges.set(i, u, v);
  });
  return csr_from_edges(std::move(edges), rows, progress);
}
}  // namespace

const Generator kPlanted = {"planted",
                            "Planted communities of 20 to 1000 vertices, power-law sizes",
                            "--rows 1000 --edges 8000 --mix 0.2",
                            Shape::symmetric,
                            kArguments,
                            make_planted};

}  // namespace sptile::tools::gen
