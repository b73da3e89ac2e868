// Options of verbs that read a matrix.
#pragma once

#include <string>

#include "tools/cli/options.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {

/// As typed.
struct InputOptions {
  bool real_part = false;
  std::string from = "auto", base = "auto", separator = "auto", columns = "auto";

  /// Of edge lists; the words were checked when they were parsed.
  [[nodiscard]] formats::EdgeListOptions edges() const;
  /// The kind of file; empty where it says that itself.
  [[nodiscard]] std::string kind() const { return from == "auto" ? "" : from; }
  /// How a file is read with these; without a hash of it.
  [[nodiscard]] LoadOptions load(DType dtype) const { return {dtype, real_part, false, edges(), kind(), {}}; }
  /// " --base 1": what is not the default, as it would be typed.
  [[nodiscard]] std::string typed() const;
};

/// Declares --from, --real-part, --base, --separator and --columns, with the same text for every verb that
/// reads a matrix.
void declare_input(Options& app, InputOptions& options);

/// Declares the argument IN of a verb that reads one matrix.
void declare_matrix(Options& app, std::string& path);

}  // namespace sptile::tools
