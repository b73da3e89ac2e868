// Maxima and minima over the rows of csr, kSumColumns columns at a time, and their gradients. Minima are
// maxima of negated products. Gradients read a row of arg for each entry, and elements of G where arg
// matches.
#include <algorithm>

#include "runtime/cpu/csr_rows.hpp"
#include "runtime/cpu/row_math.hpp"
#include "runtime/operation/spmm_reduce.hpp"

namespace sptile::runtime {
namespace {

/// A range of columns of a task: those of a chunk, of which a plan may have more than a run.
struct ColumnRange {
  std::int64_t first, last;

  ColumnRange(const Task& task, const Chunk& chunk)
      : first(chunk.first_col), last(std::min(chunk.last_col, task.n)) {}

  /// Calls f(first, width) for parts of at most kSumColumns columns.
  template <class F>
  void for_each_part(const F& f) const {
    for (std::int64_t at = first; at < last; at += kSumColumns)
      f(at, static_cast<int>(std::min<std::int64_t>(last - at, kSumColumns)));
  }
};

/// The rows of a chunk, whatever its columns are.
Chunk rows_of(const Chunk& chunk) { return {chunk.first, chunk.last, 0, 0}; }

/// The rows of a dense operand that the entries of a row name, with the values of the entries, in batches.
class Batches {
 public:
  Batches(const Task& task, const RowMath& math, const Operand& rows, double sign)
      : a_(formats::as_csr(task.format)), rows_(rows), math_(math), sign_(sign) {}

  /// Calls f(rows, factors, is_first) for the rows from a column on.
  template <class F>
  void for_each(const CsrRow& row, std::int64_t column, const F& f) {
    const auto* const from = static_cast<const std::byte*>(rows_.data) + column * math_.operand_bytes;
    for (std::int64_t k = 0; k < row.count; k += kBatch) {
      const std::int64_t count = std::min<std::int64_t>(row.count - k, kBatch);
      for (std::int64_t i = 0; i < count; ++i) factors_[i] = sign_ * value_of(a_, row.first + k + i);
      f(RowList{from, rows_.ld, row.columns + k, count}, factors_, k == 0);
    }
  }

 private:
  static constexpr int kBatch = 512;  ///< entries

  formats::CsrView a_;
  const Operand& rows_;
  const RowMath& math_;
  double sign_;
  double factors_[kBatch];
};

/// Returns the address of an element of a result.
void* result_at(const RowMath& math, const Operand& to, std::int64_t row, std::int64_t column) {
  return static_cast<std::byte*>(to.data) + (row * to.ld + column) * math.result_bytes;
}

void reduce_rows(const Task& task, const Chunk& chunk, const RowMath& math, double sign) {
  const Operand &c = task.operands.dense[kReduceC], &arg = task.operands.dense[kReduceArg];
  Batches batches(task, math, task.operands.dense[kReduceB], sign);
  const ColumnRange columns(task, chunk);
  for_each_row(task, rows_of(chunk), [&](const CsrRow& row) {
    columns.for_each_part([&](std::int64_t first, int width) {
      alignas(double) std::byte best[kSumBytes] = {};
      std::int32_t ids[kSumColumns];
      if (row.count == 0) std::fill_n(ids, width, -1);
      batches.for_each(row, first, [&](const RowList& rows, const double* factors, bool begin) {
        math.larger(rows, factors, begin, width, best, ids);
      });
      math.store(best, row.count == 0 ? 0 : task.operands.alpha * sign, width,
                 result_at(math, c, row.row, first));
      if (arg.data != nullptr)
        std::copy_n(ids, width, static_cast<std::int32_t*>(arg.data) + row.row * arg.ld + first);
    });
  });
}

}  // namespace

void reduce_max(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  reduce_rows(task, chunk, math, 1);
}
void reduce_min(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  reduce_rows(task, chunk, math, -1);
}

void reduce_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  const Operand &g = task.operands.dense[kReduceTransposedG],
                &arg = task.operands.dense[kReduceTransposedArg],
                &to = task.operands.dense[kReduceTransposedB];
  Batches batches(task, math, g, 1);
  const ColumnRange columns(task, chunk);
  for_each_row(task, rows_of(chunk), [&](const CsrRow& row) {
    columns.for_each_part([&](std::int64_t first, int width) {
      const SelectedBy by = {static_cast<const std::int32_t*>(arg.data) + first, arg.ld,
                             static_cast<std::int32_t>(row.row)};
      alignas(double) std::byte sums[kSumBytes] = {};
      batches.for_each(row, first, [&](const RowList& rows, const double* factors, bool /*begin*/) {
        math.add_where(rows, by, factors, width, sums);
      });
      math.store(sums, task.operands.alpha, width, result_at(math, to, row.row, first));
    });
  });
}

/// Computes the chunk's share of the entries of each row, as SDDMM does.
void reduce_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  const Operand &g = task.operands.dense[kReduceGradientG], &arg = task.operands.dense[kReduceGradientArg],
                &b = task.operands.dense[kReduceGradientB];
  for_each_row(task, rows_of(chunk), [&](const CsrRow& row) {
    const std::int32_t* const args = static_cast<const std::int32_t*>(arg.data) + row.row * arg.ld;
    const std::int64_t end = row.count * chunk.last_col / task.planned_n;
    for (std::int64_t k = row.count * chunk.first_col / task.planned_n; k < end; ++k) {
      const std::int32_t column = row.columns[k];
      double sum = 0;
      for (std::int64_t j = 0; j < task.n; ++j)
        if (args[j] == column)
          sum += math.read(g.data, row.row * g.ld + j) * math.read(b.data, column * b.ld + j);
      math.write(task.operands.dense[kReduceGradientValues].data, place_of(task, row.first + k),
                 task.operands.alpha * sum);
    }
  });
}

}  // namespace sptile::runtime
