// Parallel construction of CSR from rows or edges. Results do not depend on the number of threads.
#pragma once

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/progress.hpp"
#include "formats/core/random.hpp"

namespace sptile::tools::gen {

/// Calls f(0) to f(count - 1) in parallel and reports to `progress`, which may be null.
template <class F>
void for_each_counted(Progress* progress, const char* phase, std::int64_t count, const F& f) {
  constexpr std::int64_t kParts = 512;
  begin(progress, phase, count);
  const auto run = [&](const tbb::blocked_range<std::int64_t>& part) {
    for (std::int64_t i = part.begin(); i < part.end(); ++i) f(i);
    advance(progress, part.end() - part.begin());
  };
  const std::int64_t grain = std::max<std::int64_t>(count / kParts, 1);
  parallel::loop(tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)), run,
                 tbb::simple_partitioner());
}

/// Allocates the row offsets of a matrix; throws OutOfMemory.
formats::Buffer<std::int64_t> row_pointers(std::int64_t rows);

/// Builds a pattern row by row: `row_nnz(r)` returns the length of row r, then `fill(r, columns)` writes its
/// sorted unique columns.
template <class RowNnz, class Fill>
formats::Csr csr_by_rows(std::int64_t rows, std::int64_t cols, const RowNnz& row_nnz, const Fill& fill,
                         Progress* progress = nullptr) {
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = row_pointers(rows);
  a.row_ptr[0] = 0;
  parallel::loop(std::int64_t{0}, rows, [&](std::int64_t r) { a.row_ptr[r + 1] = row_nnz(r); });
  std::partial_sum(a.row_ptr.begin(), a.row_ptr.end(), a.row_ptr.begin());
  a.col_idx = formats::Buffer<std::int32_t>(a.row_ptr[rows]);
  for_each_counted(progress, "generate", rows, [&](std::int64_t r) {
    const auto length = static_cast<std::size_t>(a.row_ptr[r + 1] - a.row_ptr[r]);
    fill(r, std::span(a.col_idx.data() + a.row_ptr[r], length));
  });
  return a;
}

/// Draws out.size() distinct numbers below `bound` into `out`, sorted: Floyd's sampling (Bentley and Floyd,
/// "A sample of brilliance", CACM 1987) over an open-addressing set. Expected O(k log k).
void draw_distinct(RandomStream random, std::int64_t bound, std::span<std::int32_t> out);

/// Undirected edges, stored as two directed ones each, or directed edges, for csr_from_edges.
struct EdgeList {
  explicit EdgeList(std::int64_t edges) : keys(2 * edges) {}

  /// Returns a list of directed edges, which set_directed sets.
  static EdgeList directed(std::int64_t edges) { return EdgeList(formats::Buffer<std::uint64_t>(edges)); }
  void set_directed(std::int64_t i, std::int64_t u, std::int64_t v) { keys[i] = key(u, v); }

  /// Sets edge `i` to {u, v} and its mirror; a loop is stored once.
  void set(std::int64_t i, std::int64_t u, std::int64_t v) {
    keys[2 * i] = key(u, v);
    keys[2 * i + 1] = u == v ? kDropped : key(v, u);
  }
  /// Removes edge `i`.
  void drop(std::int64_t i) { keys[2 * i] = keys[2 * i + 1] = kDropped; }

  static constexpr std::uint64_t kDropped = ~std::uint64_t{0};
  formats::Buffer<std::uint64_t> keys;  ///< row << 32 | column, or kDropped

 private:
  explicit EdgeList(formats::Buffer<std::uint64_t> all) : keys(std::move(all)) {}
  static std::uint64_t key(std::int64_t row, std::int64_t column) {
    return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(column);
  }
};

/// Builds the pattern of the edges, symmetric if they are undirected, and merges repeated ones. O(edges log
/// edges), parallel.
formats::Csr csr_from_edges(EdgeList edges, std::int64_t vertices, Progress* progress = nullptr);

}  // namespace sptile::tools::gen
