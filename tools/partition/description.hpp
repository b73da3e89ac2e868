// partition.json: what the parts of a folder are parts of.
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
  std::string content;  ///< 16 hexadecimal digits: fingerprint of the whole matrix, see content_hash
  std::int64_t rows = 0, entries = 0;
  DType dtype = DType::none;  ///< of the values; none: a pattern
  bool symmetric = false;
  std::string method, reorder, source;  ///< as they were asked for; for people
  std::uint64_t seed = 1;
  std::vector<PartCounts> parts;
  std::vector<std::uint64_t> file_bytes;  ///< of each part
};

/// 16 hexadecimal digits.
std::string hex_digits(std::uint64_t number);

/// The text of the file.
std::string description_text(const PartitionDescription& description);

/// Reads partition.json of a folder, which may hold anything: Errc::io where there is none, Errc::bad_input
/// for what sptile does not write.
Result<PartitionDescription> read_description(const std::string& folder);

}  // namespace sptile::tools
