// The table of row orderings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/csr_view.hpp"
#include "formats/error.hpp"
#include "formats/progress.hpp"

namespace sptile::reorder {

struct ReorderOptions {
  std::uint64_t seed = 1;  ///< of every random choice
  int window_rows = 8;     ///< height that window-aware methods aim at
  Progress* progress = nullptr;
};

/// One row of the table.
struct Reorderer {
  std::string_view name;     ///< "degree"
  std::string_view summary;  ///< one line for `sptile list reorderers`
  bool needs_square;
  /// Gives new_to_old. Structure only, values are never read. Same result for any number of threads.
  Result<std::vector<std::int32_t>> (*run)(const formats::CsrView&, const ReorderOptions&);
};

std::span<const Reorderer> reorderers();

/// Finds a method by name; nullptr when there is none.
const Reorderer* find_reorderer(std::string_view name);

}  // namespace sptile::reorder
