// JSON parser for untrusted files, with limits on the parsed data instead of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace sptile::tools {

/// Limits of a file.
struct JsonLimits {
  int depth = 0;            ///< nesting of lists and objects
  std::int64_t events = 0;  ///< values, keys, and ends of lists and objects
  std::size_t keys = 0;     ///< per object, because each key is compared with the previous ones
};

/// Parses JSON; nullopt if the syntax is invalid or a limit is exceeded. Time and memory are bounded by the
/// limits.
std::optional<nlohmann::ordered_json> parse_json(std::string_view text, const JsonLimits& limits);

}  // namespace sptile::tools
