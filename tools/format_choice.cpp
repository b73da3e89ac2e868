#include "tools/format_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/convert/libra_sddmm.hpp"
#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/tall.hpp"
#include "formats/convert/tall_window.hpp"
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
};

std::vector<FormatParameter> parameters() {
  return {
      {"tall", "a height of 16, 32, 64 or 128",
       [](int height) { return level_of(height) < formats::kTallLevels; }, tall_at},
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

Result<FormatChoice> parse_format(const std::string& name) {
  if (const formats::Converter* whole = formats::find_converter(name)) return FormatChoice{name, whole};
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view format = std::string_view(name).substr(0, colon);
  for (const FormatParameter& parameter : parameters()) {
    if (parameter.format != format) continue;
    const std::string text = name.substr(colon + 1);
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (std::to_string(value) != text || !parameter.accepts(value))
      return fail(Errc::usage, fmt::format("{} takes {}, not '{}'", format, parameter.expected, text));
    return FormatChoice{name, formats::find_converter(format), parameter.convert_at, value};
  }
  return tl::unexpected(unknown_name("format", name, format_names()));
}

}  // namespace

Result<std::vector<FormatChoice>> parse_formats(std::string_view list) {
  std::vector<FormatChoice> chosen;
  if (list == "all") {
    for (const formats::Converter& c : formats::converters()) chosen.push_back({std::string(c.format), &c});
    return chosen;
  }
  while (true) {
    const std::size_t comma = list.find(',');
    Result<FormatChoice> choice = parse_format(std::string(list.substr(0, comma)));
    if (!choice) return tl::unexpected(std::move(choice.error()));
    const auto same = [&](const FormatChoice& c) { return c.label == choice->label; };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(std::move(*choice));
    if (comma == std::string_view::npos) return chosen;
    list.remove_prefix(comma + 1);
  }
}

Result<formats::FormatData> convert_to(const FormatChoice& choice, const formats::CsrView& a,
                                       Progress* progress) {
  return choice.convert_at == nullptr ? choice.converter->from_csr(a, progress)
                                      : choice.convert_at(a, choice.parameter, progress);
}

}  // namespace sptile::tools
