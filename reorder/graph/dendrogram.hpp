// Forest of merges of communities, and its depth-first order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/core/csr_view.hpp"

namespace sptile::reorder {

/// A forest over the vertices: the parent of v is the vertex whose community v was merged into, and roots
/// represent communities. Children are linked from the last merge to the first; -1 ends a list.
struct Dendrogram {
  formats::Buffer<std::int32_t> parent;  ///< the vertex itself for a root
  formats::Buffer<std::int32_t> last_child;
  formats::Buffer<std::int32_t> previous_sibling;
  formats::Buffer<std::int32_t> size;  ///< vertices in the subtree

  Dendrogram() = default;
  /// Every vertex is a root.
  explicit Dendrogram(std::int64_t vertices);

  /// Makes root `v` the last child of root `target`.
  void merge(std::int32_t v, std::int32_t target) {
    parent[v] = target;
    previous_sibling[v] = last_child[target];
    last_child[target] = v;
    size[target] += size[v];
  }
};

/// Returns the vertices in preorder: communities by the id of their root, each vertex before the vertices
/// merged into it, earlier merges first. O(vertices), parallel.
std::vector<std::int32_t> depth_first(const Dendrogram& tree);

/// Returns the rows of `a` among the vertices of graph_of(a), in their order, except that empty rows are
/// last. O(vertices), parallel.
std::vector<std::int32_t> rows_of(const formats::CsrView& a, std::span<const std::int32_t> vertices);

}  // namespace sptile::reorder
