// Rows of csr, one behind the other, times a block of columns: what multiply_block does, for many rows in one
// call, so that short rows cost little beside their entries. Rows of B are asked for some entries ahead, past
// the ends of rows. Compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/row_kernel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Rows [first, last) of csr whose values need no widening, and where they go.
template <class Acc>
struct RowRun {
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  const Acc* value = nullptr;           ///< null: ones
  const std::int32_t* order = nullptr;  ///< rows of C; null: as they stand
  std::byte* c = nullptr;
  std::int64_t c_row_bytes = 0;
  std::int64_t first = 0, last = 0;
  bool streamed = false;  ///< C is written past the caches; it is a multiple of 16 bytes everywhere
};

/// Bytes of rows of B that are on their way. Of 0, 512, 1024, 2048 and 4096 the last is the fastest.
inline constexpr int kBytesAhead = 4096;
inline constexpr int kCacheLine = 64;

template <class D, int L, int W, bool kOnes>
void multiply_run(const ColumnBlock<D>& block, const RowRun<D>& run) {
  using V = Vector<D, L>;
  constexpr int kRowBytes = W * L * static_cast<int>(sizeof(D));
  constexpr int kAhead = kRowBytes >= kBytesAhead ? 1 : kBytesAhead / kRowBytes;
  const std::int64_t last = block.last;
  const auto at = [last](int w) { return w == W - 1 ? last : std::int64_t{w} * L; };
  const std::int64_t end = run.row_ptr[run.last];
  std::int64_t k = run.row_ptr[run.first];
  for (std::int64_t r = run.first; r < run.last; ++r) {
    V sum[W];
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) sum[w] = V{};
    for (const std::int64_t row_end = run.row_ptr[r + 1]; k < row_end; ++k) {
      const std::int64_t ahead = k + kAhead < end ? k + kAhead : k;
      const std::byte* const next = block.b + run.col[ahead] * block.row_bytes;
#pragma GCC unroll 8
      for (int line = 0; line < kRowBytes; line += kCacheLine) __builtin_prefetch(next + line);
      const auto* b = reinterpret_cast<const D*>(block.b + run.col[k] * block.row_bytes);
      const D a = kOnes ? D{1} : run.value[k];
#pragma GCC unroll 8
      for (int w = 0; w < W; ++w) sum[w] += a * load<L>(b + at(w));
    }
    std::byte* const c_row = run.c + (run.order != nullptr ? run.order[r] : r) * run.c_row_bytes;
    if (!run.streamed) {
      finish_block<D, L, W>(block, sum, c_row);
      continue;
    }
    auto* const c = reinterpret_cast<D*>(c_row + block.c_offset);
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) stream<L>(c + std::int64_t{w} * L, V(sum[w] * block.alpha));
  }
}

/// Picks the instance for values or ones.
template <class D, int L, int W>
void multiply_rows(const ColumnBlock<D>& block, const RowRun<D>& run) {
  return run.value != nullptr ? multiply_run<D, L, W, false>(block, run)
                              : multiply_run<D, L, W, true>(block, run);
}

}  // namespace sptile::runtime::SPTILE_ISA
