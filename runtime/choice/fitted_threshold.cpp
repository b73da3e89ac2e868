#include "runtime/choice/fitted_threshold.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

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

/// Reads the number, which the format must take.
Result<std::optional<FittedThreshold>> checked(const DeviceProfile& profile, const ProfileNumber& number,
                                               const formats::FormatParameter& parameter) {
  const double value = number.value;
  if (value >= parameter.least && value <= parameter.most && value == std::floor(value) &&
      parameter.accepts(static_cast<int>(value)))
    return FittedThreshold{static_cast<int>(number.value), number.name, number.precision};
  return fail(Errc::bad_input,
              number.name + " of " + number.kernel + ", " + number.precision + " is no whole number from " +
                  formats::values_text(parameter),
              profile.source);
}

constexpr std::int64_t kUsualColumns = 128;

}  // namespace

SplitProduct usual_product(std::string_view format, DType values) {
  const bool narrow = values != DType::none && size_of(values) == 2;
  const formats::FormatLayout* const layout = formats::find_layout(format);
  if (layout == nullptr || !layout->is_fitted()) return {};
  return {best_kernel(*find_operation(layout->parameter->fitted_for), format, Device::cuda),
          narrow ? Precision::fp16 : Precision::tf32, kUsualColumns};
}

Result<std::optional<FittedThreshold>> fitted_threshold(const DeviceProfile& profile,
                                                        const SplitProduct& product) {
  const formats::FormatLayout& layout = *formats::find_layout(product.kernel->format);
  if (!layout.is_fitted()) return std::optional<FittedThreshold>();
  const Precision other = product.precision == Precision::bf16 ? Precision::fp16 : product.precision;
  for (const std::string_view precision : {name_of(product.precision), kAnyPrecision, name_of(other)})
    if (const ProfileNumber* const number = nearest(profile, product, precision))
      return checked(profile, *number, *layout.parameter);
  return std::optional<FittedThreshold>();
}

}  // namespace sptile::runtime
