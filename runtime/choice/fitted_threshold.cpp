#include "runtime/choice/fitted_threshold.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "formats/layout/libra_rules.hpp"
#include "formats/layout/registry.hpp"

namespace sptile::runtime {
namespace {

/// N of a number's name; 0 when it is no threshold.
std::int64_t columns_of(std::string_view name) {
  if (!name.starts_with(kThresholdPrefix)) return 0;
  name.remove_prefix(kThresholdPrefix.size());
  std::int64_t n = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), n);
  return code == std::errc() && end == name.data() + name.size() && n > 0 ? n : 0;
}

/// The larger over the smaller.
double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(std::max(a, b)) / static_cast<double>(std::min(a, b));
}

/// True when the first number is the better one for n.
bool nearer(std::int64_t a, std::int64_t b, std::int64_t n) {
  const double of_a = ratio(a, n), of_b = ratio(b, n);
  return of_a < of_b || (of_a == of_b && a < b);
}

const ProfileNumber* nearest(const DeviceProfile& profile, const SplitProduct& product,
                             std::string_view precision) {
  const ProfileNumber* best = nullptr;
  for (const ProfileNumber& number : profile.numbers) {
    const std::int64_t columns = columns_of(number.name);
    if (columns == 0 || number.kernel != product.kernel->name || number.precision != precision) continue;
    if (best == nullptr || nearer(columns, columns_of(best->name), product.n)) best = &number;
  }
  return best;
}

/// Reads the number, which must be a threshold of up to `most`.
Result<std::optional<FittedThreshold>> checked(const DeviceProfile& profile, const ProfileNumber& number,
                                               int most) {
  if (number.value >= 1 && number.value <= most && number.value == std::floor(number.value))
    return FittedThreshold{static_cast<int>(number.value), number.name, number.precision};
  return fail(Errc::bad_input,
              number.name + " of " + number.kernel + ", " + number.precision +
                  " is no whole number from 1 to " + std::to_string(most),
              profile.source);
}

/// The operation that a format is split for.
struct SplitFormat {
  std::string_view format, op;
};
constexpr SplitFormat kSplitFormats[] = {{"libra_spmm", "spmm"}, {"libra_sddmm", "sddmm"}};
constexpr std::int64_t kUsualColumns = 128;

}  // namespace

SplitProduct usual_product(std::string_view format, DType values) {
  const bool narrow = values != DType::none && size_of(values) == 2;
  for (const SplitFormat& row : kSplitFormats)
    if (row.format == format)
      return {best_kernel(*find_operation(row.op), format, Device::cuda), narrow ? Precision::fp16 : Precision::tf32,
              kUsualColumns};
  return {};
}

Result<std::optional<FittedThreshold>> fitted_threshold(const DeviceProfile& profile,
                                                        const SplitProduct& product) {
  const int most = formats::libra_max_threshold(*formats::find_layout(product.kernel->format));
  if (most == 0) return std::optional<FittedThreshold>();
  const Precision other = product.precision == Precision::bf16 ? Precision::fp16 : product.precision;
  for (const std::string_view precision : {name_of(product.precision), kAnyPrecision, name_of(other)})
    if (const ProfileNumber* const number = nearest(profile, product, precision))
      return checked(profile, *number, most);
  return std::optional<FittedThreshold>();
}

}  // namespace sptile::runtime
