// Rows of a matrix shared out among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {

/// Parts worth having where each costs `lines` numbers: few enough that these stay small beside the entries.
inline int parts_for(std::int64_t entries, std::int64_t lines) {
  constexpr std::int64_t kFewest = 1 << 14;  // entries that are worth a thread
  const std::int64_t affordable = entries / std::max(4 * lines, kFewest);
  return static_cast<int>(std::clamp<std::int64_t>(affordable, 1, most_threads()));
}

/// Cuts the rows into runs of about as many entries each: the first row of each, and the end.
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
