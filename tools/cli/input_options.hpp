// Options of verbs that read a matrix.
#pragma once

#include <string>

#include "tools/cli/options.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {

/// Options as typed.
struct InputOptions {
  bool real_part = false;
  std::string from = "auto", base = "auto", separator = "auto", columns = "auto";

  /// Returns the options of edge lists, whose words were checked by the parser.
  [[nodiscard]] formats::EdgeListOptions edges() const;
  /// Returns the kind of file; empty if it is to be detected.
  [[nodiscard]] std::string kind() const { return from == "auto" ? "" : from; }
  /// Returns the options for reading a file without computing its hash.
  [[nodiscard]] LoadOptions load(DType dtype) const { return {dtype, real_part, false, edges(), kind(), {}}; }
  /// Returns the options that differ from the defaults as command-line text, for example " --base 1".
  [[nodiscard]] std::string typed() const;
};

/// Declares --from, --real-part, --base, --separator and --columns, with the same text for every verb that
/// reads a matrix.
void declare_input(Options& app, InputOptions& options);

/// Declares the argument IN of a verb that reads one matrix.
void declare_matrix(Options& app, std::string& path);

}  // namespace sptile::tools
