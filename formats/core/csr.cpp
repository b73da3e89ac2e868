#include "formats/core/csr.hpp"

#include <tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <string>
#include <vector>

#include "formats/core/counting_sort.hpp"
#include "formats/core/invert_lists.hpp"
#include "formats/core/parallel_loop.hpp"
#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

constexpr std::int64_t kCopyGrain = 1 << 20;  // bytes

void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  parallel::loop(tbb::blocked_range<std::int64_t>(0, bytes, kCopyGrain), [&](const auto& range) {
    std::memcpy(static_cast<char*>(to) + range.begin(), static_cast<const char*>(from) + range.begin(),
                static_cast<std::size_t>(range.end() - range.begin()));
  });
}

template <class T>
Buffer<T> copy_of(std::span<const T> source) {
  Buffer<T> result(static_cast<std::int64_t>(source.size()));
  copy_bytes(result.data(), source.data(), static_cast<std::int64_t>(source.size_bytes()));
  return result;
}

Array values_for(const CsrView& a) { return a.is_pattern() ? Array() : Array(a.values.dtype, a.nnz()); }

// Partitions the rows into `parts` ranges of similar nnz. Returns the first row of each range, then the
// number of rows.
std::vector<std::int64_t> balanced_rows(const CsrView& a, int parts) {
  std::vector<std::int64_t> first_row;
  for (int part = 0; part < parts; ++part) {
    const auto target = static_cast<std::int64_t>(static_cast<double>(a.nnz()) * part / parts);
    first_row.push_back(std::lower_bound(a.row_ptr.begin(), a.row_ptr.end() - 1, target) - a.row_ptr.begin());
  }
  first_row.front() = 0;
  first_row.push_back(a.rows);
  return first_row;
}

}  // namespace

Csr copy(const CsrView& a) {
  Csr result{a.rows, a.cols, copy_of(a.row_ptr), copy_of(a.col_idx), values_for(a)};
  if (!a.is_pattern()) copy_bytes(result.values.data(), a.values.data, a.values.bytes());
  return result;
}

Csr transpose(const CsrView& a) {
  if (a.is_pattern()) {
    InverseLists inverse = invert_lists(a.cols, a.row_ptr, [&](std::int64_t row) {
      return a.col_idx.subspan(static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]),
                               static_cast<std::size_t>(a.row_nnz(row)));
    });
    return {a.cols, a.rows, std::move(inverse.first), std::move(inverse.items), {}};
  }
  Csr t{a.cols, a.rows, {}, Buffer<std::int32_t>(a.nnz()), values_for(a)};
  const int parts = sort_parts(a.nnz(), a.cols);
  const std::vector<std::int64_t> first_row = balanced_rows(a, parts);
  const auto visit = [&](int part, auto&& sink) {
    const auto p = static_cast<std::size_t>(part);
    for (std::int64_t row = first_row[p]; row < first_row[p + 1]; ++row) {
      const std::int64_t end = a.row_ptr[static_cast<std::size_t>(row) + 1];
      for (std::int64_t i = a.row_ptr[static_cast<std::size_t>(row)]; i < end; ++i)
        sink(a.col_idx[static_cast<std::size_t>(i)], static_cast<std::int32_t>(row), i);
    }
  };
  visit_word(a.values.dtype, [&](auto word) {
    using Bits = decltype(word);
    const auto* from = static_cast<const Bits*>(a.values.data);
    auto* to = static_cast<Bits*>(t.values.data());
    t.row_ptr =
        counting_sort(a.cols, parts, visit, [&](std::int64_t at, std::int32_t row, std::int64_t source) {
          t.col_idx[at] = row;
          to[at] = from[source];
        });
  });
  return t;
}

Csr permute_rows(const CsrView& a, std::span<const std::int32_t> new_to_old) {
  assert(check_permutation(new_to_old, a.rows));
  Csr result{a.rows, a.cols, Buffer<std::int64_t>(a.rows + 1), Buffer<std::int32_t>(a.nnz()), values_for(a)};
  result.row_ptr[0] = 0;
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 4096), [&](const auto& range) {
    for (std::int64_t row = range.begin(); row < range.end(); ++row)
      result.row_ptr[row + 1] = a.row_nnz(new_to_old[static_cast<std::size_t>(row)]);
  });
  for (std::int64_t row = 0; row < a.rows; ++row) result.row_ptr[row + 1] += result.row_ptr[row];

  const auto width = static_cast<std::int64_t>(size_of(a.values.dtype));
  const auto* from = static_cast<const char*>(a.values.data);
  auto* to = static_cast<char*>(result.values.data());
  parallel::loop(tbb::blocked_range<std::int64_t>(0, a.rows, 256), [&](const auto& range) {
    for (std::int64_t row = range.begin(); row < range.end(); ++row) {
      const auto old = static_cast<std::size_t>(new_to_old[static_cast<std::size_t>(row)]);
      const std::int64_t source = a.row_ptr[old], count = a.row_ptr[old + 1] - source;
      const std::int64_t target = result.row_ptr[row];
      std::copy_n(a.col_idx.data() + source, count, result.col_idx.data() + target);
      if (width != 0 && count != 0)
        std::memcpy(to + target * width, from + source * width, static_cast<std::size_t>(count * width));
    }
  });
  return result;
}

Status check_permutation(std::span<const std::int32_t> new_to_old, std::int64_t n) {
  if (static_cast<std::int64_t>(new_to_old.size()) != n)
    return fail(Errc::bad_input, "a permutation of " + std::to_string(n) +
                                     " rows requires one id per row, got " +
                                     std::to_string(new_to_old.size()));
  std::vector<bool> seen(new_to_old.size(), false);
  for (std::size_t i = 0; i < new_to_old.size(); ++i) {
    const std::int32_t id = new_to_old[i];
    const auto describe = [&](const std::string& what) {
      return fail(Errc::bad_input,
                  "row id " + std::to_string(id) + " at position " + std::to_string(i) + " " + what);
    };
    if (id < 0 || id >= n) return describe("is not in 0.." + std::to_string(n - 1));
    if (seen[static_cast<std::size_t>(id)]) return describe("occurs twice; each row must occur once");
    seen[static_cast<std::size_t>(id)] = true;
  }
  return {};
}

Array convert_values(ArrayView values, DType to) {
  if (!values.present()) return {};
  Array result(to, values.size);
  visit_value_type(values.dtype, [&](auto from_type) {
    visit_value_type(to, [&](auto to_type) {
      using From = typename decltype(from_type)::type;
      using To = typename decltype(to_type)::type;
      const From* source = values.as<From>().data();
      To* target = result.as<To>().data();
      parallel::loop(tbb::blocked_range<std::int64_t>(0, values.size, kCopyGrain / 8),
                     [&](const auto& range) {
                       for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                         if constexpr (std::is_same_v<From, To>)
                           target[i] = source[i];
                         else
                           target[i] = round_to<To>(widen(source[i]));
                       }
                     });
    });
  });
  return result;
}

bool identical(const CsrView& a, const CsrView& b) {
  const auto same_bytes = [](const void* x, const void* y, std::size_t bytes) {
    return bytes == 0 || std::memcmp(x, y, bytes) == 0;
  };
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr.size() == b.row_ptr.size() && a.nnz() == b.nnz() &&
         a.values.dtype == b.values.dtype && a.values.size == b.values.size &&
         same_bytes(a.row_ptr.data(), b.row_ptr.data(), a.row_ptr.size_bytes()) &&
         same_bytes(a.col_idx.data(), b.col_idx.data(), a.col_idx.size_bytes()) &&
         same_bytes(a.values.data, b.values.data, static_cast<std::size_t>(a.values.bytes()));
}

}  // namespace sptile::formats
