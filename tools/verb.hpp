// What a verb of the command is, and what it gets when it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/error.hpp"
#include "tools/options.hpp"
#include "tools/work.hpp"

namespace sptile::tools {

class ProgressBar;

/// Options that every verb takes.
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
  ProgressBar* bar = nullptr;  ///< paints the progress; notes to stderr go through it

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
  std::string_view summary;             ///< one line for the help
  std::string_view example;             ///< command lines for the foot of its help
  Action (*declare)(Options& options);  ///< adds the verb's options; the action runs after they are parsed
  std::string_view writes = {};         ///< ending of its OUT, ".h5": for proposals of a name
};

/// Lists every verb, in the order of the help.
std::span<const Verb> verbs();

/// The row of a name; null where there is none.
const Verb* find_verb(std::string_view name);

}  // namespace sptile::tools
