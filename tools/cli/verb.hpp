// Verbs of the command, and the state of one run.
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
  int threads = 0;  ///< 0: all
  std::uint64_t seed = 1;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool copy = false;
  std::string color = "auto";
};

/// One run of one verb.
struct Session final : Work {
  std::string verb;
  CommonOptions common;
  ProgressBar* bar = nullptr;  ///< draws the progress; notes on stderr go through it

  /// On stderr, also with --quiet.
  void warn(const std::string& text) const override;
  /// On stderr; silent with --quiet.
  void note(const std::string& text) const override;
  /// On stderr, but only with --verbose.
  void detail(const std::string& text) const override;
};

using Action = std::function<Status(Session&)>;

/// One row of the verb table. A verb's own file in commands/ defines it.
struct Verb {
  std::string_view name;                ///< "convert"
  std::string_view summary;             ///< at most 70 characters, imperative
  std::string_view details;             ///< the long text: paragraphs, code in backquotes
  std::string_view json_keys;           ///< the keys of its JSON object, and what they mean
  std::string_view example;             ///< command lines
  Action (*declare)(Options& options);  ///< adds the verb's options; the action runs after they are parsed
  std::string_view output_ending = {};  ///< ".h5": of the output name that messages propose
};

/// Lists every verb, in the order of the help.
std::span<const Verb> verbs();

/// Returns the verb with this name, or null.
const Verb* find_verb(std::string_view name);

}  // namespace sptile::tools
