// Entries in every form that applications use, and the expected matrix.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/cuda/device_input.hpp"
#include "tests/runtime/random_problem.hpp"

namespace sptile::test {

/// Entries in host memory.
struct Entries {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> row, col;
  formats::Array values;

  [[nodiscard]] std::int64_t size() const { return std::ssize(row); }
};

/// Returns the entries of a matrix in order.
inline Entries entries_of(const formats::Csr& a) {
  Entries e{a.rows, a.cols, {}, {}, {}};
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i) {
      e.row.push_back(r);
      e.col.push_back(a.col_idx[i]);
    }
  if (a.values.present()) e.values = formats::convert_values(a.values.view(), a.values.dtype());
  return e;
}

/// Returns entries of others: entry i is entry chosen[i].
inline Entries choose(const Entries& e, const std::vector<std::int64_t>& chosen) {
  Entries result{e.rows, e.cols, {}, {}, {}};
  const std::size_t width = size_of(e.values.dtype());
  if (e.values.present()) result.values = formats::Array(e.values.dtype(), std::ssize(chosen));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto from = static_cast<std::size_t>(chosen[i]);
    result.row.push_back(e.row[from]);
    result.col.push_back(e.col[from]);
    if (width > 0)
      std::memcpy(static_cast<char*>(result.values.data()) + i * width,
                  static_cast<const char*>(e.values.data()) + from * width, width);
  }
  return result;
}

/// Returns the entry indices in random order, or in random order within rows.
inline std::vector<std::int64_t> shuffled(const Entries& e, bool inside_rows, Random& random) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(e.size()));
  std::iota(chosen.begin(), chosen.end(), 0);
  std::shuffle(chosen.begin(), chosen.end(), random);
  if (inside_rows)
    std::stable_sort(chosen.begin(), chosen.end(), [&](std::int64_t x, std::int64_t y) {
      return e.row[static_cast<std::size_t>(x)] < e.row[static_cast<std::size_t>(y)];
    });
  return chosen;
}

/// Returns the matrix that the CPU assembles from the entries.
inline formats::Csr summed(const Entries& e) {
  std::vector<std::int64_t> by_row(static_cast<std::size_t>(e.size()));
  std::iota(by_row.begin(), by_row.end(), 0);
  std::stable_sort(by_row.begin(), by_row.end(), [&](std::int64_t x, std::int64_t y) {
    return e.row[static_cast<std::size_t>(x)] < e.row[static_cast<std::size_t>(y)];
  });
  Entries sorted = choose(e, by_row);
  formats::Csr a{e.rows, e.cols, formats::Buffer<std::int64_t>(e.rows + 1),
                 formats::Buffer<std::int32_t>(e.size()), std::move(sorted.values)};
  for (std::int64_t r = 0; r <= e.rows; ++r)
    a.row_ptr[r] = std::lower_bound(sorted.row.begin(), sorted.row.end(), r) - sorted.row.begin();
  for (std::size_t i = 0; i < sorted.col.size(); ++i)
    a.col_idx[static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(sorted.col[i]);
  formats::sort_and_sum_duplicates(a);
  return a;
}

/// Converts ids to 32 or 64 bits.
inline std::vector<std::byte> as_ids(const std::vector<std::int64_t>& numbers, DType type) {
  const std::size_t width = size_of(type);
  std::vector<std::byte> bytes(width * numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto narrow = static_cast<std::int32_t>(numbers[i]);
    const void* const from = type == DType::i32 ? static_cast<const void*>(&narrow) : &numbers[i];
    std::memcpy(bytes.data() + width * i, from, width);
  }
  return bytes;
}

/// Form in which entries are passed.
struct EntryForm {
  bool csr;
  DType row, col;

  [[nodiscard]] std::string name() const {
    return std::string(csr ? "csr " : "coo ") + std::string(name_of(row)) + " " + std::string(name_of(col));
  }
};
inline constexpr EntryForm kEntryForms[] = {{true, DType::i64, DType::i32},  {true, DType::i32, DType::i32},
                                            {true, DType::i32, DType::i64},  {true, DType::i64, DType::i64},
                                            {false, DType::i32, DType::i32}, {false, DType::i64, DType::i64},
                                            {false, DType::i32, DType::i64}, {false, DType::i64, DType::i32}};

/// Arrays in some form, with the values of the entries. Entries of a CSR matrix are in row order.
struct EntryArrays {
  std::vector<std::byte> row, col;
  runtime::cuda::DeviceEntries view;

  EntryArrays(Entries&&, const EntryForm&) = delete;
  EntryArrays(const Entries& e, const EntryForm& form) : col(as_ids(e.col, form.col)) {
    if (form.csr) {
      std::vector<std::int64_t> offsets(static_cast<std::size_t>(e.rows + 1));
      for (std::size_t r = 0; r < offsets.size(); ++r)
        offsets[r] =
            std::lower_bound(e.row.begin(), e.row.end(), static_cast<std::int64_t>(r)) - e.row.begin();
      row = as_ids(offsets, form.row);
    } else {
      row = as_ids(e.row, form.row);
    }
    view = {e.rows,   e.cols,     e.size(), row.data(),      form.row,
            form.csr, col.data(), form.col, e.values.data(), e.values.dtype()};
  }
};

}  // namespace sptile::test
