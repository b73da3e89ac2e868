#include <algorithm>
#include <numeric>
#include <string>
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
    {"mix", "fraction of edges independent of the classes", false, 0, 1},
    {"classes", "number of classes: communities of equal size", true, 1, 10000},
    {"features", "number of features, at least one per class", true, 1, 0x7fffffff},
    {"noise", "fraction of features independent of the classes", false, 0, 1},
};
constexpr std::uint64_t kFeatureSalt = 0x666561747572ull, kSplitSalt = 0x73706c6974ull;
constexpr std::size_t kDraws = 16;              // features drawn per vertex; repeated ones are merged
constexpr std::int64_t kTrainingVertices = 20;  // per class, at most half of it

// Division of `total` items into `classes` contiguous parts of equal size: vertices of a class, and features
// that it prefers.
struct Parts {
  std::int64_t total, classes;
  [[nodiscard]] std::int64_t first(std::int64_t part) const { return part * total / classes; }
  [[nodiscard]] std::int64_t part_of(std::int64_t i) const { return ((i + 1) * classes - 1) / total; }
  // Draws an item from all, or from one part.
  std::int64_t draw(RandomStream& random, bool anywhere, std::int64_t part) const {
    if (anywhere) return random.below(total);
    return first(part) + random.below(first(part + 1) - first(part));
  }
};

Status check_parts(const Parameters& arguments) {
  const std::int64_t classes = integer_argument(arguments, "classes");
  for (const char* name : {"rows", "features"})
    if (integer_argument(arguments, name) < classes)
      return fail(Errc::usage, "community: " + std::to_string(classes) + " classes need --" + name + " " +
                                   std::to_string(classes) + " or more");
  return {};
}

Parts parts(const Parameters& arguments, std::string_view of) {
  return {integer_argument(arguments, of), integer_argument(arguments, "classes")};
}

Result<formats::Csr> make_community(const Parameters& arguments, std::uint64_t seed, Progress* progress) {
  if (Status s = check_parts(arguments); !s) return tl::unexpected(std::move(s.error()));
  const Parts vertices = parts(arguments, "rows");
  const double mix = real_argument(arguments, "mix");
  EdgeList edges(integer_argument(arguments, "edges"));
  for_each_counted(progress, "generate", integer_argument(arguments, "edges"), [&](std::int64_t i) {
    RandomStream random(seed, static_cast<std::uint64_t>(i));
    const std::int64_t u = random.below(vertices.total);
    const std::int64_t v = vertices.draw(random, random.uniform() < mix, vertices.part_of(u));
    u == v ? edges.drop(i) : edges.set(i, u, v);
  });
  return csr_from_edges(std::move(edges), vertices.total, progress);
}

// Returns the sorted, unique features of vertex r.
std::vector<std::int32_t> draw_features(const Parts& vertices, const Parts& features, double noise,
                                        std::uint64_t seed, std::int64_t r) {
  RandomStream random(seed ^ kFeatureSalt, static_cast<std::uint64_t>(r));
  std::vector<std::int32_t> drawn(kDraws);
  for (std::int32_t& feature : drawn)
    feature = static_cast<std::int32_t>(features.draw(random, random.uniform() < noise, vertices.part_of(r)));
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

// Assigns the first vertices of each class in a random order to training, and every third of the others to
// validation.
std::vector<Split> draw_splits(const Parts& vertices, std::uint64_t seed) {
  std::vector<std::int64_t> met(static_cast<std::size_t>(vertices.classes), 0);
  std::vector<Split> splits(static_cast<std::size_t>(vertices.total));
  for (const std::int32_t v : random_permutation(vertices.total, RandomStream(seed ^ kSplitSalt))) {
    const std::int64_t part = vertices.part_of(v), size = vertices.first(part + 1) - vertices.first(part);
    const std::int64_t place = met[static_cast<std::size_t>(part)]++ - std::min(kTrainingVertices, size / 2);
    splits[static_cast<std::size_t>(v)] = place < 0        ? Split::train
                                          : place % 3 == 0 ? Split::val
                                                           : Split::test;
  }
  return splits;
}

Result<NodeData> make_nodes(const Parameters& arguments, std::uint64_t seed) {
  if (Status s = check_parts(arguments); !s) return tl::unexpected(std::move(s.error()));
  const Parts vertices = parts(arguments, "rows"), features = parts(arguments, "features");
  const double noise = real_argument(arguments, "noise");
  const auto draw = [&](std::int64_t r) { return draw_features(vertices, features, noise, seed, r); };
  NodeData nodes;
  nodes.features = csr_by_rows(
      vertices.total, features.total,
      [&](std::int64_t r) { return static_cast<std::int64_t>(draw(r).size()); },
      [&](std::int64_t r, std::span<std::int32_t> columns) { std::ranges::copy(draw(r), columns.begin()); });
  nodes.labels.resize(static_cast<std::size_t>(vertices.total));
  for (std::int64_t r = 0; r < vertices.total; ++r)
    nodes.labels[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(vertices.part_of(r));
  nodes.splits = draw_splits(vertices, seed);
  return nodes;
}
}  // namespace

const Generator kCommunity = {"community",
                              "Planted classes of equal size, with features for --data-set",
                              "--rows 1000 --edges 4000 --mix 0.2 --classes 5 --features 300 --noise 0.7",
                              Shape::symmetric,
                              kArguments,
                              make_community,
                              make_nodes};

}  // namespace sptile::tools::gen
