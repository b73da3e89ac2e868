// What the files of a partition are called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sptile::tools {

inline constexpr std::string_view kDescriptionName = "partition.json";

/// "part-0007.h5".
std::string part_name(std::int64_t rank);

/// Whether a partition has files of that name.
bool is_partition_file(std::string_view name);

}  // namespace sptile::tools
