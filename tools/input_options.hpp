// Options of verbs that read a matrix.
#pragma once

#include <string>

#include "formats/io/edge_list.hpp"
#include "tools/options.hpp"

namespace sptile::tools {

/// As typed.
struct InputOptions {
  bool real_part = false;
  std::string base = "auto", separator = "auto";

  /// Of edge lists; the words were checked when they were parsed.
  [[nodiscard]] formats::EdgeListOptions edges() const;
};

/// Declares --real-part, --base and --separator; the same words on every verb that reads a matrix.
void declare_input(Options& app, InputOptions& options);

}  // namespace sptile::tools
