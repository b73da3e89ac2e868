// A row of a csr plan with its operands, for attention of any score. Scores are computed in batches of
// entries.
#pragma once

#include <algorithm>
#include <cstring>

#include "runtime/cpu/csr_rows.hpp"
#include "runtime/cpu/row_math.hpp"

namespace sptile::runtime {

inline constexpr int kBatch = 512;  ///< entries per batch of scores

/// One row of a plan and its operands.
class TaskRow {
 public:
  TaskRow(const Task& task, const RowMath& math, const CsrRow& row) : task_(task), math_(math), row_(row) {}

 protected:
  [[nodiscard]] const Operand& operand(int i) const { return task_.operands.dense[i]; }
  [[nodiscard]] const std::byte* at(int i, std::int64_t row, std::int64_t column = 0) const {
    const Operand& o = operand(i);
    return static_cast<const std::byte*>(o.data) + (row * o.ld + column) * math_.operand_bytes;
  }
  [[nodiscard]] std::byte* result_at(int i, std::int64_t row, std::int64_t column) const {
    const Operand& o = operand(i);
    return static_cast<std::byte*>(o.data) + (row * o.ld + column) * math_.result_bytes;
  }
  [[nodiscard]] double statistic(int i, std::int64_t row, int column) const {
    const std::int64_t place = row * operand(i).ld + column;
    return math_.wide ? static_cast<const double*>(operand(i).data)[place]
                      : double{static_cast<const float*>(operand(i).data)[place]};
  }
  void set_statistic(int i, std::int64_t row, int column, double x) const {
    const std::int64_t place = row * operand(i).ld + column;
    if (math_.wide)
      static_cast<double*>(operand(i).data)[place] = x;
    else
      static_cast<float*>(operand(i).data)[place] = static_cast<float>(x);
  }
  [[nodiscard]] bool one_batch() const { return row_.count <= kBatch; }
  [[nodiscard]] RowList batch(int i, std::int64_t from) const {
    return {operand(i).data, operand(i).ld, row_.columns + from,
            std::min<std::int64_t>(row_.count - from, kBatch)};
  }

  const Task& task_;
  const RowMath& math_;
  const CsrRow& row_;
};

/// Columns of a result that are summed in one pass.
struct Slice {
  std::int64_t first;
  int count;
};
template <class F>
void for_each_slice(std::int64_t columns, const F& f) {
  for (std::int64_t c = 0; c < columns; c += kSumColumns)
    f(Slice{c, static_cast<int>(std::min<std::int64_t>(columns - c, kSumColumns))});
}

struct alignas(64) Sums {
  std::byte bytes[kSumBytes];
  void clear() { std::memset(bytes, 0, sizeof bytes); }
};

}  // namespace sptile::runtime
