// JSON of other programs.
#pragma once

#include <string_view>

namespace sptile::formats {

/// True where arrays and objects are nested deeper than anything that sptile reads: the JSON library copies
/// values by recursion, which a small stack does not hold.
bool is_too_deep(std::string_view json);

/// Parses a file of somebody else. What is no JSON, or too deep, is discarded: neither object nor array.
template <class Json>
Json parse_foreign(std::string_view json) {
  return is_too_deep(json) ? Json(Json::value_t::discarded) : Json::parse(json, nullptr, false);
}

}  // namespace sptile::formats
