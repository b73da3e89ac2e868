#include "tools/format_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_threshold.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "tools/names.hpp"

namespace sptile::tools {
namespace {

using formats::FormatLayout;

FormatChoice with_parameter(const FormatLayout& layout, int value) {
  return {fmt::format("{}:{}", layout.name, value), formats::find_converter(layout.name), value};
}

Result<FormatChoice> automatic_choice(const FormatLayout& layout, const ThresholdFinder& automatic) {
  const auto found = automatic(layout.name);
  if (!found) return tl::unexpected(found.error());
  FormatChoice choice = with_parameter(layout, found->value);
  choice.why = found->why;
  return choice;
}

// The value of the parameter of a format, as it was typed behind the colon.
Result<FormatChoice> parse_parameter(const FormatLayout& layout, const std::string& text,
                                     const ThresholdFinder& automatic) {
  const bool has_auto = layout.is_fitted() && automatic;
  if (has_auto && text == "auto") return automatic_choice(layout, automatic);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::to_string(value) == text && layout.parameter->accepts(value)) return with_parameter(layout, value);
  return fail(Errc::usage,
              fmt::format("{} takes a {} of {}{}, not '{}'", layout.name, layout.parameter->name,
                          formats::values_text(*layout.parameter), has_auto ? " or auto" : "", text));
}

Result<FormatChoice> parse_format(const std::string& name, const ThresholdFinder& automatic) {
  if (const formats::Converter* whole = formats::find_converter(name)) return FormatChoice{name, whole};
  const std::size_t colon = std::min(name.find(':'), name.size());
  const FormatLayout* const layout = formats::find_layout(std::string_view(name).substr(0, colon));
  if (layout == nullptr || layout->parameter == nullptr)
    return tl::unexpected(unknown_name("format", name, format_names()));
  return parse_parameter(*layout, name.substr(colon + 1), automatic);
}

}  // namespace

formats::Conversion FormatChoice::conversion() const {
  if (!parameter) return converter->from_csr;
  return [at = converter->from_csr_at, value = *parameter](const formats::CsrView& a, Progress* progress) {
    return at(a, value, progress);
  };
}

Result<FoundThreshold> profile_threshold(std::string_view format, DType values) {
  const runtime::SplitProduct product = runtime::usual_product(format, values);
  const auto device = runtime::cuda::find_device(0);
  const auto profile = runtime::find_profile(
      runtime::profile_device(runtime::Device::cuda, device ? *device : runtime::cuda::DeviceInfo{}));
  if (!profile) return tl::unexpected(profile.error());
  const std::string remedy = "; 'sptile calibrate --device cuda' writes one, or give a number";
  if (!*profile)
    return fail(Errc::unsupported,
                fmt::format("{}:auto: there is no profile of a CUDA device{}", format, remedy));
  const std::string source =
      fmt::format("the profile of {} ({})", (*profile)->device.name, (*profile)->source);
  const auto fitted = runtime::fitted_threshold(**profile, product);
  if (!fitted) return tl::unexpected(fitted.error());
  if (!*fitted)
    return fail(Errc::unsupported,
                fmt::format("{}:auto: {} has no threshold of {} for {}{}", format, source,
                            product.kernel->name, runtime::name_of(product.precision), remedy));
  return FoundThreshold{(*fitted)->value,
                        fmt::format("{}, {}, in {}", (*fitted)->name, (*fitted)->precision, source)};
}

Result<std::vector<FormatChoice>> parse_formats(std::string_view list, const ThresholdFinder& automatic) {
  std::vector<FormatChoice> chosen;
  if (list == "all") {
    for (const formats::Converter& c : formats::converters()) chosen.push_back({std::string(c.format), &c});
    return chosen;
  }
  while (true) {
    const std::size_t comma = list.find(',');
    Result<FormatChoice> choice = parse_format(std::string(list.substr(0, comma)), automatic);
    if (!choice) return tl::unexpected(std::move(choice.error()));
    const auto same = [&](const FormatChoice& c) { return c.label == choice->label; };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(std::move(*choice));
    if (comma == std::string_view::npos) return chosen;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace sptile::tools
