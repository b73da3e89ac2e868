#include "formats/layout/libra_rules.hpp"

#include <string>

namespace sptile::formats {

Status check_libra_setting(const FormatLayout& layout, LibraSetting setting) {
  if (Status s = check_parameter(layout, setting.threshold); !s) return s;
  if (setting.block_columns != 8 && setting.block_columns != 16)
    return fail(Errc::usage, std::string(layout.name) + ": blocks of " +
                                 std::to_string(setting.block_columns) + " columns, expected 8 or 16");
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
