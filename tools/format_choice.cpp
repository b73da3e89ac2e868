#include "tools/format_choice.hpp"

#include <fmt/format.h>

#include "formats/convert/libra_spmm.hpp"
#include "formats/convert/tall.hpp"
#include "formats/convert/tall_window.hpp"
#include "tools/names.hpp"

namespace sptile::tools {
namespace {
Result<formats::FormatData> tall_at(const formats::CsrView& a, int level, Progress* progress) {
  return formats::tall_from_csr_at(a, level, {}, progress);
}

// What a list may name: the formats, tall with each of its heights, libra_spmm with each threshold.
std::vector<FormatChoice> choices() {
  std::vector<FormatChoice> all;
  for (const formats::Converter& c : formats::converters()) all.push_back({std::string(c.format), &c});
  for (int level = 0; level < formats::kTallLevels; ++level)
    all.push_back({fmt::format("tall:{}", formats::tall_height(level)), formats::find_converter("tall"),
                   tall_at, level});
  for (int threshold = formats::kLibraMinThreshold; threshold <= formats::kLibraMaxThreshold; ++threshold)
    all.push_back({fmt::format("libra_spmm:{}", threshold), formats::find_converter("libra_spmm"),
                   formats::libra_spmm_from_csr_at, threshold});
  return all;
}
}  // namespace

Result<std::vector<FormatChoice>> parse_formats(std::string_view list) {
  const std::vector<FormatChoice> all = choices();
  std::vector<std::string> known;
  for (const FormatChoice& c : all) known.push_back(c.label);
  const auto names =
      list == "all" ? Result<std::vector<std::string>>(format_names()) : parse_names("format", list, known);
  if (!names) return tl::unexpected(names.error());
  std::vector<FormatChoice> chosen;
  for (const std::string& name : *names)
    for (const FormatChoice& c : all)
      if (c.label == name) chosen.push_back(c);
  return chosen;
}

Result<formats::FormatData> convert_to(const FormatChoice& choice, const formats::CsrView& a,
                                       Progress* progress) {
  return choice.convert_at == nullptr ? choice.converter->from_csr(a, progress)
                                      : choice.convert_at(a, choice.parameter, progress);
}

}  // namespace sptile::tools
