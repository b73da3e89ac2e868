// How --help looks: as wide as the terminal, with headings in colour.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sptile::tools {

/// Lines fit the terminal of standard output, or 80 columns where there is none.
class HelpFormat final : public CLI::Formatter {
 public:
  /// `subcommands`: what they are called in the line of usage, "VERB".
  explicit HelpFormat(const std::string& subcommands);

  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  int width_;
};

}  // namespace sptile::tools
