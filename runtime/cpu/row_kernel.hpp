// Inner loop of all products: the entries of a row times a block of columns of B, with sums in registers.
// Every format passes the same entries in the same order, so all formats produce the same bits. Compiled once
// per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/cpu_kernels.hpp"
#include "runtime/cpu/lanes.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Entries of a row or a part of it, with ascending columns and widened values.
template <class Acc>
struct Entries {
  const std::int32_t* col = nullptr;
  const Acc* value = nullptr;
  std::int64_t count = 0;
};

/// A block of up to kBlockVectors vectors of columns. Strides are in bytes, so that one iteration over a
/// format supports all dense types. `last` is the element at which the last vector starts. If the width is
/// not a multiple of the vector, the last vector overlaps the previous one, which computes some columns twice
/// instead of masking.
template <class Acc>
struct ColumnBlock {
  using Fn = void (*)(const ColumnBlock&, const Entries<Acc>&, std::byte* c_row, const Acc* carry_in,
                      Acc* carry_out);
  Fn fn = nullptr;
  const std::byte* b = nullptr;  ///< first row of B at the first column of the block
  std::int64_t row_bytes = 0;    ///< bytes between rows of B
  std::int64_t c_offset = 0;     ///< bytes from the start of a row of C to the block
  std::int64_t last = 0;
  Acc alpha = 1, beta = 0;
  bool wide = false;  ///< C has the accumulator type, B has 16 bits
};

inline constexpr int kBlockVectors = 8;
template <class Acc>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Acc));
/// Elements of a carry buffer.
template <class Acc>
inline constexpr int kBlockColumns = kBlockVectors* kLanes<Acc>;

/// Writes sums to C of type R as alpha * sum + beta * C; with beta = 0 C is not read.
template <class R, int L, int W, class Acc>
[[gnu::always_inline]] inline void finish_block(const ColumnBlock<Acc>& block, Vector<Acc, L> (&sum)[W],
                                                std::byte* c_row) {
  const std::int64_t last = block.last;
  const auto at = [last](int w) { return w == W - 1 ? last : std::int64_t{w} * L; };
  auto* c = reinterpret_cast<R*>(c_row + block.c_offset);
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) sum[w] *= block.alpha;
  if (block.beta != 0) {  // all loads precede all stores, because the last vector overlaps
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) sum[w] += block.beta * load<L>(c + at(w));
  }
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) store<L>(c + at(w), sum[w]);
}

/// Adds entries to the sums of W vectors of L columns each, with a B of type D. The sums start from carry_in
/// (null: zero) and are stored to carry_out, or to C if carry_out is null.
template <class D, int L, int W>
void multiply_block(const ColumnBlock<Accumulator<D>>& block, const Entries<Accumulator<D>>& entries,
                    std::byte* c_row, const Accumulator<D>* carry_in, Accumulator<D>* carry_out) {
  using Acc = Accumulator<D>;
  using V = Vector<Acc, L>;
  const std::int64_t last = block.last;
  const auto at = [last](int w) { return w == W - 1 ? last : std::int64_t{w} * L; };

  // Loops over w must be unrolled completely, otherwise the sums are kept in memory.
  V sum[W];
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) sum[w] = V{};
  if (carry_in != nullptr) {
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) sum[w] = load<L>(carry_in + w * L);
  }

  const std::int32_t* col = entries.col;
  const Acc* value = entries.value;
  const std::int64_t count = entries.count;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto* b = reinterpret_cast<const D*>(block.b + col[k] * block.row_bytes);
    const Acc a = value[k];
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) sum[w] += a * load<L>(b + at(w));
  }

  if (carry_out != nullptr) {
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) store<L>(carry_out + w * L, sum[w]);
    return;
  }
  if constexpr (sizeof(D) == 2)
    if (block.wide) return finish_block<Acc, L, W>(block, sum, c_row);
  finish_block<D, L, W>(block, sum, c_row);
}

/// Returns the instance for `vectors` vectors of L columns.
template <class D, int L>
typename ColumnBlock<Accumulator<D>>::Fn block_of(int vectors) {
  if constexpr (L < kLanes<Accumulator<D>>) {
    return vectors == 1 ? multiply_block<D, L, 1> : multiply_block<D, L, 2>;
  } else {
    static constexpr typename ColumnBlock<Accumulator<D>>::Fn kByVectors[] = {
        multiply_block<D, L, 1>, multiply_block<D, L, 2>, multiply_block<D, L, 3>, multiply_block<D, L, 4>,
        multiply_block<D, L, 5>, multiply_block<D, L, 6>, multiply_block<D, L, 7>, multiply_block<D, L, 8>};
    return kByVectors[vectors - 1];
  }
}

}  // namespace sptile::runtime::SPTILE_ISA
