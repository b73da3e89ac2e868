// A row of C = act(alpha (A B) W + bias). The row of A B stays in L1 until it is multiplied by W. Compiled
// once per instruction set.
#pragma once

#include "formats/layout/csr.hpp"
#include "runtime/cpu/sddmm.hpp"
#include "runtime/cpu/weighted_rows.hpp"
#include "runtime/operation/spmm_update.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Computes the rows of a chunk. At most kMaxSums elements of a row of A B are buffered. Longer rows are
/// recomputed for each block of columns of C.
template <class Acc>
class UpdateRows {
 public:
  UpdateRows(const Task& task, const DenseType<Acc>& dense, const DenseType<Acc>& result)
      : task_(task), dense_(dense), result_(result), values_(task, true) {
    const formats::CsrView csr = formats::as_csr(task.format);
    row_ptr_ = csr.row_ptr.data();
    columns_ = csr.col_idx.data();
    for (std::int32_t i = 0; i < kMaxSums; ++i) counted_[i] = i;
  }

  void run(std::int64_t row) {
    const std::int64_t to = original_row(task_, row), m = task_.sizes.m;
    for (std::int64_t first = 0; first < m; first += kBlockColumns<Acc>) {
      const std::int64_t width = smaller(m - first, kBlockColumns<Acc>);
      alignas(kVectorBytes) Acc c[kBlockColumns<Acc>] = {};
      for (std::int64_t k = 0; k < task_.n; k += kMaxSums) {
        const std::int64_t count = smaller(task_.n - k, kMaxSums);
        if (first == 0 || task_.n > kMaxSums) aggregate(row, k, count);
        if (first == 0) keep(to, k, count);
        multiply(k, count, first, width, c);
      }
      finish(c, to, first, width);
    }
  }

 private:
  static constexpr std::int64_t kMaxSums = 1024, kPiece = 256;

  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  /// Computes elements [first, first + count) of a row of A B.
  void aggregate(std::int64_t row, std::int64_t first, std::int64_t count) {
    const Operand& b = task_.operands.dense[kUpdateB];
    for (std::int64_t i = 0; i < count; i += kBlockColumns<Acc>) {
      const std::int64_t width = smaller(count - i, kBlockColumns<Acc>);
      const RowBlock<Acc> block = dense_.block(b, first + i, width);
      alignas(kVectorBytes) Acc sums[kBlockColumns<Acc>] = {};
      for (std::int64_t k = row_ptr_[row]; k < row_ptr_[row + 1]; k += kPiece)
        block.add(entries(k, smaller(row_ptr_[row + 1] - k, kPiece)), false, sums);
      block.straighten(sums);
      for (std::int64_t j = 0; j < width; ++j) z_[i + j] = sums[j];
    }
  }

  Entries<Acc> entries(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) factors_[i] = values_[first + i];
    return {columns_ + first, factors_, count};
  }

  void keep(std::int64_t row, std::int64_t first, std::int64_t count) const {
    const Operand& z = task_.operands.dense[kUpdateZ];
    if (z.data != nullptr) dense_.write(z_, count, z, row * z.ld + first);
  }

  /// Adds the products of `count` sums with the weights.
  void multiply(std::int64_t k, std::int64_t count, std::int64_t first, std::int64_t width, Acc* c) {
    Operand w = task_.operands.dense[kUpdateW];
    if (!task_.variant.transposed_weights) {
      const RowBlock<Acc> block = dense_.block(w, first, width);
      // Rows of W from k on, treated as entries 0, 1, ... of a row.
      Entries<Acc> factors = {counted_, z_, count};
      ColumnBlock<Acc> moved = block.block;
      moved.b += k * moved.row_bytes;
      moved.fn(moved, factors, nullptr, c, c);
      return;
    }
    for (std::int64_t j = 0; j < width; ++j) c[j] += dot((first + j) * w.ld + k, count);
  }

  /// Returns the product of the sums with part of a row of transposed weights.
  Acc dot(std::int64_t at, std::int64_t count) {
    Acc sum = 0;
    for (std::int64_t i = 0; i < count; i += kPiece) {
      const std::int64_t here = smaller(count - i, kPiece);
      dense_.read(task_.operands.dense[kUpdateW], at + i, here, factors_);
      Acc part;
      const Acc* const y = factors_;
      dot_rows(z_ + i, &y, 1, here, &part);
      sum += part;
    }
    return sum;
  }

  void finish(Acc* c, std::int64_t row, std::int64_t first, std::int64_t width) {
    const Operand &bias = task_.operands.dense[kUpdateBias], &to = task_.operands.dense[kUpdateC];
    if (!task_.variant.transposed_weights) dense_.block(to, 0, width).straighten(c);
    const auto alpha = static_cast<Acc>(task_.operands.alpha);
    alignas(kVectorBytes) Acc added[kBlockColumns<Acc>] = {};
    if (bias.data != nullptr) dense_.read(bias, first, width, added);
    const bool relu = task_.variant.activation == Activation::relu;
    for (std::int64_t j = 0; j < width; ++j) {
      c[j] = alpha * c[j] + added[j];
      if (relu && c[j] < 0) c[j] = 0;  // NaN is kept
    }
    result_.write(c, width, to, row * to.ld + first);
  }

  const Task& task_;
  const DenseType<Acc>& dense_;
  const DenseType<Acc>& result_;
  PackedValues<Acc> values_;
  const std::int64_t* row_ptr_;
  const std::int32_t* columns_;
  std::int32_t counted_[kMaxSums];
  alignas(kVectorBytes) Acc z_[kMaxSums];
  alignas(kVectorBytes) Acc factors_[kPiece];
};

template <class Acc>
[[gnu::noinline]] void update_rows(const Task& task, const Chunk& chunk, const DenseType<Acc>& dense,
                                   const DenseType<Acc>& result) noexcept {
  if (chunk.first_col != 0) return;  // a row is not split, since all of it is multiplied by W
  UpdateRows<Acc> rows(task, dense, result);
  for (std::int64_t row = chunk.first; row < chunk.last; ++row) rows.run(row);
}

/// Kernel for dense operands of type D and results of type R.
template <class D, class R = D>
void update_chunk(const Task& task, const Chunk& chunk) noexcept {
  update_rows(task, chunk, kDenseType<D>, kDenseType<R>);
}

}  // namespace sptile::runtime::SPTILE_ISA
