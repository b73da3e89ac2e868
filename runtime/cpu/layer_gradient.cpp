// dX = (A G) W^T and dW = X^T (A G) over the rows of csr, for a few columns of X. Each chunk sums the rows of
// A G anew, kSumColumns columns at a time, because no memory is allocated for them. Each element of dW is a
// single sum over all rows in order, independent of the division of work.
#include "runtime/operation/layer_gradient.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/csr_rows.hpp"
#include "runtime/cpu/row_math.hpp"

namespace sptile::runtime {
namespace {

class LayerColumns {
 public:
  static constexpr int kColumns = 16;

  LayerColumns(const Task& task, const RowMath& math)
      : task_(task), math_(math), a_(formats::as_csr(task.format)), m_(task.sizes.m) {}

  /// Computes columns [first, first + count) of dX and the same rows of dW; count <= kColumns.
  void run(std::int64_t first, int count) {
    first_ = first;
    count_ = count;
    const bool one_slice = m_ <= kSumColumns;
    for (std::int64_t column = 0; column < m_; column += kSumColumns) {
      select(column);
      std::memset(dw_, 0, sizeof dw_);
      for (std::int64_t row = 0; row < a_.rows; ++row) {
        aggregate(row);
        add_to_dw(row);
        if (!one_slice) continue;
        std::fill_n(dx_, kColumns, 0);
        add_to_dx();
        write_dx(row);
      }
      write_dw();
    }
    if (one_slice) return;
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      std::fill_n(dx_, kColumns, 0);
      for (std::int64_t column = 0; column < m_; column += kSumColumns) {
        select(column);
        aggregate(row);
        add_to_dx();
      }
      write_dx(row);
    }
  }

 private:
  static constexpr int kBatch = 512;  ///< nonzeros

  [[nodiscard]] const Operand& operand(int i) const { return task_.operands.dense[i]; }
  [[nodiscard]] double read(int i, std::int64_t row, std::int64_t column) const {
    return math_.read(operand(i).data, row * operand(i).ld + column);
  }
  [[nodiscard]] std::int64_t caller_row(std::int64_t row) const {
    return task_.row_order != nullptr ? task_.row_order[row] : row;
  }

  /// Selects up to kSumColumns columns of Z and loads the weights of these columns.
  void select(std::int64_t column) {
    column_ = column;
    width_ = static_cast<int>(std::min<std::int64_t>(m_ - column, kSumColumns));
    for (int j = 0; j < width_; ++j)
      for (int i = 0; i < kColumns; ++i) w_[j][i] = i < count_ ? read(kLayerW, first_ + i, column + j) : 0;
  }

  void aggregate(std::int64_t row) {
    const Operand& g = operand(kLayerG);
    std::memset(sums_, 0, sizeof sums_);
    const auto* const from = static_cast<const std::byte*>(g.data) + column_ * math_.operand_bytes;
    const auto r = static_cast<std::size_t>(row);
    for (std::int64_t k = a_.row_ptr[r]; k < a_.row_ptr[r + 1]; k += kBatch) {
      const std::int64_t count = std::min<std::int64_t>(a_.row_ptr[r + 1] - k, kBatch);
      for (std::int64_t i = 0; i < count; ++i) weights_[i] = value_of(a_, k + i);
      math_.add({from, g.ld, a_.col_idx.data() + k, count}, weights_, width_, sums_);
    }
    for (int j = 0; j < width_; ++j)
      z_[j] = math_.wide ? reinterpret_cast<const double*>(sums_)[j]
                         : double{reinterpret_cast<const float*>(sums_)[j]};
  }

  void add_to_dw(std::int64_t row) {
    const std::int64_t from = caller_row(row);
    for (int i = 0; i < count_; ++i) {
      const double x = read(kLayerX, from, first_ + i);
      for (int j = 0; j < width_; ++j) dw_[i][j] += x * z_[j];
    }
  }
  void add_to_dx() {
    double sums[kColumns];
    std::copy_n(dx_, kColumns, sums);
    for (int j = 0; j < width_; ++j)
      for (int i = 0; i < kColumns; ++i) sums[i] += z_[j] * w_[j][i];
    std::copy_n(sums, kColumns, dx_);
  }

  void write_dw() const {
    const Operand& to = operand(kLayerDw);
    for (int i = 0; i < count_; ++i)
      for (int j = 0; j < width_; ++j)
        math_.write(to.data, (first_ + i) * to.ld + column_ + j, task_.operands.alpha * dw_[i][j]);
  }
  void write_dx(std::int64_t row) const {
    const Operand& to = operand(kLayerDx);
    for (int i = 0; i < count_; ++i)
      math_.write(to.data, caller_row(row) * to.ld + first_ + i, task_.operands.alpha * dx_[i]);
  }

  const Task& task_;
  const RowMath& math_;
  const formats::CsrView a_;
  const std::int64_t m_;
  std::int64_t first_ = 0, column_ = 0;
  int count_ = 0, width_ = 0;
  alignas(64) std::byte sums_[kSumBytes];
  double weights_[kBatch], z_[kSumColumns], dx_[kColumns];
  double w_[kSumColumns][kColumns];  ///< transposed, with zeros past the last column of the chunk
  double dw_[kColumns][kSumColumns];
};

}  // namespace

void layer_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  LayerColumns columns(task, math);
  const std::int64_t end = std::min(chunk.last_col, task.n);
  for (std::int64_t first = chunk.first_col; first < end; first += LayerColumns::kColumns)
    columns.run(first, static_cast<int>(std::min<std::int64_t>(end - first, LayerColumns::kColumns)));
}

}  // namespace sptile::runtime
