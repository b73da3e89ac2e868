#include "reorder/graph/dendrogram.hpp"

#include <tbb/blocked_range.h>

#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_select.hpp"

namespace sptile::reorder {
namespace {

constexpr std::int32_t kLargeSubtree = 1 << 12;  // larger ones are divided into tasks

/// A subtree and the position of its root in the preorder.
struct Subtree {
  std::int32_t root;
  std::int64_t position;
};

/// Calls visit(child, position) for each child, from the last to the first.
template <class Visit>
void for_each_child(const Dendrogram& tree, const Subtree& subtree, const Visit& visit) {
  std::int64_t position = subtree.position + tree.size[subtree.root];
  for (std::int32_t c = tree.last_child[subtree.root]; c >= 0; c = tree.previous_sibling[c])
    visit(Subtree{c, position -= tree.size[c]});
}

/// Returns the trees of the forest in their order.
std::vector<Subtree> trees_of(const Dendrogram& forest) {
  const std::int64_t n = forest.parent.size();
  std::vector<Subtree> trees(static_cast<std::size_t>(n));
  const std::int64_t count = parallel::select(
      n, [&](std::int64_t v) { return forest.parent[v] == v; },
      [&](std::int64_t at, std::int64_t v) {
        trees[static_cast<std::size_t>(at)] = {static_cast<std::int32_t>(v), 0};
      });
  trees.resize(static_cast<std::size_t>(count));
  std::int64_t position = 0;
  for (Subtree& tree : trees) {
    tree.position = position;
    position += forest.size[tree.root];
  }
  return trees;
}

}  // namespace

Dendrogram::Dendrogram(std::int64_t vertices)
    : parent(vertices), last_child(vertices), previous_sibling(vertices), size(vertices) {
  parallel::loop(tbb::blocked_range<std::int64_t>(0, vertices, 1 << 13), [&](const auto& range) {
    for (std::int64_t v = range.begin(); v < range.end(); ++v) {
      parent[v] = static_cast<std::int32_t>(v);
      last_child[v] = previous_sibling[v] = -1;
      size[v] = 1;
    }
  });
}

std::vector<std::int32_t> depth_first(const Dendrogram& tree) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(tree.parent.size()));
  std::vector<Subtree> tasks = trees_of(tree);
  // The list grows while it is read: large subtrees append the subtrees of their children.
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Subtree subtree = tasks[i];
    if (tree.size[subtree.root] <= kLargeSubtree) continue;
    order[static_cast<std::size_t>(subtree.position)] = subtree.root;
    for_each_child(tree, subtree, [&](const Subtree& child) { tasks.push_back(child); });
  }
  parallel::loop(tbb::blocked_range<std::size_t>(0, tasks.size(), 64), [&](const auto& range) {
    std::vector<Subtree> waiting;
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      if (tree.size[tasks[i].root] > kLargeSubtree) continue;
      waiting.push_back(tasks[i]);
      while (!waiting.empty()) {
        const Subtree subtree = waiting.back();
        waiting.pop_back();
        order[static_cast<std::size_t>(subtree.position)] = subtree.root;
        for_each_child(tree, subtree, [&](const Subtree& child) { waiting.push_back(child); });
      }
    }
  });
  return order;
}

std::vector<std::int32_t> rows_of(const formats::CsrView& a, std::span<const std::int32_t> vertices) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(a.rows));
  const auto vertex = [&](std::int64_t i) { return vertices[static_cast<std::size_t>(i)]; };
  const std::int64_t filled = parallel::select(
      static_cast<std::int64_t>(vertices.size()),
      [&](std::int64_t i) { return vertex(i) < a.rows && a.row_nnz(vertex(i)) > 0; },
      [&](std::int64_t at, std::int64_t i) { rows[static_cast<std::size_t>(at)] = vertex(i); });
  parallel::select(
      a.rows, [&](std::int64_t r) { return a.row_nnz(r) == 0; },
      [&](std::int64_t at, std::int64_t r) {
        rows[static_cast<std::size_t>(filled + at)] = static_cast<std::int32_t>(r);
      });
  return rows;
}

}  // namespace sptile::reorder
