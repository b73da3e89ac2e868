#include "tools/format_choice.hpp"

#include <fmt/format.h>

#include "formats/convert/tall.hpp"
#include "formats/convert/tall_window.hpp"
#include "tools/names.hpp"

namespace sptile::tools {
namespace {
// What a list may name: the formats, and tall with each of its heights.
std::vector<FormatChoice> choices() {
  std::vector<FormatChoice> all;
  for (const formats::Converter& c : formats::converters()) all.push_back({std::string(c.format), &c});
  for (int level = 0; level < formats::kTallLevels; ++level)
    all.push_back(
        {fmt::format("tall:{}", formats::tall_height(level)), formats::find_converter("tall"), level});
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
  return choice.tall_level < 0 ? choice.converter->from_csr(a, progress)
                               : formats::tall_from_csr_at(a, choice.tall_level, {}, progress);
}

}  // namespace sptile::tools
