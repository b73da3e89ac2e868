#include "tools/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sptile::tools::report {

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  if (number < 10000) return digits;
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, "\u202f");
  return digits;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
  const std::string safe = word.size() > 1 && word.front() == '-' ? "./" + word : word;
  if (!safe.empty() && safe.find_first_not_of(kPlain) == std::string::npos) return safe;
  std::string quoted = "'";
  for (const char c : safe) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace sptile::tools::report
