#include "runtime/core/transpose.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/core/entry_parts.hpp"

namespace sptile::runtime {
namespace {

/// Calls f(column, row, position) for each entry of a range of rows, in order.
template <class F>
void for_each_entry(const formats::CsrView& a, std::int64_t begin, std::int64_t end, F f) {
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t last = a.row_ptr[static_cast<std::size_t>(row) + 1];
    for (std::int64_t i = a.row_ptr[static_cast<std::size_t>(row)]; i < last; ++i)
      f(a.col_idx[static_cast<std::size_t>(i)], row, i);
  }
}

/// Converts counts per part and column into output positions: ordered by column, then by part. Writes the
/// first position of each column to `starts`.
void counts_to_places(std::vector<std::int64_t>& counts, int parts, std::int64_t cols, std::int64_t* starts) {
  std::int64_t place = 0;
  for (std::int64_t column = 0; column < cols; ++column) {
    starts[column] = place;
    for (int part = 0; part < parts; ++part)
      place += std::exchange(counts[static_cast<std::size_t>(part * cols + column)], place);
  }
  starts[cols] = place;
}

template <class Word>
void gather(const void* from, std::span<const std::int64_t> positions, std::byte* to) {
  const auto* source = static_cast<const std::byte*>(from);
  const std::int64_t count = std::ssize(positions);
#pragma omp parallel for schedule(static) num_threads(parts_for(count, 0))
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * std::int64_t{sizeof(Word)},
                source + positions[static_cast<std::size_t>(i)] * std::int64_t{sizeof(Word)}, sizeof(Word));
}

void gather_values(const ArrayView& values, TransposedCsr& t) {
  if (!values.present()) return;
  t.dtype = values.dtype;
  t.values = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(values.bytes()));
  const std::size_t width = size_of(values.dtype);
  if (width == 2) gather<std::uint16_t>(values.data, t.source(), t.values.get());
  if (width == 4) gather<std::uint32_t>(values.data, t.source(), t.values.get());
  if (width == 8) gather<std::uint64_t>(values.data, t.source(), t.values.get());
}

}  // namespace

formats::CsrView TransposedCsr::view() const {
  const auto entries = static_cast<std::size_t>(nnz);
  formats::CsrView a{
      rows, cols, {row_ptr.get(), static_cast<std::size_t>(rows) + 1}, {col_idx.get(), entries}, {}};
  if (dtype != DType::none) a.values = ArrayView(dtype, values.get(), nnz);
  return a;
}

TransposedCsr transpose(const formats::CsrView& a) {
  TransposedCsr t;
  t.rows = a.cols, t.cols = a.rows, t.nnz = a.nnz();
  t.row_ptr = std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(t.rows) + 1);
  t.col_idx = std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(t.nnz));
  t.positions = std::make_unique_for_overwrite<std::int64_t[]>(static_cast<std::size_t>(t.nnz));
  const int parts = parts_for(t.nnz, a.cols);
  const std::vector<std::int64_t> first = part_rows(a, parts);
  std::vector<std::int64_t> next(static_cast<std::size_t>(parts) * static_cast<std::size_t>(a.cols), 0);
  const auto visit = [&](int part, auto f) {
    std::int64_t* const own = next.data() + part * a.cols;
    const auto p = static_cast<std::size_t>(part);
    for_each_entry(a, first[p], first[p + 1],
                   [&](std::int32_t column, std::int64_t row, std::int64_t i) { f(own[column], row, i); });
  };
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part)
    visit(part, [](std::int64_t& count, std::int64_t, std::int64_t) { ++count; });
  counts_to_places(next, parts, a.cols, t.row_ptr.get());
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part)
    visit(part, [&](std::int64_t& place, std::int64_t row, std::int64_t i) {
      t.col_idx[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(row);
      t.positions[static_cast<std::size_t>(place++)] = i;
    });
  gather_values(a.values, t);
  return t;
}

}  // namespace sptile::runtime
