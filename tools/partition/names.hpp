// File names of a partition.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sptile::tools {

inline constexpr std::string_view kDescriptionName = "partition.json";

/// Returns a name such as "part-0007.h5".
std::string part_name(std::int64_t rank);

/// Returns whether a file name belongs to a partition.
bool is_partition_file(std::string_view name);

}  // namespace sptile::tools
