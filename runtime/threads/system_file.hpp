// Access to small files of /proc and /sys.
#pragma once

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace sptile::runtime {

/// Returns the first line of a file; empty if it cannot be read.
inline std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Returns the number at the start of a text; nullopt if there is none or it is negative.
inline std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  return value;
}

}  // namespace sptile::runtime
