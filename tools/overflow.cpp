#include "tools/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/value_types.hpp"

namespace sptile::tools {
namespace {

Error describe(const formats::CsrView& a, std::int64_t entry, double value, DType narrow,
               const std::string& source) {
  const auto row = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), entry) - a.row_ptr.begin();
  return {Errc::bad_input,
          fmt::format("value {} is too large for {}, in row {}, column {}", value, name_of(narrow), row,
                      a.col_idx[static_cast<std::size_t>(entry)] + 1),
          source};
}

template <class Wide, class Narrow>
Overflow compare(const formats::CsrView& a, ArrayView rounded, const std::string& source) {
  const auto before = a.values.as<Wide>();
  const auto after = rounded.as<Narrow>();
  Overflow found;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (std::isfinite(formats::widen(after[i])) || !std::isfinite(formats::widen(before[i]))) continue;
    if (found.count++ == 0)
      found.first =
          describe(a, static_cast<std::int64_t>(i), formats::widen(before[i]), rounded.dtype, source);
  }
  return found;
}

}  // namespace

Overflow& Overflow::operator+=(const Overflow& later) {
  count += later.count;
  if (!first) first = later.first;
  return *this;
}

Overflow find_overflow(const formats::CsrView& a, ArrayView rounded, const std::string& source) {
  return formats::visit_value_type(a.values.dtype, [&](auto wide) {
    return formats::visit_value_type(rounded.dtype, [&](auto narrow) {
      return compare<typename decltype(wide)::type, typename decltype(narrow)::type>(a, rounded, source);
    });
  });
}

}  // namespace sptile::tools
