// CSR matrix from entries sorted by row and column.
#pragma once

#include <utility>

#include "formats/layout/csr.hpp"
#include "runtime/cuda/convert/bits.hpp"
#include "runtime/cuda/convert/entry_key.hpp"
#include "runtime/cuda/convert/format_memory.hpp"
#include "runtime/cuda/convert/gather_rows.hpp"
#include "runtime/cuda/convert/tiles.hpp"
#include "runtime/cuda/convert/value_sum.hpp"
#include "runtime/cuda/device_input.hpp"

namespace sptile::runtime::cuda {

/// Sorted entries; keys are (row, column, 0).
struct SortedEntries {
  EntryKey key;
  std::int64_t entries = 0;
  const std::uint64_t* keys = nullptr;
  const std::uint32_t* from = nullptr;  ///< original position of each entry
  const std::uint32_t* before =
      nullptr;  ///< entries + 1: distinct positions before each entry; null: all are distinct

  SPTILE_HOST_DEVICE bool starts(std::int64_t i) const {
    return before == nullptr || before[i + 1] != before[i];
  }
  /// Returns the index in CSR of an entry.
  SPTILE_HOST_DEVICE std::int64_t place(std::int64_t i) const {
    return before == nullptr ? i : std::int64_t{before[i + 1]} - 1;
  }
};

struct WriteOffsets {
  SortedEntries sorted;
  std::int64_t* row_ptr;

  SPTILE_HOST_DEVICE void operator()(std::int64_t row) const {
    const std::int64_t i = lower_bound(sorted.keys, sorted.entries, sorted.key.make(row, 0, 0));
    row_ptr[row] = sorted.before == nullptr ? i : sorted.before[i];
  }
};

/// Writes the arrays that are not null.
struct WriteEntries {
  SortedEntries sorted;
  std::int32_t* col_idx;
  std::int64_t *position, *first;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const {
    if (position != nullptr) position[i] = sorted.from[i];
    const std::int64_t place = sorted.place(i);
    if (sorted.starts(i)) {
      col_idx[place] = sorted.key.column(sorted.keys[i]);
      if (first != nullptr) first[place] = i;
    }
    if (first != nullptr && i + 1 == sorted.entries) first[place + 1] = i + 1;
  }
};

/// Returns an array of a CSR matrix under construction.
template <class T>
T* made_array(const void* array) {
  return static_cast<T*>(const_cast<void*>(array));
}

/// Allocates a matrix of this shape, except for the arrays borrowed from `lent`.
template <class Run>
Result<OwnedCsr> make_csr(Run& run, const DeviceCsr& shape, const DeviceCsr& lent = {}) {
  using A = formats::CsrArray;
  const std::int64_t offsets = lent.row_ptr == nullptr ? shape.rows + 1 : 0,
                     columns = lent.col_idx == nullptr ? shape.nnz : 0,
                     values = lent.values == nullptr ? shape.nnz : 0;
  auto format = make_format(run, formats::kCsrLayout, shape, {offsets, columns, values});
  if (!format) return tl::unexpected(format.error());
  OwnedCsr made;
  made.csr = shape;
  made.memory = std::move(format->memory);
  made.borrows = offsets == 0 || columns < shape.nnz || values < shape.nnz;
  made.csr.row_ptr = offsets > 0 ? array_of<std::int64_t>(*format, A::row_ptr) : lent.row_ptr;
  made.csr.col_idx = lent.col_idx == nullptr ? array_of<std::int32_t>(*format, A::col_idx) : lent.col_idx;
  made.csr.values = lent.values == nullptr ? array_of<void>(*format, A::values) : lent.values;
  made.csr.checked = true;
  return made;
}

struct OrderWorkspace {
  std::int64_t *position = nullptr, *first = nullptr;

  void place(Arena& arena, std::int64_t entries, std::int64_t firsts) {
    arena.take(position, entries);
    arena.take(first, firsts);
  }
};

/// Allocates the order of a matrix's values. firsts: 0, or one more than its number of entries.
template <class Run>
Result<OrderWorkspace> make_order(Run& run, std::int64_t entries, std::int64_t firsts, OwnedCsr& made) {
  Arena count;
  OrderWorkspace order;
  order.place(count, entries, firsts);
  auto memory = run.allocate(count.bytes(), "positions of values");
  if (!memory) return tl::unexpected(memory.error());
  made.order_memory = std::move(*memory);
  Arena arena(made.order_memory.get());
  order.place(arena, entries, firsts);
  made.position = ArrayView(DType::i64, order.position, entries);
  if (firsts > 0)
    made.first = ArrayView(DType::i64, order.first, firsts);
  else
    order.first = nullptr;
  return order;
}

/// Implements put_values. Values that are only moved are copied as words.
template <class Run>
void put_values_on(Run& run, const OwnedCsr& a, const void* from, void* to) {
  const DType dtype = a.csr.value_dtype;
  const auto* const position = static_cast<const std::int64_t*>(a.position.data);
  const auto* const first = static_cast<const std::int64_t*>(a.first.data);
  if (!a.position.present()) {
    run.copy(to, from, static_cast<std::size_t>(a.csr.nnz) * size_of(dtype));
  } else if (a.first.present()) {
    visit_value_type(dtype, [&](auto type) {
      using T = decltype(type);
      run.each(a.csr.nnz, SumValues<T>{position, first, static_cast<const T*>(from), static_cast<T*>(to)});
    });
  } else {
    visit_value_word(dtype, [&](auto word) {
      using Word = decltype(word);
      run.each(a.csr.nnz, GatherValues<Word, std::int64_t>{position, static_cast<const Word*>(from),
                                                           static_cast<Word*>(to)});
    });
  }
}

/// Moves values by the 32-bit positions of sorted entries without duplicates.
template <class Run>
void move_sorted_values(Run& run, const SortedEntries& sorted, DType dtype, const void* from, void* to) {
  visit_value_word(dtype, [&](auto word) {
    using Word = decltype(word);
    run.each(sorted.entries,
             GatherValues<Word>{sorted.from, static_cast<const Word*>(from), static_cast<Word*>(to)});
  });
}

/// Builds a matrix of this shape with one entry per distinct position. values: in original order.
template <class Run>
Result<OwnedCsr> csr_of_sorted(Run& run, const SortedEntries& sorted, const DeviceCsr& shape,
                               const void* values, bool with_positions) {
  auto made = make_csr(run, shape);
  if (!made) return made;
  OrderWorkspace order;
  if (with_positions) {
    const auto workspace =
        make_order(run, sorted.entries, sorted.before == nullptr ? 0 : shape.nnz + 1, *made);
    if (!workspace) return tl::unexpected(workspace.error());
    order = *workspace;
  }
  run.each(shape.rows + 1, WriteOffsets{sorted, made_array<std::int64_t>(made->csr.row_ptr)});
  run.each(sorted.entries,
           WriteEntries{sorted, made_array<std::int32_t>(made->csr.col_idx), order.position, order.first});
  if (with_positions)
    put_values_on(run, *made, values, made_array<void>(made->csr.values));
  else
    move_sorted_values(run, sorted, shape.value_dtype, values, made_array<void>(made->csr.values));
  run.wait();
  if (Status s = run.status(); !s) return tl::unexpected(s.error());
  return made;
}

}  // namespace sptile::runtime::cuda
