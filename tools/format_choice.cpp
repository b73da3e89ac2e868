#include "tools/format_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/tall.hpp"
#include "formats/convert/tall_window.hpp"
#include "runtime/choice/fitted_threshold.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "tools/names.hpp"

namespace sptile::tools {
namespace {

/// Level of a height of tall windows; kTallLevels when there is none.
int level_of(int height) {
  int level = 0;
  while (level < formats::kTallLevels && formats::tall_height(level) != height) ++level;
  return level;
}

Result<formats::FormatData> tall_at(const formats::CsrView& a, int height, Progress* progress) {
  return formats::tall_from_csr_at(a, level_of(height), {}, progress);
}

/// What a format may be given behind a colon.
struct FormatParameter {
  std::string_view format;
  std::string expected;  ///< for messages
  bool (*accepts)(int value);
  Result<formats::FormatData> (*convert_at)(const formats::CsrView& a, int value, Progress* progress);
  bool is_threshold = true;
};

std::vector<FormatParameter> parameters() {
  return {
      {"tall", "a height of 16, 32, 64 or 128",
       [](int height) { return level_of(height) < formats::kTallLevels; }, tall_at, false},
      {"libra_spmm",
       fmt::format("a threshold of {} to {}", formats::kLibraMinThreshold, formats::kLibraMaxThreshold),
       [](int t) { return t >= formats::kLibraMinThreshold && t <= formats::kLibraMaxThreshold; },
       formats::libra_spmm_from_csr_at},
      {"libra_sddmm",
       fmt::format("a threshold of {} to {}", formats::kLibraSddmmMinThreshold,
                   formats::kLibraSddmmMaxThreshold),
       [](int t) { return t >= formats::kLibraSddmmMinThreshold && t <= formats::kLibraSddmmMaxThreshold; },
       formats::libra_sddmm_from_csr_at}};
}

FormatChoice with_parameter(const FormatParameter& row, int value) {
  return {fmt::format("{}:{}", row.format, value), formats::find_converter(row.format), row.convert_at, value,
          row.is_threshold};
}

Result<FormatChoice> automatic_choice(const FormatParameter& row, const ThresholdFinder& automatic) {
  const auto found = automatic(row.format);
  if (!found) return tl::unexpected(found.error());
  FormatChoice choice = with_parameter(row, found->value);
  choice.why = found->why;
  return choice;
}

Result<FormatChoice> parse_format(const std::string& name, const ThresholdFinder& automatic) {
  if (const formats::Converter* whole = formats::find_converter(name)) return FormatChoice{name, whole};
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view format = std::string_view(name).substr(0, colon);
  for (const FormatParameter& row : parameters()) {
    if (row.format != format) continue;
    const std::string text = name.substr(colon + 1);
    const bool has_auto = row.is_threshold && automatic;
    if (has_auto && text == "auto") return automatic_choice(row, automatic);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (std::to_string(value) == text && row.accepts(value)) return with_parameter(row, value);
    return fail(Errc::usage, fmt::format("{} takes {}{}, not '{}'", format, row.expected,
                                         has_auto ? " or auto" : "", text));
  }
  return tl::unexpected(unknown_name("format", name, format_names()));
}

}  // namespace

formats::Conversion FormatChoice::conversion() const {
  if (convert_at == nullptr) return converter->from_csr;
  return [at = convert_at, value = parameter](const formats::CsrView& a, Progress* progress) {
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
