#include "reorder/graph/spanning_forest.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "formats/core/counting_sort.hpp"

namespace sptile::reorder {
namespace {

/// Returns a key that is larger for smaller weights. The bits of nonnegative floats are ordered like the
/// floats, those of negative floats in reverse.
std::uint32_t lightness(float weight) {
  const auto bits = std::bit_cast<std::uint32_t>(weight);
  return (bits & 0x80000000u) != 0 ? bits : ~bits & 0x7fffffffu;
}

/// Sorts by the digits of the weight, least significant first (stable radix sort).
void sort_heaviest_first(std::vector<WeightedEdge>& edges) {
  constexpr int kDigitBits = 11;
  constexpr std::int64_t kDigits = 1 << kDigitBits;
  const std::size_t count = edges.size();
  const int parts = formats::sort_parts(static_cast<std::int64_t>(count), kDigits);
  std::vector<WeightedEdge> sorted(count);
  for (int shift = 0; shift < 32; shift += kDigitBits) {
    const auto visit = [&](int part, auto&& sink) {
      const auto p = static_cast<std::size_t>(part), of = static_cast<std::size_t>(parts);
      for (std::size_t i = count * p / of; i < count * (p + 1) / of; ++i)
        sink(lightness(edges[i].weight) >> shift & (kDigits - 1), edges[i]);
    };
    formats::counting_sort(kDigits, parts, visit, [&](std::int64_t at, const WeightedEdge& e) {
      sorted[static_cast<std::size_t>(at)] = e;
    });
    edges.swap(sorted);
  }
}

/// Union-find with path halving and union by size.
class DisjointSets {
 public:
  explicit DisjointSets(std::int64_t size) : parent_(static_cast<std::size_t>(size), -1) {}

  std::int32_t find(std::int32_t v) {
    while (up(v) >= 0) {
      if (up(up(v)) >= 0) up(v) = up(up(v));
      v = up(v);
    }
    return v;
  }

  /// Returns false if both are in the same set, or if the union would have more than `max` vertices.
  bool unite(std::int32_t a, std::int32_t b, std::int32_t max) {
    a = find(a), b = find(b);
    if (a == b || -(std::int64_t{up(a)} + up(b)) > max) return false;
    if (up(a) > up(b)) std::swap(a, b);
    up(a) += up(b);
    up(b) = a;
    return true;
  }

 private:
  std::int32_t& up(std::int32_t v) { return parent_[static_cast<std::size_t>(v)]; }
  std::vector<std::int32_t> parent_;  // for a root: minus the number of its vertices
};

/// The forest as adjacency lists, each in the order of the edges.
class Adjacency {
 public:
  Adjacency(const std::vector<WeightedEdge>& forest, std::size_t vertices)
      : offsets_(vertices + 2), neighbours_(forest.size() * 2) {
    for (const WeightedEdge& e : forest) ++offset(e.a + 2), ++offset(e.b + 2);
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    for (const WeightedEdge& e : forest) add(e.a, e.b), add(e.b, e.a);
  }

  std::span<const std::int32_t> of(std::int32_t v) const {
    const auto at = static_cast<std::size_t>(v);
    return {neighbours_.data() + offsets_[at], neighbours_.data() + offsets_[at + 1]};
  }

 private:
  std::int64_t& offset(std::int64_t at) { return offsets_[static_cast<std::size_t>(at)]; }
  void add(std::int32_t from, std::int32_t to) {
    neighbours_[static_cast<std::size_t>(offset(from + 1)++)] = to;
  }

  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> neighbours_;
};

struct Tree {
  std::vector<std::int32_t> breadth_first;  // parents before children
  std::vector<std::int32_t> parent;         // -1 at a root
  std::vector<std::int32_t> size;           // vertices in the subtree, including its root
};

Tree root_trees(const Adjacency& adjacency, const std::vector<std::int32_t>& roots) {
  constexpr std::int32_t kUnseen = -2;
  Tree tree{{}, std::vector<std::int32_t>(roots.size(), kUnseen), std::vector<std::int32_t>(roots.size(), 1)};
  tree.breadth_first.reserve(roots.size());
  std::size_t next = 0;
  for (const std::int32_t root : roots) {
    if (tree.parent[static_cast<std::size_t>(root)] != kUnseen) continue;
    tree.parent[static_cast<std::size_t>(root)] = -1;
    tree.breadth_first.push_back(root);
    for (; next < tree.breadth_first.size(); ++next) {
      const std::int32_t v = tree.breadth_first[next];
      for (const std::int32_t child : adjacency.of(v)) {
        if (child == tree.parent[static_cast<std::size_t>(v)]) continue;
        tree.parent[static_cast<std::size_t>(child)] = v;
        tree.breadth_first.push_back(child);
      }
    }
  }
  for (std::size_t i = roots.size(); i-- > 0;) {
    const auto v = static_cast<std::size_t>(tree.breadth_first[i]);
    if (tree.parent[v] >= 0) tree.size[static_cast<std::size_t>(tree.parent[v])] += tree.size[v];
  }
  return tree;
}

}  // namespace

std::vector<WeightedEdge> maximum_spanning_forest(std::int64_t vertices, std::vector<WeightedEdge> edges,
                                                  std::int32_t max) {
  sort_heaviest_first(edges);
  DisjointSets sets(vertices);
  std::size_t taken = 0;
  for (const WeightedEdge& e : edges)
    if (sets.unite(e.a, e.b, max)) edges[taken++] = e;
  edges.resize(taken);
  return edges;
}

ForestWalk walk_depth_first(const std::vector<WeightedEdge>& forest, const std::vector<std::int32_t>& roots) {
  const Adjacency adjacency(forest, roots.size());
  const Tree tree = root_trees(adjacency, roots);
  const auto later = [&](std::int32_t x, std::int32_t y) {
    const std::int32_t below_x = tree.size[static_cast<std::size_t>(x)];
    const std::int32_t below_y = tree.size[static_cast<std::size_t>(y)];
    return below_x != below_y ? below_x > below_y : x > y;
  };
  ForestWalk walk;
  walk.order.reserve(roots.size());
  std::vector<std::int32_t> stack;
  for (const std::int32_t root : roots) {
    if (tree.parent[static_cast<std::size_t>(root)] >= 0) continue;
    walk.tree_starts.push_back(static_cast<std::int64_t>(walk.order.size()));
    stack.push_back(root);
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      walk.order.push_back(v);
      const auto first = static_cast<std::ptrdiff_t>(stack.size());
      for (const std::int32_t u : adjacency.of(v))
        if (u != tree.parent[static_cast<std::size_t>(v)]) stack.push_back(u);
      std::sort(stack.begin() + first, stack.end(), later);
    }
  }
  walk.tree_starts.push_back(static_cast<std::int64_t>(walk.order.size()));
  return walk;
}

}  // namespace sptile::reorder
