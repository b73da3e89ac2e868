// Undirected graph of a CSR matrix in device memory.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "runtime/cuda/convert/transpose.hpp"

namespace sptile::runtime::cuda::rabbit {

/// The graph of reorder::graph_of, except that the neighbors of a vertex are in any order.
struct DeviceGraph {
  std::int64_t vertices = 0;
  std::int64_t links = 0;  ///< each edge is a link of both vertices
  const std::int64_t* offsets = nullptr;
  const std::int32_t* neighbours = nullptr;
};

/// A matrix and its transpose.
struct MatrixPair {
  CsrRows rows, columns;
  const std::int32_t *col_idx, *row_idx;
};

/// Marks the entries of A^T that are not in A and not on the diagonal.
struct MarkTransposed {
  MatrixPair a;
  std::uint32_t* added;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    a.columns.visit_apart(step, [&](std::int64_t i, std::int64_t v) {
      const std::int32_t u = a.row_idx[i];
      added[i] = u != v && !a.rows.has(a.col_idx, v, u) ? 1 : 0;
    });
  }
};

/// Counts the neighbors of a vertex of A + A^T, and those in A. `before`: prefix sums of MarkTransposed.
struct CountNeighbours {
  MatrixPair a;
  const std::uint32_t* before;
  std::int64_t* degrees;
  std::int32_t* in_row;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    if (v == a.rows.rows) {
      degrees[v] = 0;
      return;
    }
    const std::int64_t own = a.rows.row_ptr[v + 1] - a.rows.row_ptr[v] -
                             (a.rows.has(a.col_idx, v, static_cast<std::int32_t>(v)) ? 1 : 0);
    in_row[v] = static_cast<std::int32_t>(own);
    degrees[v] = own + (before[a.columns.row_ptr[v + 1]] - before[a.columns.row_ptr[v]]);
  }
};

/// Writes the neighbors that are in A.
struct WriteRowNeighbours {
  MatrixPair a;
  const std::int64_t* offsets;
  const std::int32_t* in_row;
  std::int32_t* neighbours;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    a.rows.visit_apart(step, [&](std::int64_t i, std::int64_t v) {
      const std::int32_t u = a.col_idx[i];
      const std::int64_t begin = a.rows.row_ptr[v], diagonal = a.rows.row_ptr[v + 1] - begin - in_row[v];
      if (u != v) neighbours[offsets[v] + i - begin - (u > v ? diagonal : 0)] = u;
    });
  }
};

/// Writes the neighbors that are only in A^T, after those in A.
struct WriteColumnNeighbours {
  MatrixPair a;
  const std::uint32_t* before;
  const std::int64_t* offsets;
  const std::int32_t* in_row;
  std::int32_t* neighbours;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    a.columns.visit_apart(step, [&](std::int64_t i, std::int64_t v) {
      if (before[i + 1] != before[i])
        neighbours[offsets[v] + in_row[v] + before[i] - before[a.columns.row_ptr[v]]] = a.row_idx[i];
    });
  }
};

/// Offsets of the bipartite graph: rows, then columns.
struct WriteBipartiteOffsets {
  MatrixPair a;
  std::int64_t* offsets;

  SPTILE_HOST_DEVICE void operator()(std::int64_t v) const {
    const std::int64_t rows = a.rows.rows;
    offsets[v] = v < rows ? a.rows.row_ptr[v] : a.rows.entries + a.columns.row_ptr[v - rows];
  }
};

struct WriteBipartiteNeighbours {
  MatrixPair a;
  std::int32_t* neighbours;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    neighbours[i] = a.col_idx[i] + static_cast<std::int32_t>(a.rows.rows);
    neighbours[a.rows.entries + i] = a.row_idx[i];
  }
};

struct GraphWorkspace {
  std::int64_t* offsets = nullptr;

  void place(Arena& arena, std::int64_t vertices) { arena.take(offsets, vertices + 1); }
};

struct NeighboursWorkspace {
  std::int32_t* neighbours = nullptr;

  void place(Arena& arena, std::int64_t links) { arena.take(neighbours, links); }
};

struct SymmetryWorkspace {
  std::uint32_t* added = nullptr;
  std::int32_t* in_row = nullptr;

  void place(Arena& arena, std::int64_t rows, std::int64_t entries) {
    arena.take(added, entries + 1);
    arena.take(in_row, rows);
  }
};

/// A graph and its memory.
struct OwnedGraph {
  DeviceGraph graph;
  Workspace<GraphWorkspace> offsets;
  Workspace<NeighboursWorkspace> neighbours;
};

/// Allocates the lists of neighbors. Errc::unsupported above 2^32 - 1 links, so that sums of weights fit.
template <class Run>
Status make_links(Run& run, std::int64_t links, OwnedGraph& made) {
  if (links > std::numeric_limits<std::uint32_t>::max())
    return fail(Errc::unsupported, "rabbit: the graph of the matrix has " + std::to_string(links) +
                                       " links, but a device supports at most 4294967295; order on the CPU");
  made.graph.links = links;
  return made.neighbours.make(run, links);
}

template <class Run>
Status add_symmetric_links(Run& run, const MatrixPair& a, OwnedGraph& made) {
  Workspace<SymmetryWorkspace> work;
  const std::int64_t rows = a.rows.rows;
  if (Status s = work.make(run, rows, a.rows.entries); !s) return s;
  run.clear(work.added + a.rows.entries, sizeof *work.added);
  run.each(a.columns.steps_apart(), MarkTransposed{a, work.added});
  run.sum(work.added, a.rows.entries + 1);
  std::int64_t* const offsets = made.offsets.offsets;
  run.each(rows + 1, CountNeighbours{a, work.added, offsets, work.in_row});
  run.sum(offsets, rows + 1);
  std::int64_t links = 0;
  run.download(&links, offsets + rows, 1);
  if (Status s = run.status(); !s) return s;
  if (Status s = make_links(run, links, made); !s) return s;
  std::int32_t* const neighbours = made.neighbours.neighbours;
  run.each(a.rows.steps_apart(), WriteRowNeighbours{a, offsets, work.in_row, neighbours});
  run.each(a.columns.steps_apart(), WriteColumnNeighbours{a, work.added, offsets, work.in_row, neighbours});
  return run.status();
}

template <class Run>
Status add_bipartite_links(Run& run, const MatrixPair& a, OwnedGraph& made) {
  if (Status s = make_links(run, 2 * a.rows.entries, made); !s) return s;
  run.each(made.graph.vertices + 1, WriteBipartiteOffsets{a, made.offsets.offsets});
  run.each(a.rows.entries, WriteBipartiteNeighbours{a, made.neighbours.neighbours});
  return run.status();
}

/// Builds the graph of a matrix, which is checked first: of A + A^T for a square one, otherwise the bipartite
/// graph. Errc::unsupported if it has more than 2^31 - 1 vertices or 2^32 - 1 links.
template <class Run>
Result<OwnedGraph> graph_on(Run& run, DeviceCsr a) {
  a.values = nullptr;
  a.value_dtype = DType::none;
  const bool square = a.rows == a.cols;
  if (!square && a.rows + a.cols > formats::kMaxId)
    return fail(Errc::unsupported, "rabbit: the bipartite graph of a " + std::to_string(a.rows) + " x " +
                                       std::to_string(a.cols) +
                                       " matrix has more than 2147483647 vertices; use an ordering that "
                                       "needs no graph, for example degree, on the CPU");
  const auto transposed = transpose_on(run, a, false);
  if (!transposed) return tl::unexpected(transposed.error());
  const DeviceCsr& t = transposed->csr;
  const MatrixPair pair{{a.row_ptr, a.rows, a.nnz}, {t.row_ptr, t.rows, t.nnz}, a.col_idx, t.col_idx};
  OwnedGraph made;
  made.graph.vertices = square ? a.rows : a.rows + a.cols;
  if (Status s = made.offsets.make(run, made.graph.vertices); !s) return tl::unexpected(s.error());
  if (Status s = square ? add_symmetric_links(run, pair, made) : add_bipartite_links(run, pair, made); !s)
    return tl::unexpected(s.error());
  made.graph.offsets = made.offsets.offsets;
  made.graph.neighbours = made.neighbours.neighbours;
  run.wait();  // the transpose is released
  return made;
}

}  // namespace sptile::runtime::cuda::rabbit
