// Verbs of the command, and the context of one run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

class ProgressBar;

/// Options of every verb.
struct CommonOptions {
  bool json = false;
  int threads = 0;  ///< 0: all available
  std::uint64_t seed = 1;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool copy = false;
  std::string color = "auto";
};

/// Context of one run of one verb.
struct Session final : Work {
  std::string verb;
  CommonOptions common;
  ProgressBar* bar = nullptr;  ///< draws the progress; notes on stderr are printed through it

  /// Prints to stderr, also with --quiet.
  void warn(const std::string& text) const override;
  /// Prints to stderr unless --quiet is set.
  void note(const std::string& text) const override;
  /// Prints to stderr only with --verbose.
  void detail(const std::string& text) const override;
};

using Action = std::function<Status(Session&)>;

/// A row of the verb table, defined in the verb's file in commands/.
struct Verb {
  std::string_view name;                ///< for example "convert"
  std::string_view summary;             ///< at most 70 characters, imperative
  std::string_view details;             ///< long text: paragraphs, code in backquotes
  std::string_view json_keys;           ///< keys of its JSON object, with descriptions
  std::string_view example;             ///< command lines
  Action (*declare)(Options& options);  ///< adds the verb's options; the action runs after parsing
  /// suffix of the output name that messages propose, for example ".h5"
  std::string_view output_ending = {};
};

/// Returns all verbs, in the order of the help.
std::span<const Verb> verbs();

/// Returns the verb with this name, or null.
const Verb* find_verb(std::string_view name);

}  // namespace sptile::tools
