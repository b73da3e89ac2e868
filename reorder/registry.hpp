// The table of row orderings.
#pragma once

#include "reorder/core/reorderer.hpp"

namespace sptile::reorder {

/// Returns all orderings.
std::span<const Reorderer> reorderers();

/// Finds a method by name; nullptr when there is none.
const Reorderer* find_reorderer(std::string_view name);

/// Finds a preset of a method by name; nullptr when there is none.
const Preset* find_preset(const Reorderer& method, std::string_view name);

/// Verifies names, ranges and wholeness; Errc::usage names the setting and what the method takes.
Status check_settings(const Reorderer& method, std::span<const Setting> settings);

}  // namespace sptile::reorder
