// Consecutive csr rows times a block of columns: multiply_block for many rows per call, which reduces the
// overhead of short rows. Values, B and C have the accumulator type. Rows of B are prefetched across the ends
// of rows. Compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows [first, last) of csr, and their destination.
template <class D>
struct RowRun {
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  std::int64_t nnz = 0;  ///< nonzeros of all rows
  const D* value = nullptr;
  std::int64_t value_step = 1;          ///< 0: all entries have the same value
  const std::int32_t* order = nullptr;  ///< new_to_old; null: original order
  std::byte* c = nullptr;
  std::int64_t c_row_bytes = 0;
  std::int64_t first = 0, last = 0;
  bool streamed = false;  ///< store C with non-temporal stores
};

/// A block of columns. With masks, vectors are aligned to the cache lines of B if its rows are, and the first
/// and last vector are masked. Otherwise the last vector overlaps the previous one.
template <class D>
struct RunBlock {
  using Fn = void (*)(const RunBlock&, const RowRun<D>&);
  Fn fn = nullptr;
  const std::byte* b = nullptr;  ///< first row of B at the first vector
  std::int64_t row_bytes = 0;    ///< bytes between rows of B
  std::int64_t c_offset = 0;     ///< bytes from the start of a row of C to the first vector
  std::int64_t last = 0;         ///< element at which the last vector starts
  LaneBits first_lanes = kAllLanes, last_lanes = kAllLanes;  ///< masks of the first and last vector
  D alpha = 1, beta = 0;
  bool chains = false;  ///< long rows use several sums per column
};

/// Maximum vectors of a block: the f64 sums of 128 columns, and one more for blocks that start within a line.
inline constexpr int kRunVectors = kMasksLanes ? 17 : 8;
inline constexpr int kCacheLine = 64;

/// Prefetch of rows of B: kBytes ahead, one line per kStep bytes. Far rows come from beyond L2 and are
/// prefetched completely, early, and into L2 only, which allows more outstanding misses than L1. Of near rows
/// half of the lines are prefetched, since a prefetch costs as much as a load and lines are fetched in pairs.
template <bool kFar>
struct Ahead {
  static constexpr int kBytes = kFar ? 1 << 16 : 1 << 12;
  static constexpr int kStep = kFar ? kCacheLine : 2 * kCacheLine;
  static constexpr int kLocality = kFar ? 2 : 3;

  template <int kRowBytes>
  static constexpr std::int64_t kEntries = kRowBytes >= kBytes ? 1 : kBytes / kRowBytes;

  template <int kRowBytes>
  [[gnu::always_inline]] static void ask_for(const std::byte* row) {
#pragma GCC unroll 17
    for (int at = 0; at < kRowBytes; at += kStep) __builtin_prefetch(row + at, 0, kLocality);
    // If vectors are not aligned to lines, a row touches one more.
    if constexpr (kFar && !kMasksLanes) __builtin_prefetch(row + kRowBytes - 1, 0, kLocality);
  }
};

/// Start and mask of vector w of W.
template <int W, class D>
[[gnu::always_inline]] inline std::int64_t vector_start(const RunBlock<D>& block, int w, int lanes) {
  return w > 0 && w + 1 == W ? block.last : std::int64_t{w} * lanes;
}
template <int W, class D>
[[gnu::always_inline]] inline LaneBits vector_lanes(const RunBlock<D>& block, int w) {
  return w == 0 ? block.first_lanes : w + 1 == W ? block.last_lanes : kAllLanes;
}
template <int W, int L, class D>
[[gnu::always_inline]] inline Vector<D, L> load_vector(const RunBlock<D>& block, const D* row, int w) {
  const D* const from = row + vector_start<W>(block, w, L);
  return w == 0 || w + 1 == W ? load_lanes<L>(from, vector_lanes<W>(block, w)) : load<L>(from);
}

/// Writes sums to C as alpha * sum + beta * C; with beta = 0 C is not read.
template <class D, int L, int W>
[[gnu::always_inline]] inline void finish_row(const RunBlock<D>& block, Vector<D, L> (&sum)[W], D* c,
                                              bool streamed) {
#pragma GCC unroll 17
  for (int w = 0; w < W; ++w) sum[w] *= block.alpha;
  if (streamed) {
#pragma GCC unroll 17
    for (int w = 0; w < W; ++w) {
      D* const to = c + vector_start<W>(block, w, L);
      if (w == 0 || w + 1 == W)
        stream_lanes<L>(to, vector_lanes<W>(block, w), sum[w]);
      else
        stream<L>(to, sum[w]);
    }
    return;
  }
  if (block.beta != 0) {  // all loads precede all stores, because the last vector may overlap
#pragma GCC unroll 17
    for (int w = 0; w < W; ++w) sum[w] += block.beta * load_vector<W, L>(block, c, w);
  }
#pragma GCC unroll 17
  for (int w = 0; w < W; ++w) {
    D* const to = c + vector_start<W>(block, w, L);
    if (w == 0 || w + 1 == W)
      store_lanes<L>(to, vector_lanes<W>(block, w), sum[w]);
    else
      store<L>(to, sum[w]);
  }
}

/// Products with at most kMaxChainBytes per row of B use kChains sums per column for rows of at least
/// kLongRow entries. This depends on the product, not on the block, so that the bits do not depend on the
/// division.
inline constexpr std::int64_t kMaxChainBytes = 2 * kVectorBytes;
inline constexpr int kMaxVectorsWithChains = kMasksLanes ? 3 : 2, kChains = 4;
inline constexpr std::int64_t kLongRow = 32;

/// Adds entries in groups of kChains and advances `col` and `value`; up to kChains - 1 entries remain.
template <class D, int L, int W>
[[gnu::always_inline]] inline void add_chains(const RunBlock<D>& block, const std::int32_t*& col,
                                              const std::int32_t* col_end, const D*& value,
                                              std::int64_t value_step, Vector<D, L> (&sum)[W]) {
  Vector<D, L> chain[kChains][W];
#pragma GCC unroll 4
  for (int i = 0; i < kChains; ++i)
#pragma GCC unroll 3
    for (int w = 0; w < W; ++w) chain[i][w] = Vector<D, L>{};
  for (; col_end - col >= kChains; col += kChains) {
#pragma GCC unroll 4
    for (int i = 0; i < kChains; ++i, value += value_step) {
      const auto* const b = reinterpret_cast<const D*>(block.b + col[i] * block.row_bytes);
      const D a = *value;
#pragma GCC unroll 3
      for (int w = 0; w < W; ++w) chain[i][w] += a * load_vector<W, L>(block, b, w);
    }
  }
#pragma GCC unroll 3
  for (int w = 0; w < W; ++w) sum[w] = (chain[0][w] + chain[1][w]) + (chain[2][w] + chain[3][w]);
}

template <class D, int L, int W, bool kFar>
void multiply_rows(const RunBlock<D>& columns, const RowRun<D>& run) {
  using V = Vector<D, L>;
  constexpr int kRowBytes = W * L * static_cast<int>(sizeof(D));
  constexpr std::int64_t kEntriesAhead = Ahead<kFar>::template kEntries<kRowBytes>;
  const RunBlock<D> block = columns;  // in registers, since stores to C might alias the caller's copy
  const std::int64_t* const row_ptr = run.row_ptr;
  const std::int64_t last = run.last, value_step = run.value_step;
  const std::int32_t* col = run.col + row_ptr[run.first];
  const D* value = run.value + row_ptr[run.first] * value_step;
  for (std::int64_t r = run.first; r < last; ++r) {
    const std::int64_t row_end = row_ptr[r + 1];
    const std::int64_t ahead = row_end + kEntriesAhead <= run.nnz ? kEntriesAhead : 0;
    V sum[W];
#pragma GCC unroll 17
    for (int w = 0; w < W; ++w) sum[w] = V{};
    const std::int32_t* const col_end = run.col + row_end;
    // The additions of a long row depend on each other, so its entries are distributed over several sums.
    if constexpr (W <= kMaxVectorsWithChains) {
      if (block.chains && col_end - col >= kLongRow)
        add_chains<D, L, W>(block, col, col_end, value, value_step, sum);
    }
    for (; col != col_end; ++col, value += value_step) {
      Ahead<kFar>::template ask_for<kRowBytes>(block.b + col[ahead] * block.row_bytes);
      const auto* const b = reinterpret_cast<const D*>(block.b + *col * block.row_bytes);
      const D a = *value;
#pragma GCC unroll 17
      for (int w = 0; w < W; ++w) sum[w] += a * load_vector<W, L>(block, b, w);
    }
    std::byte* const c_row = run.c + (run.order != nullptr ? run.order[r] : r) * run.c_row_bytes;
    finish_row<D, L, W>(block, sum, reinterpret_cast<D*>(c_row + block.c_offset), run.streamed);
  }
}

/// Returns the instance for `vectors` vectors of L columns.
template <class D, int L, bool kFar, int... kLess>
typename RunBlock<D>::Fn rows_of(std::int64_t vectors, std::integer_sequence<int, kLess...>) {
  static constexpr typename RunBlock<D>::Fn kByVectors[] = {multiply_rows<D, L, kLess + 1, kFar>...};
  return kByVectors[vectors - 1];
}
template <class D, int L>
typename RunBlock<D>::Fn rows_of(std::int64_t vectors, bool far) {
  constexpr int kMax = L < kLanes<D> ? 2 : kRunVectors;
  constexpr std::make_integer_sequence<int, kMax> kLess;
  return far ? rows_of<D, L, true>(vectors, kLess) : rows_of<D, L, false>(vectors, kLess);
}

}  // namespace sptile::runtime::SPTILE_ISA
