#include "formats/core/narrow_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/core/value_types.hpp"

namespace sptile::formats {
namespace {

Error describe(const CsrView& a, std::int64_t entry, Loss loss, double value, DType narrow,
               const std::string& source) {
  const auto row = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), entry) - a.row_ptr.begin();
  return {Errc::bad_input,
          fmt::format("{}, in row {}, column {}", describe_loss(loss, fmt::format("{}", value), narrow), row,
                      a.col_idx[static_cast<std::size_t>(entry)] + 1),
          source};
}

template <class Wide, class Narrow>
ValueLoss compare(const CsrView& a, ArrayView rounded, bool integers, const std::string& source) {
  const auto before = a.values.as<Wide>();
  const auto after = rounded.as<Narrow>();
  ValueLoss found;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto loss = find_loss(widen(before[i]), widen(after[i]), integers);
    if (!loss) continue;
    found.add(*loss);
    if (!found.first)
      found.first = describe(a, static_cast<std::int64_t>(i), *loss, widen(before[i]), rounded.dtype, source);
  }
  return found;
}

}  // namespace

Array narrow_values(const CsrView& a, DType to, bool integers, const std::string& source, ValueLoss& loss) {
  Array rounded = convert_values(a.values, to);
  if (rounded.present() && a.values.dtype != to)
    loss += visit_value_type(a.values.dtype, [&](auto wide) {
      return visit_value_type(to, [&](auto narrow) {
        return compare<typename decltype(wide)::type, typename decltype(narrow)::type>(a, rounded.view(),
                                                                                       integers, source);
      });
    });
  return rounded;
}

std::int64_t sum_entries(Csr& a, DType sums, bool integers, ValueLoss& loss) {
  const bool pattern = !a.values.present();
  if (sort_columns(a) == 0) return 0;
  if (pattern) {
    a.values = Array(DType::f64, a.nnz());
    std::fill_n(a.values.as<double>().data(), a.nnz(), 1.0);
  } else if (a.values.dtype() != DType::f64) {
    a.values = convert_values(a.values.view(), DType::f64);
  }
  const std::int64_t repeated = sort_and_sum_duplicates(a);
  if (sums != DType::f64) a.values = narrow_values(a.view(), sums, integers || pattern, "", loss);
  return repeated;
}

DType sum_type(DType stored) {
  return size_of(stored) == 2 || stored == DType::f32 ? DType::f32 : DType::f64;
}

}  // namespace sptile::formats
