#include "formats/core/sort_entries.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "formats/core/counting_sort.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kMostEntries = std::numeric_limits<std::int32_t>::max();

// Number of parts of a counting sort, and the items of each.
struct Shares {
  std::int64_t items;
  int parts;
  Shares(std::int64_t count, std::int64_t keys, int threads)
      : items(count), parts(std::clamp(threads, 1, sort_parts(count, keys))) {}
  [[nodiscard]] std::int64_t begin(int part) const { return items * part / parts; }
};

template <class Id>
Status check_range(std::span<const Id> ids, std::int64_t size, std::string_view what) {
  const auto bound = static_cast<std::uint64_t>(size);
  bool fits = true;
  for (const Id id : ids) fits &= static_cast<std::uint64_t>(id) < bound;
  if (fits) return {};
  const auto bad = std::find_if(ids.begin(), ids.end(), [&](Id id) { return id < 0 || id >= size; });
  return fail(Errc::bad_input, std::string(what) + "[" + std::to_string(bad - ids.begin()) + "] is " +
                                   std::to_string(*bad) + "; expected 0 to " + std::to_string(size - 1));
}

template <class Id>
bool ascends_strictly(const EntryIds<Id>& ids) {
  for (std::size_t i = 1; i < ids.row.size(); ++i)
    if (ids.row[i] < ids.row[i - 1] || (ids.row[i] == ids.row[i - 1] && ids.col[i] <= ids.col[i - 1]))
      return false;
  return true;
}

// Writes the given entries to out.source in CSR order: sorts by column, then stably by row.
template <class Id>
void order_by_place(const EntryIds<Id>& ids, std::span<std::int32_t> source, int threads) {
  const auto count = static_cast<std::int64_t>(ids.row.size());
  Buffer<std::int32_t> by_column(count);
  const Shares columns(count, ids.cols, threads);
  counting_sort(
      ids.cols, columns.parts,
      [&](int part, const auto& sink) {
        for (std::int64_t i = columns.begin(part); i < columns.begin(part + 1); ++i)
          sink(ids.col[static_cast<std::size_t>(i)], i);
      },
      [&](std::int64_t at, std::int64_t i) { by_column[at] = static_cast<std::int32_t>(i); });
  const Shares rows(count, ids.rows, threads);
  counting_sort(
      ids.rows, rows.parts,
      [&](int part, const auto& sink) {
        for (std::int64_t i = rows.begin(part); i < rows.begin(part + 1); ++i)
          sink(ids.row[static_cast<std::size_t>(by_column[i])], by_column[i]);
      },
      [&](std::int64_t at, std::int32_t i) { source[static_cast<std::size_t>(at)] = i; });
}

}  // namespace

template <class Id>
Status check_ids(const EntryIds<Id>& ids) {
  const Status rows = check_range(ids.row, ids.rows, "row");
  return rows ? check_range(ids.col, ids.cols, "col") : rows;
}

template Status check_ids(const EntryIds<std::int32_t>&);
template Status check_ids(const EntryIds<std::int64_t>&);

template <class Id>
Result<SortResult> sort_entries(const EntryIds<Id>& ids, const SortedEntries& out, int threads) {
  const std::size_t count = ids.row.size();
  if (static_cast<std::int64_t>(count) > kMostEntries)
    return fail(Errc::unsupported, std::to_string(count) + " entries: more than 2^31 - 1");
  if (Status s = check_ids(ids); !s) return tl::unexpected(s.error());
  const auto row_ptr = out.row_ptr.first(static_cast<std::size_t>(ids.rows) + 1);
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  const auto count_row = [&](Id row) { ++row_ptr[static_cast<std::size_t>(row) + 1]; };
  std::size_t nnz = 0;
  const bool is_ordered = ascends_strictly(ids);
  if (is_ordered) {
    for (; nnz < count; ++nnz) {
      out.col_idx[nnz] = static_cast<std::int32_t>(ids.col[nnz]);
      count_row(ids.row[nnz]);
    }
  } else {
    order_by_place(ids, out.source, threads);
    Id row = -1, col = -1;
    for (std::size_t k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(out.source[k]);
      if (ids.row[i] != row || ids.col[i] != col) {
        row = ids.row[i], col = ids.col[i];
        out.col_idx[nnz++] = static_cast<std::int32_t>(col);
        count_row(row);
      }
      out.position[i] = static_cast<std::int32_t>(nnz - 1);
    }
  }
  for (std::size_t row = 1; row < row_ptr.size(); ++row) row_ptr[row] += row_ptr[row - 1];
  return SortResult{static_cast<std::int64_t>(nnz), is_ordered};
}

template Result<SortResult> sort_entries(const EntryIds<std::int32_t>&, const SortedEntries&, int);
template Result<SortResult> sort_entries(const EntryIds<std::int64_t>&, const SortedEntries&, int);

void transpose_entries(const CsrView& a, const SortedEntries& out, int threads) {
  const Shares columns(a.nnz(), a.cols, threads);
  const auto starts = counting_sort(
      a.cols, columns.parts,
      [&](int part, const auto& sink) {
        const std::int64_t end = columns.begin(part + 1);
        std::int64_t i = columns.begin(part);
        auto row = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), i) - a.row_ptr.begin() - 1;
        for (; i < end; ++i) {
          while (a.row_ptr[static_cast<std::size_t>(row) + 1] <= i) ++row;
          sink(a.col_idx[static_cast<std::size_t>(i)], row, i);
        }
      },
      [&](std::int64_t at, std::int64_t row, std::int64_t i) {
        out.col_idx[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(row);
        out.source[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(i);
      });
  std::copy(starts.begin(), starts.end(), out.row_ptr.begin());
}

}  // namespace sptile::formats
