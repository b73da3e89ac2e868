// dW = alpha Z^T G, G = dC act'(C). Rows are processed in tiles. Each element of dW is a single sum over all
// rows in order, independent of the division of work.
#pragma once

#include "runtime/cpu/units.hpp"
#include "runtime/cpu/weighted_rows.hpp"
#include "runtime/operation/update_gradient.hpp"

namespace sptile::runtime::SPTILE_ISA {

template <class Acc>
class GradientColumns {
 public:
  GradientColumns(const Task& task, const DenseType<Acc>& dense, const DenseType<Acc>& result)
      : task_(task), dense_(dense), result_(result) {
    for (std::int32_t i = 0; i < kRows; ++i) counted_[i] = i;
    for (Acc& one : ones_) one = 1;
  }

  /// Computes rows [first, last) of dW, at most kColumns, from these columns of Z. The chunk with the first
  /// column also writes G and dbias.
  void run(std::int64_t first, std::int64_t last) {
    const std::int64_t m = task_.sizes.m;
    for (std::int64_t column = 0; column < m; column += kBlockColumns<Acc>)
      run_block(first, last, column, m - column < kBlockColumns<Acc> ? m - column : kBlockColumns<Acc>);
  }

  static constexpr std::int64_t kColumns = 2 * kColumnsPerChunk;

 private:
  static constexpr std::int64_t kRows = 32;  ///< rows per tile

  void run_block(std::int64_t first, std::int64_t last, std::int64_t column, std::int64_t width) {
    const RowBlock<Acc> block = block_of_rows<Acc>({g_, kBlockColumns<Acc>}, 0, width);
    const bool writes = first == 0, adds_up = writes && task_.operands.dense[kGradientDbias].data != nullptr;
    for (auto& row : sums_)
      for (Acc& sum : row) sum = 0;
    for (std::int64_t row = 0; row < task_.format.rows; row += kRows) {
      const std::int64_t count = task_.format.rows - row < kRows ? task_.format.rows - row : kRows;
      make_tile(row, count, column, width, writes);
      for (std::int64_t i = first; i < last; ++i) {
        read_column(row, count, i);
        block.add({counted_, factors_, count}, false, sums_[i - first]);
      }
      if (adds_up) block.add({counted_, ones_, count}, false, sums_[kColumns]);
    }
    const auto alpha = static_cast<Acc>(task_.operands.alpha);
    for (std::int64_t i = first; i < last; ++i)
      write(block, sums_[i - first], alpha, task_.operands.dense[kGradientDw], i, column);
    if (adds_up) write(block, sums_[kColumns], 1, task_.operands.dense[kGradientDbias], 0, column);
  }

  /// Computes some rows of G.
  void make_tile(std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t width,
                 bool writes) {
    const Operand &dc = task_.operands.dense[kGradientDc], &c = task_.operands.dense[kGradientC],
                  &g = task_.operands.dense[kGradientG];
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t row = first + r;
      dense_.read(dc, row * dc.ld + column, width, g_[r]);
      if (task_.variant.activation == Activation::relu) {
        dense_.read(c, row * c.ld + column, width, written_);
        for (std::int64_t j = 0; j < width; ++j)
          if (!(written_[j] > 0)) g_[r][j] = 0;
      }
      if (writes && g.data != nullptr) dense_.write(g_[r], width, g, row * g.ld + column);
    }
  }

  void read_column(std::int64_t first, std::int64_t count, std::int64_t column) {
    const Operand& z = task_.operands.dense[kGradientZ];
    for (std::int64_t r = 0; r < count; ++r) dense_.read(z, (first + r) * z.ld + column, 1, factors_ + r);
  }

  void write(const RowBlock<Acc>& block, Acc* sums, Acc factor, const Operand& to, std::int64_t row,
             std::int64_t column) const {
    block.straighten(sums);
    for (std::int64_t j = 0; j < block.width; ++j) sums[j] *= factor;
    result_.write(sums, block.width, to, row * to.ld + column);
  }

  const Task& task_;
  const DenseType<Acc>& dense_;
  const DenseType<Acc>& result_;
  std::int32_t counted_[kRows];
  alignas(kVectorBytes) Acc ones_[kRows];
  alignas(kVectorBytes) Acc factors_[kRows];
  alignas(kVectorBytes) Acc written_[kBlockColumns<Acc>];
  alignas(kVectorBytes) Acc g_[kRows][kBlockColumns<Acc>];
  alignas(kVectorBytes) Acc sums_[kColumns + 1][kBlockColumns<Acc>];  ///< the last row: sums of dbias
};

template <class Acc>
[[gnu::noinline]] void gradient_columns(const Task& task, const Chunk& chunk, const DenseType<Acc>& dense,
                                        const DenseType<Acc>& result) noexcept {
  const std::int64_t end = chunk.last_col < task.n ? chunk.last_col : task.n;
  GradientColumns<Acc> columns(task, dense, result);
  constexpr std::int64_t kStep = GradientColumns<Acc>::kColumns;
  for (std::int64_t first = chunk.first_col; first < end; first += kStep)
    columns.run(first, end - first < kStep ? end : first + kStep);
}

/// Kernel for dense operands of type D and results of type R.
template <class D, class R = D>
void gradient_chunk(const Task& task, const Chunk& chunk) noexcept {
  gradient_columns(task, chunk, kDenseType<D>, kDenseType<R>);
}

}  // namespace sptile::runtime::SPTILE_ISA
