#include "runtime/reference/softmax.hpp"

#include <vector>

#include "runtime/core/attention_operands.hpp"
#include "runtime/reference/element.hpp"
#include "runtime/reference/weights.hpp"

namespace sptile::runtime {
namespace {

/// Calls f(first, last) for the entries of each row.
template <class F>
void for_each_row(const formats::CsrView& a, const F& f) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r) f(a.row_ptr[r], a.row_ptr[r + 1]);
}

std::int64_t place(const EntryLists& lists, std::int64_t k) {
  return lists.packed.empty() ? k : lists.packed[static_cast<std::size_t>(k)];
}

}  // namespace

void softmax_rows(const EntryLists& lists, const Operands& operands, const ResultSink& sink) {
  const void* const from = operands.dense[kSoftmaxS].data;
  for_each_row(lists.a, [&](std::int64_t first, std::int64_t last) {
    std::vector<WeighedScore> row;
    for (std::int64_t k = first; k < last; ++k) {
      const double s = operands.alpha * read_element(lists.types.operands, from, place(lists, k));
      row.push_back({s, std::fabs(s)});
    }
    weigh(row);
    for (std::int64_t k = first; k < last; ++k) {
      const WeighedScore& entry = row[static_cast<std::size_t>(k - first)];
      sink(operands.dense[kSoftmaxP].data, lists.types.result, place(lists, k),
           {entry.weight, entry.weight * entry.amplified});
    }
  });
}

void softmax_rows_gradient(const EntryLists& lists, const Operands& operands, const ResultSink& sink) {
  const auto number = [&](int operand, std::int64_t k) {
    return read_element(lists.types.operands, operands.dense[operand].data, place(lists, k));
  };
  for_each_row(lists.a, [&](std::int64_t first, std::int64_t last) {
    ReferenceNumber mean;
    for (std::int64_t k = first; k < last; ++k) {
      const double product = number(kSoftmaxGradientP, k) * number(kSoftmaxGradientDP, k);
      mean = {mean.value + product, mean.scale + std::fabs(product)};
    }
    for (std::int64_t k = first; k < last; ++k) {
      const double p = operands.alpha * number(kSoftmaxGradientP, k), dp = number(kSoftmaxGradientDP, k);
      sink(operands.dense[kSoftmaxGradientDS].data, lists.types.result, place(lists, k),
           {p * (dp - mean.value), std::fabs(p) * (std::fabs(dp) + mean.scale)});
    }
  });
}

}  // namespace sptile::runtime
