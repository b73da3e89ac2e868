// How a verb declares its options. The library that parses them (CLI11) stays behind this header: it costs
// seconds wherever it is included.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/dtype.hpp"
#include "tools/command_tree.hpp"

namespace sptile::tools {

/// One declared option: what else is to be said of it.
class Option {
 public:
  Option(CLI::Option* option, OptionValues& values) : option_(option), values_(&values) {}

  Option& required();
  /// Says in the help what holds when the option is not given, instead of the variable's value.
  Option& default_text(const std::string& text);
  Option& description(const std::string& text);
  /// Takes the value of this environment variable when the option is not given.
  Option& environment(const std::string& variable);
  Option& one_of(std::vector<std::string> values);
  /// Names that it may be given among others, alone or with commas: completions offer them, nothing is
  /// checked.
  Option& offer(std::vector<std::string> values);
  /// Refuses what is not among the names of a table, while the command line is parsed: typing errors are then
  /// told before anything else. Of "a:1,b" the names a and b are looked at; verbs check the rest.
  /// Completions offer them.
  Option& names(const std::string& what, std::vector<std::string> known);
  Option& range(std::int64_t lowest, std::int64_t highest);  ///< for options of an integer type
  Option& real_range(double lowest, double highest);         ///< for double; NaN is outside

  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_;
  OptionValues* values_;
};

/// The options of a verb, or of a kind below it; `values` gets what is known of the values they take. Places
/// are written when the command line is parsed: they must outlive that. A name without dashes ("IN") is a
/// positional argument.
class Options {
 public:
  Options(CLI::App& app, OptionValues& values) : app_(&app), values_(&values) {}

  Option add_option(const std::string& names, std::string& place, const std::string& help);
  Option add_option(const std::string& names, int& place, const std::string& help);
  Option add_option(const std::string& names, std::int64_t& place, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& place, const std::string& help);
  Option add_option(const std::string& names, double& place, const std::string& help);
  /// A type that values may have, by name.
  Option add_option(const std::string& names, DType& place, const std::string& help);
  /// Several values. A positional takes all that follow; an option takes one argument each time, cut at
  /// commas, so that it never takes what stands behind it.
  Option add_option(const std::string& names, std::vector<std::string>& place, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::int64_t>& place, const std::string& help);
  Option add_flag(const std::string& names, bool& place, const std::string& help);

  /// Finds an option that was declared.
  [[nodiscard]] Option get_option(const std::string& name) const;

  /// Declares --force; the same words on every verb that writes a file.
  void add_force(bool& force);

  /// Declares a kind of a verb ("gen rmat"), with options of its own; exactly one must be given. `parsed` is
  /// called when it was. The options of the verb may follow it, too.
  Options add_kind(std::string_view name, std::string_view summary, const std::string& footer,
                   std::function<void()> parsed);

  /// The whole command as data, not only this verb. To be asked for when all verbs are declared.
  [[nodiscard]] CommandNode command() const;

 private:
  CLI::App* app_;
  OptionValues* values_;
};

}  // namespace sptile::tools
