// A copying model (Kumar et al., "Stochastic models for the web graph", FOCS 2000): each vertex copies links
// of an earlier one.
#include <algorithm>

#include "tools/gen/kinds.hpp"
#include "tools/gen/replicas/shuffled_graph.hpp"

namespace sptile::tools::gen {
namespace {
constexpr std::int64_t kStart = 50;  // the first vertices link to each other

constexpr ArgumentSpec kArguments[] = {
    {"rows", "number of vertices, at least 50", true, kStart, 1e9, 300000.0},
    {"degree", "mean number of links", true, 1, 1e6, 16.0},
    {"copied", "fraction of copied links", false, 0, 1, 0.7}};

using Links = std::vector<std::int32_t>;

class CopyingModel {
 public:
  CopyingModel(ShuffledGraphStream& random, std::int64_t degree, double copied)
      : random_(random), degree_(static_cast<double>(degree)), copied_(copied) {}

  Links draw_links(std::int64_t vertex, const std::vector<Links>& earlier) {
    const auto drawn = static_cast<std::int64_t>(degree_ * (0.25 + 1.5 * random_.uniform()));
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, drawn));
    Links links;
    if (vertex < kStart) {
      while (links.size() < count) links.push_back(static_cast<std::int32_t>(random_.below(kStart)));
      return links;
    }
    Links prototype = earlier[static_cast<std::size_t>(draw_earlier(vertex, 0.8, 200))];
    random_.shuffle(prototype);
    for (std::size_t i = 0; i < count; ++i)
      links.push_back(i < prototype.size() && random_.uniform() < copied_
                          ? prototype[i]
                          : static_cast<std::int32_t>(draw_earlier(vertex, 0.7, 500)));
    return links;
  }

 private:
  // Returns one of the `distance` vertices before `vertex` with probability `near`, otherwise any earlier
  // one.
  std::int64_t draw_earlier(std::int64_t vertex, double near, std::int64_t distance) {
    if (random_.uniform() < near) return std::max<std::int64_t>(0, vertex - 1 - random_.below(distance));
    return random_.below(vertex);
  }

  ShuffledGraphStream& random_;
  double degree_, copied_;
};

Result<formats::Csr> make_copy(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  const std::int64_t rows = integer_argument(arguments, "rows");
  ShuffledGraphStream random(seed);
  CopyingModel model(random, integer_argument(arguments, "degree"), real_argument(arguments, "copied"));
  std::vector<Links> links;
  Edges edges;
  for (std::int64_t vertex = 0; vertex < rows; ++vertex) {
    links.push_back(model.draw_links(vertex, links));
    for (const std::int32_t link : links.back()) edges.emplace_back(vertex, link);
  }
  return shuffled_graph(edges, rows, EdgeKind::directed, random, progress);
}
}  // namespace

const Generator kCopy =
    replica("copy", "Directed copying model in random order, as in the tables of orderings",
            "--rows 1000 --degree 8 --copied 0.7", kArguments, make_copy);

}  // namespace sptile::tools::gen
