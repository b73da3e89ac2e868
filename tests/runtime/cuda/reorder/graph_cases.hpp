// Matrices for orderings on devices.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/core/random.hpp"
#include "runtime/cuda/device_format.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"

namespace sptile::test {

inline runtime::cuda::DeviceCsr pattern_of(const formats::Csr& a) {
  runtime::cuda::DeviceCsr csr;
  csr.rows = a.rows;
  csr.cols = a.cols;
  csr.nnz = a.nnz();
  csr.row_ptr = a.row_ptr.data();
  csr.col_idx = a.col_idx.data();
  return csr;
}

using Entries = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns the pattern of these entries, which may be repeated.
inline formats::Csr matrix_of(std::int64_t rows, std::int64_t cols, Entries entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  formats::Csr a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  a.col_idx = formats::Buffer<std::int32_t>(std::ssize(entries));
  std::ranges::fill(a.row_ptr, 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ++a.row_ptr[entries[i].first + 1];
    a.col_idx[static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(entries[i].second);
  }
  for (std::int64_t r = 0; r < rows; ++r) a.row_ptr[r + 1] += a.row_ptr[r];
  return a;
}

inline Entries with_transposed(Entries entries) {
  for (std::size_t i = entries.size(); i-- > 0;) entries.emplace_back(entries[i].second, entries[i].first);
  return entries;
}

inline std::vector<ConvertCase> graphs() {
  constexpr std::int64_t n = 3000;
  Entries path, star, stars, cliques, skewed, wheel, loops;
  for (std::int64_t v = 0; v < n; ++v) {
    if (v > 0) path.emplace_back(v - 1, v);
    star.emplace_back(7, v);
    stars.emplace_back(v, v % 20);
    for (std::int64_t u = v / 9 * 9; u < v; ++u) cliques.emplace_back(u, v);
    RandomStream random(5, static_cast<std::uint64_t>(v));
    for (int k = 0; k < 6; ++k) skewed.emplace_back(v, random.below(1 + random.below(1 + random.below(n))));
    wheel.emplace_back(0, v);
    wheel.emplace_back(v, (v + 1) % n);
    loops.emplace_back(v, v);
    if (v % 5 == 0) loops.emplace_back(v, (v * 7 + 1) % n);
  }
  std::vector<ConvertCase> cases;
  cases.push_back({"path", matrix_of(n, n, path)});
  cases.push_back({"symmetric path", matrix_of(n, n, with_transposed(path))});
  cases.push_back({"star: one row longer than a block", matrix_of(n, n, star)});
  cases.push_back({"stars with common leaves", matrix_of(n, n, stars)});
  cases.push_back({"disconnected cliques", matrix_of(n, n, cliques)});
  cases.push_back({"skewed degrees", matrix_of(n, n, skewed)});
  cases.push_back({"symmetric, skewed degrees", matrix_of(n, n, with_transposed(skewed))});
  cases.push_back({"bipartite, skewed degrees", matrix_of(n, n + 1, skewed)});
  cases.push_back({"wheel", matrix_of(n, n, wheel)});
  cases.push_back({"loops and isolated vertices", matrix_of(n, n, loops)});
  return cases;
}

/// Communities of different sizes with links between them, so that vertices choose several times.
inline formats::Csr planted(std::int64_t n, std::int64_t degree, std::uint64_t seed) {
  Entries entries;
  for (std::int64_t v = 0; v < n; ++v) {
    RandomStream random(seed, static_cast<std::uint64_t>(v));
    const std::int64_t size = 20 + 30 * (v / 400 % 7), first = v / size * size;
    for (std::int64_t k = 0; k < degree; ++k)
      entries.emplace_back(
          v, random.below(4) == 0 ? random.below(n) : std::min(n - 1, first + random.below(size)));
  }
  return matrix_of(n, n, with_transposed(entries));
}

}  // namespace sptile::test
