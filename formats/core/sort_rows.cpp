// sort_columns and sort_and_sum_duplicates, declared in csr.hpp.
#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/core/csr.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/parallel_sort.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

// Sort key of an entry: its column, then its position, which makes every sort stable. 64 bits for rows of
// normal length, 128 bits for longer ones.
struct ShortKey {
  static constexpr std::int64_t kLongestRow = std::int64_t{1} << 32;
  std::uint64_t bits;
  ShortKey() = default;
  ShortKey(std::int32_t col, std::int64_t position)
      : bits(static_cast<std::uint64_t>(col) << 32 | static_cast<std::uint64_t>(position)) {}
  [[nodiscard]] std::int32_t col() const { return static_cast<std::int32_t>(bits >> 32); }
  [[nodiscard]] std::int64_t position() const { return static_cast<std::int64_t>(bits & 0xffffffffu); }
  friend bool operator<(ShortKey a, ShortKey b) { return a.bits < b.bits; }
};
struct LongKey : std::pair<std::int32_t, std::int64_t> {
  using pair::pair;
  [[nodiscard]] std::int32_t col() const { return first; }
  [[nodiscard]] std::int64_t position() const { return second; }
};

// Sorts the entries [begin, end) of one row. The vectors are workspace that is reused for the next rows.
template <class Key, class T>
void sort_row(Csr& a, std::int64_t begin, std::int64_t end, T* values, std::vector<Key>& keys,
              std::vector<T>& moved) {
  constexpr std::size_t kWorthThreads = 1 << 16;
  keys.clear();
  for (std::int64_t i = begin; i < end; ++i) keys.emplace_back(a.col_idx[i], i - begin);
  if (keys.size() < kWorthThreads)
    std::sort(keys.begin(), keys.end());
  else
    parallel::sort(keys.begin(), keys.end());
  if constexpr (!std::is_same_v<T, NoValue>) moved.assign(values + begin, values + end);
  for (std::int64_t i = begin; i < end; ++i) {
    const Key& key = keys[static_cast<std::size_t>(i - begin)];
    a.col_idx[i] = key.col();
    if constexpr (!std::is_same_v<T, NoValue>) values[i] = moved[static_cast<std::size_t>(key.position())];
  }
}

// Sorts the rows that are not sorted. Returns the number of entries that repeat the previous column.
template <class T>
std::int64_t sort_rows(Csr& a, T* values) {
  std::atomic<std::int64_t> repeated{0};
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 1024), [&](const auto& range) {
    std::vector<ShortKey> short_keys;
    std::vector<LongKey> long_keys;
    std::vector<T> moved;
    std::int64_t repeated_here = 0;
    for (std::int64_t row = range.begin(); row < range.end(); ++row) {
      const std::int64_t begin = a.row_ptr[row], end = a.row_ptr[row + 1];
      const std::int32_t *first = a.col_idx.data() + begin, *last = a.col_idx.data() + end;
      if (std::adjacent_find(first, last, std::greater_equal<>()) == last) continue;  // strictly increasing
      if (!std::is_sorted(first, last)) {
        if (end - begin < ShortKey::kLongestRow)
          sort_row(a, begin, end, values, short_keys, moved);
        else
          sort_row(a, begin, end, values, long_keys, moved);
      }
      for (const std::int32_t* col = first + 1; col < last; ++col) repeated_here += col[0] == col[-1];
    }
    repeated += repeated_here;
  });
  return repeated;
}

// Sums duplicates in double, rounding once, and removes the gaps.
template <class T>
void merge_repeated(Csr& a, T* values) {
  std::int64_t kept = 0, begin = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t end = a.row_ptr[row + 1];
    for (std::int64_t i = begin; i < end; ++kept) {
      const std::int32_t col = a.col_idx[i];
      std::int64_t next = i + 1;
      while (next < end && a.col_idx[next] == col) ++next;
      if constexpr (!std::is_same_v<T, NoValue>) {
        values[kept] = values[i];
        if (next > i + 1) {
          double sum = widen(values[i]);
          for (std::int64_t j = i + 1; j < next; ++j) sum += widen(values[j]);
          values[kept] = round_to<T>(sum);
        }
      }
      a.col_idx[kept] = col;
      i = next;
    }
    begin = end;
    a.row_ptr[row + 1] = kept;
  }
  a.col_idx.truncate(kept);
}

template <class T>
std::int64_t sort_and_sum(Csr& a, T* values) {
  const std::int64_t repeated = sort_rows(a, values);
  if (repeated > 0) merge_repeated(a, values);
  return repeated;
}

// Calls f(values), or f with a null NoValue pointer for a pattern.
template <class F>
std::int64_t visit_values(Csr& a, const F& f) {
  if (!a.values.present()) return f(static_cast<NoValue*>(nullptr));
  return visit_value_type(a.values.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    return f(a.values.as<T>().data());
  });
}

}  // namespace

std::int64_t sort_columns(Csr& a) {
  return visit_values(a, [&](auto* values) { return sort_rows(a, values); });
}

std::int64_t sort_and_sum_duplicates(Csr& a) {
  const std::int64_t repeated = visit_values(a, [&](auto* values) { return sort_and_sum(a, values); });
  if (a.values.present()) a.values.truncate(a.nnz());
  return repeated;
}

}  // namespace sptile::formats
