// Shell completion scripts, generated from the command tree.
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

/// A position in the command: the command, a verb, or a kind of a verb.
struct Place {
  std::vector<std::string> path;  ///< for example "sptile", "gen", "rmat"
  const CommandNode* node;
  /// all valid options and positionals, including those of the kind's verb
  std::vector<const OptionNode*> options;

  [[nodiscard]] std::vector<const OptionNode*> positionals() const;
  [[nodiscard]] std::vector<const OptionNode*> flags() const;  ///< those that begin with a dash
};

/// Calls `visit` for each position: the command first, and a verb before its kinds.
void for_each_place(const CommandNode& command, const std::function<void(const Place&)>& visit);

/// Escapes each of these characters with a backslash.
std::string escape(std::string_view text, std::string_view characters);

/// Quotes a text with single quotes for bash and zsh.
std::string quote(std::string_view text);

}  // namespace sptile::tools::completions
