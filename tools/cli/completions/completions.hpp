// Scripts by which shells complete the command line, made from the command itself.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command_tree.hpp"

namespace sptile::tools::completions {

struct Shell {
  std::string_view name;
  std::string (*script)(const CommandNode& command);
};

std::span<const Shell> shells();

std::string bash_script(const CommandNode& command);
std::string zsh_script(const CommandNode& command);
std::string fish_script(const CommandNode& command);

/// A place in the command: itself, a verb, or a kind of one.
struct Place {
  std::vector<std::string> path;  ///< "sptile", "gen", "rmat"
  const CommandNode* node;
  std::vector<const OptionNode*> options;  ///< all that may stand there, those of the verb of a kind, too

  [[nodiscard]] std::vector<const OptionNode*> positionals() const;
  [[nodiscard]] std::vector<const OptionNode*> flags() const;  ///< what begins with a dash
};

/// Calls `visit` for each place, the command first, a verb before its kinds.
void for_each_place(const CommandNode& command, const std::function<void(const Place&)>& visit);

/// Puts a backslash before each of these characters.
std::string escape(std::string_view text, std::string_view characters);

/// 'text', for the shells that end a quotation with ' alone: bash and zsh.
std::string quote(std::string_view text);

}  // namespace sptile::tools::completions
