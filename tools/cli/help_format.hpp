// Formatting of --help and `sptile help` for the width of the terminal, with colored headings.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/cli/command_tree.hpp"

namespace sptile::tools {

/// Prints the short text of each option, or also the long one. Lines fit the terminal of standard output, or
/// 80 columns without one.
class HelpFormat final : public CLI::Formatter {
 public:
  /// Both must outlive the object. `detailed`: print long texts.
  HelpFormat(const OptionTable& facts, const bool& detailed);

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  const OptionTable* facts_;
  const bool* detailed_;
  int width_;
};

}  // namespace sptile::tools
