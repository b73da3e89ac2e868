#include "tools/pipeline/format_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/choice/fitted_parameter.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/order.hpp"

namespace sptile::tools {
namespace {

using formats::FormatLayout;

// Returns the value of a format's parameter, given after the colon.
Result<FoundThreshold> parse_parameter(const FormatLayout& layout, const std::string& text,
                                       const ThresholdFinder& automatic) {
  if (!formats::fields_of(layout).empty())
    return formats::parse_fields(layout, text).map([](int value) { return FoundThreshold{value, {}, {}}; });
  const bool has_auto = layout.is_fitted() && automatic;
  if (has_auto && text == "auto") return automatic(layout.name);
  for (const formats::NamedValue& named : layout.parameter->names)
    if (named.name == text) return FoundThreshold{named.value, {}, {}};
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::to_string(value) == text && layout.parameter->accepts(value)) return FoundThreshold{value, {}, {}};
  return fail(Errc::usage,
              fmt::format("{} requires a {} of {}{}, got '{}'", layout.name, layout.parameter->name,
                          formats::values_text(*layout.parameter), has_auto ? " or auto" : "", text));
}

// Returns the value as it is written after the colon.
std::string parameter_text(const FormatLayout& layout, int value) {
  const auto fields = formats::fields_of(layout);
  return fields.empty() ? formats::value_text(*layout.parameter, value) : formats::fields_text(fields, value);
}

// Parses a format such as "tall" or "tall:64". The tables of layouts and converters have the same rows.
Result<FormatChoice> parse_format(const std::string& name, const ThresholdFinder& automatic) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const bool is_whole = colon == name.size();
  const auto layouts = formats::layouts();
  const auto row = std::ranges::find(layouts, std::string_view(name).substr(0, colon), &FormatLayout::name);
  if (row == layouts.end() || (!is_whole && (*row)->parameter == nullptr))
    return tl::unexpected(unknown_name("format", name, format_names()));
  const FormatLayout& layout = **row;
  const formats::Converter* const converter =
      &formats::converters()[static_cast<std::size_t>(row - layouts.begin())];
  if (is_whole) return FormatChoice{name, &layout, converter};
  auto found = parse_parameter(layout, name.substr(colon + 1), automatic);
  if (!found) return tl::unexpected(std::move(found.error()));
  return FormatChoice{fmt::format("{}:{}", layout.name, parameter_text(layout, found->value)),
                      &layout,
                      converter,
                      found->value,
                      std::move(found->why),
                      std::move(found->source)};
}

// Returns the rows of a window of a format; 0 if it has no windows.
int window_rows_of(const FormatChoice& format) {
  const FormatLayout& layout = *format.layout;
  return layout.usual_window_rows == 0 ? layout.window_rows
                                       : format.parameter.value_or(layout.usual_window_rows);
}

}  // namespace

int window_rows_of(const std::vector<FormatChoice>& formats) {
  int all = 0;
  for (const FormatChoice& format : formats) {
    const int rows = window_rows_of(format);
    if (rows == 0 || rows == all) continue;
    if (all != 0) return kUsualWindowRows;
    all = rows;
  }
  return all == 0 ? kUsualWindowRows : all;
}

formats::Conversion FormatChoice::conversion() const {
  if (!parameter) return converter->from_csr;
  return [at = converter->from_csr_at, value = *parameter](const formats::CsrView& a, Progress* progress) {
    return at(a, value, progress);
  };
}

Result<FoundThreshold> profile_threshold(std::string_view format, DType values) {
  const runtime::SplitProduct product = runtime::usual_product(format, values);
  if (product.kernel == nullptr)
    return fail(Errc::unsupported, fmt::format("{}:auto: no CUDA kernel supports this format", format));
  const auto device = runtime::cuda::find_device(0);
  const auto profile = runtime::find_profile(
      runtime::profile_device(runtime::Device::cuda, device ? *device : runtime::cuda::DeviceInfo{}));
  if (!profile) return tl::unexpected(profile.error());
  const std::string remedy = "; write one with 'sptile calibrate --device cuda', or pass a number";
  if (!*profile)
    return fail(Errc::unsupported, fmt::format("{}:auto: no profile of a CUDA device{}", format, remedy));
  const std::string profile_name = "the profile of " + (*profile)->device.name;
  const auto fitted = runtime::fitted_parameter(**profile, product);
  if (!fitted) return tl::unexpected(fitted.error());
  if (!*fitted)
    return fail(Errc::unsupported,
                fmt::format("{}:auto: {} ({}) has no {} of {} for {}{}", format, profile_name,
                            (*profile)->source, formats::find_layout(format)->parameter->name,
                            product.kernel->name, runtime::name_of(product.precision), remedy));
  return FoundThreshold{(*fitted)->value,
                        fmt::format("{}, {}, in {}", (*fitted)->name, (*fitted)->precision, profile_name),
                        (*profile)->source};
}

Result<std::vector<FormatChoice>> parse_formats(std::string_view list, const ThresholdFinder& automatic) {
  std::vector<FormatChoice> chosen;
  for (const std::string& name : list == "all" ? format_names() : split_names(list)) {
    Result<FormatChoice> choice = parse_format(name, automatic);
    if (!choice) return tl::unexpected(std::move(choice.error()));
    const auto same = [&](const FormatChoice& c) { return c.label == choice->label; };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(std::move(*choice));
  }
  return chosen;
}

}  // namespace sptile::tools
