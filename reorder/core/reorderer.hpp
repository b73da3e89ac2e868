// One row of the table of row orderings.
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
  /// Gives new_to_old. Structure only, values are never read. Same result for any number of threads. Takes
  /// every matrix; Errc::io "cancelled" soon after options.progress says so.
  Result<std::vector<std::int32_t>> (*run)(const formats::CsrView&, const ReorderOptions&);
  std::span<const Parameter> parameters = {};
  std::span<const Preset> presets = {};
};

}  // namespace sptile::reorder
