// partition.json: description of the partition in a directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"
#include "tools/partition/survey.hpp"

namespace sptile::tools {

struct PartitionDescription {
  std::string id;       ///< 16 hexadecimal digits, the same in every part
  std::string content;  ///< 16 hexadecimal digits: fingerprint of the entire matrix, see content_hash
  std::int64_t rows = 0, entries = 0;
  DType dtype = DType::none;  ///< value type; DType::none: a pattern
  bool symmetric = false;
  std::string method, reorder, source;  ///< as requested, for information only
  std::uint64_t seed = 1;
  std::vector<PartCounts> parts;
  std::vector<std::uint64_t> file_bytes;  ///< size of each part
};

/// Returns 16 hexadecimal digits.
std::string hex_digits(std::uint64_t number);

/// Returns the text of the file.
std::string description_text(const PartitionDescription& description);

/// Reads partition.json of an untrusted directory: Errc::io if it does not exist, Errc::bad_input if sptile
/// could not have written it.
Result<PartitionDescription> read_description(const std::string& folder);

}  // namespace sptile::tools
