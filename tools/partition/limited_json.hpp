// JSON of a file that others may have written: bounded by what it becomes in memory, not by its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace sptile::tools {

/// What a file may hold.
struct JsonLimits {
  int depth = 0;            ///< lists and objects inside each other
  std::int64_t events = 0;  ///< values, keys, and ends of lists and objects
  std::size_t keys = 0;     ///< of one object, which looks for each key among those before it
};

/// Parses JSON; nothing where it breaks the syntax or a limit. Takes time and memory for what is within the
/// limits alone.
std::optional<nlohmann::ordered_json> parse_json(std::string_view text, const JsonLimits& limits);

}  // namespace sptile::tools
