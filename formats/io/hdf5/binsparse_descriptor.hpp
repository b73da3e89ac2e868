// What the attribute of a binsparse file says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sptile::formats {

/// The members that sptile reads. What is not there, or of another type than wanted, is empty.
struct BinsparseDescriptor {
  std::string version;
  std::optional<std::string> format;     ///< "custom": an object
  std::vector<std::int64_t> shape;       ///< two numbers
  std::optional<std::string> structure;  ///< "": of another type
  std::string values;                    ///< of data_types
  std::int64_t stored_values = -1;
  bool fill = false;
};

/// Nothing where the text is no JSON, or has no object "binsparse". Builds no tree: neither memory that is
/// missing nor depth ends the process.
std::optional<BinsparseDescriptor> parse_binsparse_descriptor(std::string_view json);

}  // namespace sptile::formats
