#include "tools/report/page.hpp"

#include <fmt/format.h>

#include "tools/plot/svg.hpp"
#include "tools/version.hpp"

namespace sptile::tools::report {

Result<std::string> draw_page(const Report& report) {
  const auto pictures = picture_section(report);
  if (!pictures) return tl::unexpected(pictures.error());
  const std::string name = plot::xml_escape(report.name);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'\">\n"
      "<title>{} - sptile report</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{}{}{}{}{}{}{}{}"
      "</main>\n<footer><p>Made by sptile {}. Times and shares hold for this machine and this "
      "matrix.</p></footer>\n"
      "</body>\n</html>\n",
      name, style(), head_section(report), advice_section(report), *pictures, length_section(report),
      quality_section(report), size_section(report), product_section(report), command_section(report),
      version());
}

}  // namespace sptile::tools::report
