// Row of the table of orderings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "reorder/core/options.hpp"

namespace sptile::reorder {

/// A row ordering.
struct Reorderer {
  std::string_view name;     ///< "degree"
  std::string_view summary;  ///< one line for `sptile list reorderers`
  /// Computes new_to_old from the structure; values are never read. Deterministic for any number of threads.
  /// Accepts every matrix. Errc::io "cancelled" soon after options.progress is cancelled.
  Result<std::vector<std::int32_t>> (*run)(const formats::CsrView&, const ReorderOptions&);
  std::span<const Parameter> parameters = {};
  std::span<const Preset> presets = {};
  bool by_windows = false;  ///< the order depends on options.window_rows
};

}  // namespace sptile::reorder
