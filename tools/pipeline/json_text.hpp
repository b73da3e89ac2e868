// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "formats/core/printable.hpp"

namespace sptile::tools {

/// The text of a value: valid JSON whatever bytes its strings have, and nothing that a terminal obeys.
/// `indent` < 0: in one line.
inline std::string json_text(const nlohmann::ordered_json& value, int indent = -1) {
  return printable(value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace sptile::tools
