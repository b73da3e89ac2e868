// What was typed, understood: a verb and its options, or what is wrong with them.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/cli/verb.hpp"

namespace sptile::tools {

/// A verb that may run.
struct ParsedCommand {
  std::string verb;
  CommonOptions common;
  Action action;
  std::shared_ptr<const void> options;  ///< what the action reads
};

/// Understands the words behind "sptile". What is left to do when no verb is to run is done: the exit code is
/// that of help that was printed (0) or of an error that was reported.
tl::expected<ParsedCommand, int> parse_command_line(std::vector<std::string> words);

}  // namespace sptile::tools
