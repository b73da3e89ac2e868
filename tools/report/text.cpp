#include "tools/report/text.hpp"

#include <fmt/format.h>

namespace sptile::tools::report {

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  if (number < 10000) return digits;
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, "\u202f");
  return digits;
}

}  // namespace sptile::tools::report
