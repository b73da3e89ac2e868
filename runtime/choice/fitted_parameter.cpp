#include "runtime/choice/fitted_parameter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "formats/layout/registry.hpp"

namespace sptile::runtime {
namespace {

constexpr char kBetween = '_';

/// Returns N from the name of a number; 0 if it is not a fitted parameter.
std::int64_t columns_of(std::string_view name, std::string_view parameter) {
  if (!name.starts_with(parameter) || !name.substr(parameter.size()).starts_with(kBetween)) return 0;
  name.remove_prefix(parameter.size() + 1);
  std::int64_t n = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), n);
  return code == std::errc() && end == name.data() + name.size() && n > 0 ? n : 0;
}

/// Returns the ratio of the larger to the smaller.
double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(std::max(a, b)) / static_cast<double>(std::min(a, b));
}

/// Returns whether `a` is preferred over `b` for n columns.
bool nearer(std::int64_t a, std::int64_t b, std::int64_t n) {
  const double of_a = ratio(a, n), of_b = ratio(b, n);
  return of_a < of_b || (of_a == of_b && a < b);
}

const ProfileNumber* nearest(const DeviceProfile& profile, const SplitProduct& product,
                             std::string_view parameter, std::string_view precision) {
  const ProfileNumber* best = nullptr;
  for (const ProfileNumber& number : profile.numbers) {
    const std::int64_t columns = columns_of(number.name, parameter);
    if (columns == 0 || number.kernel != product.kernel->name || number.precision != precision) continue;
    if (best == nullptr || nearer(columns, columns_of(best->name, parameter), product.n)) best = &number;
  }
  return best;
}

/// Checks that the number is a valid parameter of the format.
Result<std::optional<FittedParameter>> checked(const DeviceProfile& profile, const ProfileNumber& number,
                                               const formats::FormatParameter& parameter) {
  const double value = number.value;
  if (value >= parameter.min && value <= parameter.max && value == std::floor(value) &&
      parameter.accepts(static_cast<int>(value)))
    return FittedParameter{static_cast<int>(number.value), number.name, number.precision};
  return fail(Errc::bad_input,
              number.name + " of " + number.kernel + ", " + number.precision + " is not an integer from " +
                  std::to_string(parameter.min) + " to " + std::to_string(parameter.max),
              profile.source);
}

constexpr std::int64_t kUsualColumns = 128;

}  // namespace

std::string fitted_name(std::string_view parameter, std::int64_t n) {
  return std::string(parameter) + kBetween + std::to_string(n);
}

SplitProduct usual_product(std::string_view format, DType values) {
  const bool narrow = values != DType::none && size_of(values) == 2;
  const formats::FormatLayout* const layout = formats::find_layout(format);
  if (layout == nullptr || !layout->is_fitted()) return {};
  return {best_kernel(*find_operation(layout->parameter->fitted_for), format, Device::cuda),
          narrow ? Precision::fp16 : Precision::tf32, kUsualColumns};
}

Result<std::optional<FittedParameter>> fitted_parameter(const DeviceProfile& profile,
                                                        const SplitProduct& product) {
  if (product.kernel == nullptr) return std::optional<FittedParameter>();
  const formats::FormatLayout& layout = *formats::find_layout(product.kernel->format);
  if (!layout.is_fitted()) return std::optional<FittedParameter>();
  const Precision other = product.precision == Precision::bf16 ? Precision::fp16 : product.precision;
  for (const std::string_view precision : {name_of(product.precision), kAnyPrecision, name_of(other)})
    if (const ProfileNumber* const number = nearest(profile, product, layout.parameter->name, precision))
      return checked(profile, *number, *layout.parameter);
  return std::optional<FittedParameter>();
}

}  // namespace sptile::runtime
