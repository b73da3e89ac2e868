// Serialization of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "formats/core/printable.hpp"

namespace sptile::tools {

/// Returns a value as text: valid JSON for strings of any bytes, without terminal control sequences. `indent`
/// < 0: on one line.
inline std::string json_text(const nlohmann::ordered_json& value, int indent = -1) {
  return printable(value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace sptile::tools
