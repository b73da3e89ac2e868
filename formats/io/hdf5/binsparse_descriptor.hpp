// Parser of the descriptor attribute of binsparse files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// Members used by sptile. A member that is missing or has another type is empty.
struct BinsparseDescriptor {
  std::string version;
  std::optional<std::string> format;     ///< "custom" for an object
  std::vector<std::int64_t> shape;       ///< two numbers
  std::optional<std::string> structure;  ///< "" for a value of another type
  std::string values;                    ///< data_types.values
  std::int64_t stored_values = -1;
  bool fill = false;
};

/// Returns nothing if the text is not JSON or has no object "binsparse". Builds no tree: neither lack of
/// memory nor deep nesting ends the process.
std::optional<BinsparseDescriptor> parse_binsparse_descriptor(std::string_view json);

}  // namespace sptile::formats
