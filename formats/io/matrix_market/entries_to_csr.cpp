#include "formats/io/matrix_market/entries_to_csr.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "formats/core/counting_sort.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/value_types.hpp"
#include "formats/io/entries/sparse_arrays.hpp"
#include "formats/io/files/claim.hpp"

namespace sptile::formats {
namespace {

// Calls f(segment, first, last, position of the first) for the contiguous ranges of entries [begin, end).
template <class F>
void for_each_run(EntryStore& store, std::int64_t begin, std::int64_t end, const F& f) {
  std::int64_t position = 0;
  for (const EntryPiece& piece : store.pieces()) {
    const std::int64_t from = std::max(begin, position), to = std::min(end, position + piece.count);
    const std::int64_t shift = piece.begin - position;
    if (from < to) f(store.segments()[piece.segment], from + shift, to + shift, from);
    position += piece.count;
  }
}

// Returns row_ptr of entries whose rows never decrease.
Buffer<std::int64_t> row_pointers(EntryStore& store, std::int64_t rows) {
  Buffer<std::int64_t> row_ptr(rows + 1);
  const std::int64_t entries = store.entries();
  const auto row_of = [&](std::int64_t i) {
    std::int64_t row = -1;
    if (i >= 0)
      for_each_run(store, i, i + 1,
                   [&](const EntrySegment& segment, std::int64_t at, auto...) { row = segment.rows[at]; });
    return row;
  };
  parallel::loop(tbb::blocked_range<std::int64_t>(0, entries, 1 << 16), [&](const auto& range) {
    std::int64_t previous = row_of(range.begin() - 1);
    for_each_run(store, range.begin(), range.end(),
                 [&](const EntrySegment& segment, std::int64_t first, std::int64_t last, std::int64_t at) {
                   for (std::int64_t i = first; i < last; ++i)
                     while (previous < segment.rows[i]) row_ptr[++previous] = at + i - first;
                 });
  });
  std::fill(row_ptr.begin() + row_of(entries - 1) + 1, row_ptr.end(), entries);
  return row_ptr;
}

bool in_one_run(EntryStore& store) { return store.pieces().size() == 1 && store.pieces().front().begin == 0; }

// Moves columns and values, in file order, into the matrix; copies them if they are in several segments.
void take_entries(EntryStore& store, Csr& csr) {
  const std::int64_t entries = store.entries();
  if (in_one_run(store)) {
    EntrySegment& segment = store.segments()[store.pieces().front().segment];
    csr.col_idx = std::move(segment.cols);
    csr.col_idx.truncate(entries);
    csr.values = std::move(segment.values);
    if (csr.values.present()) csr.values.truncate(entries);
    return;
  }
  csr.col_idx = Buffer<std::int32_t>(entries);
  if (entries == 0) return;
  const Array& first_values = store.segments()[store.pieces().front().segment].values;
  if (first_values.present()) csr.values = Array(first_values.dtype(), entries);
  const auto width = static_cast<std::int64_t>(size_of(csr.values.dtype()));
  parallel::loop(tbb::blocked_range<std::int64_t>(0, entries, 1 << 16), [&](const auto& range) {
    for_each_run(store, range.begin(), range.end(),
                 [&](const EntrySegment& segment, std::int64_t first, std::int64_t last, std::int64_t at) {
                   std::copy(segment.cols.data() + first, segment.cols.data() + last,
                             csr.col_idx.data() + at);
                   if (width != 0)
                     std::memcpy(static_cast<char*>(csr.values.data()) + at * width,
                                 static_cast<const char*>(segment.values.data()) + first * width,
                                 static_cast<std::size_t>((last - first) * width));
                 });
  });
}

// Relation of the other triangle to the stored one.
enum class Mirror { none, same, negated };

Mirror mirror_of(MtxSymmetry symmetry) {
  if (symmetry == MtxSymmetry::general) return Mirror::none;
  return symmetry == MtxSymmetry::skew_symmetric ? Mirror::negated
                                                 : Mirror::same;  // Hermitian: the real part
}

double negated(double x) { return -x; }
float negated(float x) { return -x; }
NoValue negated(NoValue x) { return x; }
template <class T>
T negated(T x) {
  return {static_cast<std::uint16_t>(x.bits ^ 0x8000u)};
}

std::int64_t expanded_size(EntryStore& store, Mirror mirror) {
  if (mirror == Mirror::none) return store.entries();
  std::int64_t mirrored = 0;
  for_each_run(store, 0, store.entries(),
               [&](const EntrySegment& segment, std::int64_t first, std::int64_t last, auto) {
                 for (std::int64_t i = first; i < last; ++i) mirrored += segment.rows[i] != segment.cols[i];
               });
  return store.entries() + mirrored;
}

// Calls sink(row, column, value) for entries [begin, end), each followed by its mirror image.
template <class T, class Sink>
void for_each_entry(EntryStore& store, Mirror mirror, std::int64_t begin, std::int64_t end, Sink&& sink) {
  for_each_run(store, begin, end,
               [&](const EntrySegment& segment, std::int64_t first, std::int64_t last, auto) {
                 const auto* source = static_cast<const T*>(segment.values.data());
                 for (std::int64_t i = first; i < last; ++i) {
                   const std::int32_t row = segment.rows[i], col = segment.cols[i];
                   T value{};
                   if constexpr (!std::is_same_v<T, NoValue>) value = source[i];
                   sink(row, col, value);
                   if (mirror != Mirror::none && row != col)
                     sink(col, row, mirror == Mirror::negated ? negated(value) : value);
                 }
               });
}

template <class T>
void scatter(EntryStore& store, Mirror mirror, Csr& csr, T* values) {
  const std::int64_t entries = store.entries();
  const int parts = sort_parts(entries, csr.rows);
  const auto visit = [&](int part, auto&& sink) {
    const auto bound = [&](int p) {
      return entries / parts * p + std::min<std::int64_t>(p, entries % parts);
    };
    for_each_entry<T>(store, mirror, bound(part), bound(part + 1), sink);
  };
  csr.row_ptr = counting_sort(csr.rows, parts, visit, [&](std::int64_t at, std::int32_t col, T value) {
    csr.col_idx[at] = col;
    if constexpr (!std::is_same_v<T, NoValue>) values[at] = value;
  });
}

void scatter_entries(EntryStore& store, const MtxHeader& header, DType dtype, Csr& csr) {
  const Mirror mirror = mirror_of(header.symmetry);
  const std::int64_t entries = expanded_size(store, mirror);
  csr.col_idx = Buffer<std::int32_t>(entries);
  if (dtype == DType::none) return scatter(store, mirror, csr, static_cast<NoValue*>(nullptr));
  csr.values = Array(dtype, entries);
  visit_value_type(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    scatter(store, mirror, csr, csr.values.as<T>().data());
  });
}

template <class T>
void list_entries(EntryStore& store, Mirror mirror, SparseArrays& list, T* values) {
  std::int64_t at = 0;
  for_each_entry<T>(store, mirror, 0, store.entries(), [&](std::int32_t row, std::int32_t col, T value) {
    list.row_ids[at] = row;
    list.ids[at] = col;
    if constexpr (!std::is_same_v<T, NoValue>) values[at] = value;
    ++at;
  });
}

// Returns all entries, including mirror images.
SparseArrays entry_list(EntryStore& store, const MtxHeader& header, DType dtype) {
  const Mirror mirror = mirror_of(header.symmetry);
  SparseArrays list;
  list.layout = ArrayLayout::coo;
  list.rows = header.rows, list.cols = header.cols;
  list.integers = header.field == MtxField::integer;
  list.row_ids = claim<std::int32_t>(expanded_size(store, mirror));
  list.ids = claim<std::int32_t>(list.row_ids.size());
  if (dtype == DType::none) {
    list_entries(store, mirror, list, static_cast<NoValue*>(nullptr));
    return list;
  }
  list.values = claim(dtype, list.ids.size());
  visit_value_type(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    list_entries(store, mirror, list, list.values.as<T>().data());
  });
  return list;
}

// Sets rows and columns of array files, which list values by columns (of the lower triangle if there is a
// symmetry).
void number_array_entries(EntryStore& store, const MtxHeader& header) {
  const bool triangle = header.symmetry != MtxSymmetry::general;
  const int below = header.symmetry == MtxSymmetry::skew_symmetric ? 1 : 0;
  std::int64_t row = below, col = 0;
  for (EntrySegment& segment : store.segments()) {
    segment.rows = Buffer<std::int32_t>(segment.used);
    segment.cols = Buffer<std::int32_t>(segment.used);
  }
  for_each_run(store, 0, store.entries(),
               [&](EntrySegment& segment, std::int64_t first, std::int64_t last, auto) {
                 for (std::int64_t i = first; i < last; ++i) {
                   segment.rows[i] = static_cast<std::int32_t>(row);
                   segment.cols[i] = static_cast<std::int32_t>(col);
                   if (++row == header.rows) row = triangle ? ++col + below : (++col, 0);
                 }
               });
}

// Checks the memory for row pointers, the sort's second array of them, and arrays not taken over from the
// store.
Status check_memory_of(const MtxHeader& header, EntryStore& store, bool in_order, std::int64_t memory_limit) {
  const bool taken = in_order && (store.entries() == 0 || in_one_run(store));
  const std::int64_t copies = mirror_of(header.symmetry) == Mirror::none ? 1 : 2;
  const auto width = static_cast<std::int64_t>(size_of(store.dtype()));
  const std::int64_t per_entry = copies * (4 + width) + (header.coordinate ? 0 : 8);
  return check_copy_memory(header.rows, in_order ? 1 : 2, taken ? 0 : store.entries(), per_entry,
                           memory_limit);
}

}  // namespace

Result<AssembledCsr> entries_to_csr(const MtxHeader& header, EntryStore& store, bool sorted, DType dtype,
                                    std::int64_t memory_limit, bool compress_rows) {
  if (compress_rows && header.coordinate && mostly_empty(header.rows, 2 * store.entries()))
    return assemble(entry_list(store, header, store.dtype()), "", true);
  const bool in_order = sorted && header.coordinate && header.symmetry == MtxSymmetry::general;
  if (Status fits = check_memory_of(header, store, in_order, memory_limit); !fits)
    return tl::unexpected(fits.error());

  AssembledCsr result;
  Csr& csr = result.csr;
  csr.rows = header.rows;
  csr.cols = header.cols;
  if (!header.coordinate) number_array_entries(store, header);
  if (in_order) {
    csr.row_ptr = row_pointers(store, header.rows);
    take_entries(store, csr);
  } else {
    scatter_entries(store, header, store.dtype(), csr);
  }
  if (header.field != MtxField::pattern && !csr.values.present()) csr.values = Array(store.dtype(), 0);
  store = EntryStore(header, store.dtype(), 0, 1);
  result.integers = header.field == MtxField::integer || header.field == MtxField::pattern;
  result.duplicates = sum_entries(csr, dtype, result.integers, result.loss);
  return result;
}

}  // namespace sptile::formats
