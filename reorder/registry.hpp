// The table of row orderings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "reorder/options.hpp"

namespace sptile::reorder {

/// One row of the table.
struct Reorderer {
  std::string_view name;     ///< "degree"
  std::string_view summary;  ///< one line for `sptile list reorderers`
  /// Gives new_to_old. Structure only, values are never read. Same result for any number of threads. Takes
  /// every matrix; Errc::io "cancelled" soon after options.progress says so.
  Result<std::vector<std::int32_t>> (*run)(const formats::CsrView&, const ReorderOptions&);
  std::span<const Parameter> parameters = {};
  std::span<const Preset> presets = {};
};

std::span<const Reorderer> reorderers();

/// Finds a method by name; nullptr when there is none.
const Reorderer* find_reorderer(std::string_view name);

/// Finds a preset of a method by name; nullptr when there is none.
const Preset* find_preset(const Reorderer& method, std::string_view name);

/// Verifies names, ranges and wholeness; Errc::usage names the setting and what the method takes.
Status check_settings(const Reorderer& method, std::span<const Setting> settings);

}  // namespace sptile::reorder
