// Parsing of the command line into a verb and its options.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/cli/verb.hpp"

namespace sptile::tools {

/// A verb to run.
struct ParsedCommand {
  std::string verb;
  CommonOptions common;
  Action action;
  std::shared_ptr<const void> options;  ///< options for the action
};

/// Parses the words after "sptile". If no verb is to run, prints the help or error and returns the exit code.
tl::expected<ParsedCommand, int> parse_command_line(std::vector<std::string> words);

}  // namespace sptile::tools
