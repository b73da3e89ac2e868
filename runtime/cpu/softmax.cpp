// Softmax of the rows of a list of numbers, and its gradient.
#include <cmath>
#include <limits>

#include "runtime/core/attention_operands.hpp"
#include "runtime/cpu/csr_rows.hpp"
#include "runtime/cpu/row_math.hpp"

namespace sptile::runtime {

void softmax_rows(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  void* const to = task.operands.dense[kSoftmaxP].data;
  const auto score = [&](std::int64_t k) {
    return task.operands.alpha * math.read(task.operands.dense[kSoftmaxS].data, place_of(task, k));
  };
  for_each_row(task, chunk, [&](const CsrRow& row) {
    const std::int64_t last = row.first + row.count;
    double maximum = kNone, sum = 0;
    for (std::int64_t k = row.first; k < last; ++k)
      if (const double s = score(k); s > maximum) maximum = s;
    if (maximum == kNone) maximum = 0;
    for (std::int64_t k = row.first; k < last; ++k) sum += std::exp(score(k) - maximum);
    const double inverse = sum == 0 ? 0 : 1 / sum;
    for (std::int64_t k = row.first; k < last; ++k)
      math.write(to, place_of(task, k), std::exp(score(k) - maximum) * inverse);
  });
}

void softmax_rows_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept {
  const auto number = [&](int operand, std::int64_t k) {
    return math.read(task.operands.dense[operand].data, place_of(task, k));
  };
  for_each_row(task, chunk, [&](const CsrRow& row) {
    const std::int64_t last = row.first + row.count;
    double mean = 0;
    for (std::int64_t k = row.first; k < last; ++k)
      mean += number(kSoftmaxGradientP, k) * number(kSoftmaxGradientDP, k);
    for (std::int64_t k = row.first; k < last; ++k)
      math.write(task.operands.dense[kSoftmaxGradientDS].data, place_of(task, k),
                 task.operands.alpha * number(kSoftmaxGradientP, k) * (number(kSoftmaxGradientDP, k) - mean));
  });
}

}  // namespace sptile::runtime
