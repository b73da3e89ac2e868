#include "tools/partition/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sptile::tools {

std::string part_name(std::int64_t rank) { return fmt::format("part-{:04}.h5", rank); }

bool is_partition_file(std::string_view name) {
  if (name == kDescriptionName) return true;
  constexpr std::string_view kFront = "part-", kEnd = ".h5";
  if (!name.starts_with(kFront) || !name.ends_with(kEnd)) return false;
  const std::string_view digits = name.substr(kFront.size(), name.size() - kFront.size() - kEnd.size());
  return digits.size() >= 4 && digits.size() <= 5 &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace sptile::tools
