// The table of row orderings.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Returns all orderings.
std::span<const Reorderer> reorderers();

/// Returns the ordering with this name, or nullptr.
const Reorderer* find_reorderer(std::string_view name);

/// Returns the preset of a method with this name, or nullptr.
const Preset* find_preset(const Reorderer& method, std::string_view name);

/// Verifies that names exist and values are in range, and integers if required. Errc::usage names the setting
/// and the valid values.
Status check_settings(const Reorderer& method, std::span<const Setting> settings);

}  // namespace sptile::reorder
