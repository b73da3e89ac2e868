#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/core/random.hpp"
#include "tools/gen/assemble.hpp"
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

// Returns community boundaries, with sizes from a power law with exponent 2.5, between 20 and 1000.
std::vector<std::int64_t> draw_borders(std::int64_t rows, std::uint64_t seed) {
  RandomStream random(seed ^ kCommunitySalt);
  std::vector<std::int64_t> borders{0};
  while (borders.back() < rows) {
    const double size = std::min(20 * std::pow(1 - random.uniform(), -1 / 1.5), 1000.0);
    borders.push_back(std::min(rows, borders.back() + static_cast<std::int64_t>(size)));
  }
  return borders;
}

Result<formats::Csr> make_planted(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows"), count = integer_argument(arguments, "edges");
  const double mix = real_argument(arguments, "mix");
  const std::vector<std::int64_t> borders = draw_borders(rows, seed);
  EdgeList edges(count);
  for_each_counted(progress, "generate", count, [&](std::int64_t i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    const std::int64_t u = random.below(rows);
    std::int64_t first = 0, last = rows;
    if (random.uniform() >= mix) {
      const auto end = std::upper_bound(borders.begin(), borders.end(), u);
      first = *(end - 1);
      last = *end;
    }
    const std::int64_t v = first + random.below(last - first);
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
