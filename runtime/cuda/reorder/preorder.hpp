// Depth-first order of a forest, and the rows in it.
#pragma once

#include <utility>

#include "runtime/cuda/reorder/communities.hpp"

namespace sptile::runtime::cuda::rabbit {

/// An ancestor of each vertex, and the vertex's position in the preorder of its subtree.
struct Ancestors {
  std::int32_t *of = nullptr, *position = nullptr;
};

/// Replaces ancestors by their ancestors, which doubles the distance.
struct JumpUp {
  Ancestors from, to;
  std::uint32_t* moved;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    const std::int32_t up = from.of[v], next = from.of[up];
    to.of[v] = next;
    to.position[v] = from.position[v] + from.position[up];
    if (next != up) *moved = 1;
  }
};

/// Writes the sizes of the trees at their roots.
struct MeasureTrees {
  const std::int32_t *parent, *size;
  std::int64_t vertices;
  std::int64_t* trees;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    trees[v] = v < vertices && parent[v] == v ? size[v] : 0;
  }
};

struct PlaceVertices {
  Ancestors roots;
  const std::int64_t* trees;
  std::int32_t* order;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    order[trees[roots.of[v]] + roots.position[v]] = static_cast<std::int32_t>(v);
  }
};

/// Marks the vertices of the order that are nonempty rows, then the empty rows.
struct MarkRows {
  const std::int32_t* order;
  const std::int64_t* row_ptr;
  std::int64_t vertices, rows;
  std::int64_t* marks;

  /// Sets the row of an item; returns whether it is marked.
  SPTILE_HOST_DEVICE bool find(std::int64_t i, std::int64_t& row) const {
    const bool in_order = i < vertices;
    row = in_order ? order[i] : i - vertices;
    return row < rows && (row_ptr[row + 1] > row_ptr[row]) == in_order;
  }
  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    std::int64_t row = 0;
    marks[i] = find(i, row) ? 1 : 0;
  }
};

struct WriteRows {
  MarkRows marked;
  std::int32_t* new_to_old;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    std::int64_t row = 0;
    if (marked.find(i, row)) new_to_old[marked.marks[i]] = static_cast<std::int32_t>(row);
  }
};

struct PreorderWorkspace {
  Ancestors other;
  std::int32_t* order = nullptr;
  std::int64_t* sums = nullptr;
  std::uint32_t* moved = nullptr;

  void place(Arena& arena, std::int64_t vertices, std::int64_t rows) {
    arena.take(other.of, vertices);
    arena.take(other.position, vertices);
    arena.take(order, vertices);
    arena.take(sums, vertices + rows + 1);
    arena.take(moved, 1);
  }
};

/// Writes the order of reorder::depth_first and reorder::rows_of. Overwrites the forest.
template <class Run>
Status write_rows(Run& run, const Forest& forest, const DeviceGraph& graph, const DeviceCsr& a,
                  std::int32_t* new_to_old) {
  const std::int64_t n = graph.vertices;
  Workspace<PreorderWorkspace> work;
  if (Status s = work.make(run, n, a.rows); !s) return s;
  run.each(n + 1, MeasureTrees{forest.parent, forest.size, n, work.sums});
  run.sum(work.sums, n + 1);
  Ancestors ancestors{forest.parent, forest.position};
  for (std::uint32_t moved = 1; moved != 0;) {
    run.clear(work.moved, sizeof *work.moved);
    run.each(n, JumpUp{ancestors, work.other, work.moved});
    std::swap(ancestors, work.other);
    run.download(&moved, work.moved, 1);
    if (Status s = run.status(); !s) return s;
  }
  run.each(n, PlaceVertices{ancestors, work.sums, work.order});
  const MarkRows marks{work.order, a.row_ptr, n, a.rows, work.sums};
  run.each(n + a.rows, marks);
  run.sum(work.sums, n + a.rows);
  run.each(n + a.rows, WriteRows{marks, new_to_old});
  run.wait();
  return run.status();
}

}  // namespace sptile::runtime::cuda::rabbit
