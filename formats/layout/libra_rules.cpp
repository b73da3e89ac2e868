#include "formats/layout/libra_rules.hpp"

#include <string>

namespace sptile::formats {

int libra_max_threshold(const FormatLayout& layout) {
  if (&layout == &kLibraSpmmLayout) return kLibraMaxThreshold;
  return &layout == &kLibraSddmmLayout ? kLibraSddmmMaxThreshold : 0;
}

Status check_libra_setting(const FormatLayout& layout, LibraSetting setting) {
  const std::string name(layout.name);
  const bool spmm = &layout == &kLibraSpmmLayout;
  const int most = libra_max_threshold(layout);
  if (setting.threshold < 1 || setting.threshold > most)
    return fail(Errc::usage, name + ": threshold " + std::to_string(setting.threshold) + ", expected 1 to " +
                                 std::to_string(most) +
                                 (spmm ? " entries of 8" : " entries of a block's 128"));
  if (setting.block_columns != 8 && setting.block_columns != 16)
    return fail(Errc::usage,
                name + ": blocks of " + std::to_string(setting.block_columns) + " columns, expected 8 or 16");
  return {};
}

Parameters libra_parameters(LibraSetting setting, std::int64_t dense, std::int64_t filled) {
  return {{"window_rows", std::int64_t{8}},
          {"threshold", std::int64_t{setting.threshold}},
          {"block_columns", std::int64_t{setting.block_columns}},
          {"dense_columns", dense},
          {"filled_columns", filled}};
}

}  // namespace sptile::formats
