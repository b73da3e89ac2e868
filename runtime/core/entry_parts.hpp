// Division of the rows of a matrix among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {

/// Returns the number of parts if each part needs `lines` counters: at most the number of threads, and few
/// enough that the counters are small compared with the entries.
inline int parts_for(std::int64_t entries, std::int64_t lines) {
  constexpr std::int64_t kMin = 1 << 14;  // minimum number of entries per thread
  const std::int64_t affordable = entries / std::max(4 * lines, kMin);
  return static_cast<int>(std::clamp<std::int64_t>(affordable, 1, max_threads()));
}

/// Splits the rows into `parts` ranges with about the same number of entries. Returns the first row of each
/// range and the end.
inline std::vector<std::int64_t> part_rows(const formats::CsrView& a, int parts) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(parts) + 1, 0);
  for (int part = 1; part < parts; ++part) {
    const auto target = static_cast<std::int64_t>(static_cast<double>(a.nnz()) * part / parts);
    first[static_cast<std::size_t>(part)] =
        std::lower_bound(a.row_ptr.begin(), a.row_ptr.end() - 1, target) - a.row_ptr.begin();
  }
  first.back() = a.rows;
  return first;
}

}  // namespace sptile::runtime
