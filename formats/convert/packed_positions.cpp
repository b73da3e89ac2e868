#include "formats/convert/packed_positions.hpp"

#include <cassert>
#include <numeric>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/row_order.hpp"

namespace sptile::formats {

Result<Csr> rebuild_with(const FormatView& view, std::span<const std::int64_t> values) {
  assert(std::ssize(values) == view.nnz);
  const std::span<const ArraySpec> specs = view.layout->arrays;
  std::size_t first = 0;
  while (!specs[first].holds_values) ++first;
  FormatView moved = view;
  std::int64_t end = view.nnz;
  // A pattern has no value arrays, whose sizes would be needed. Value arrays after the first one belong to
  // residual rows and follow the array of their columns, which has the same size.
  for (std::size_t i = specs.size(); i-- > first;) {
    if (!specs[i].holds_values) continue;
    const std::int64_t size = i == first ? end : view.arrays[i - 1].size;
    end -= size;
    moved.arrays[i] = ArrayView(DType::i64, values.data() + end, size);
  }
  return find_converter(view.layout->name)->to_csr(moved);
}

Result<Array> packed_positions(const FormatView& view, std::span<const std::int32_t> row_order) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(view.nnz));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  Result<Csr> rebuilt = rebuild_with(view, numbers);
  if (!rebuilt) return tl::unexpected(rebuilt.error());
  if (row_order.empty()) return std::move(rebuilt->values);
  return std::move(permute_rows(rebuilt->view(), invert_order(row_order)).values);
}

Array inverse_positions(std::span<const std::int64_t> positions) {
  Array inverse(DType::i64, std::ssize(positions));
  const std::span<std::int64_t> to = inverse.as<std::int64_t>();
  for (std::size_t i = 0; i < positions.size(); ++i)
    to[static_cast<std::size_t>(positions[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

Result<Array> packed_entries(const FormatView& view, std::span<const std::int32_t> row_order) {
  const Result<Array> packed = packed_positions(view, row_order);
  if (!packed) return tl::unexpected(packed.error());
  return inverse_positions(packed->view().as<std::int64_t>());
}

}  // namespace sptile::formats
