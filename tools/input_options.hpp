// Options of verbs that read a matrix.
#pragma once

#include <string>

#include "tools/input.hpp"
#include "tools/options.hpp"

namespace sptile::tools {

/// As typed.
struct InputOptions {
  bool real_part = false;
  std::string base = "auto", separator = "auto";

  /// Of edge lists; the words were checked when they were parsed.
  [[nodiscard]] formats::EdgeListOptions edges() const;
  /// How a file is read with these; without a hash of it.
  [[nodiscard]] LoadOptions load(DType dtype) const { return {dtype, real_part, false, edges()}; }
  /// " --base 1": what is not the default, as it would be typed.
  [[nodiscard]] std::string typed() const;
};

/// Declares --real-part, --base and --separator; the same words on every verb that reads a matrix.
void declare_input(Options& app, InputOptions& options);

}  // namespace sptile::tools
