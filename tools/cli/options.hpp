// Declaration of options. Hides the parser (CLI11), which adds seconds to the compilation of each source file
// that includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/dtype.hpp"
#include "tools/cli/command_tree.hpp"

namespace sptile::tools {

/// One declared option, the source of help, completions, manual pages and the reference.
class Option {
 public:
  Option(CLI::Option* option, OptionTable& facts) : option_(option), facts_(&facts) {}

  Option& required();
  /// Replaces the default that help displays; "" displays none.
  Option& default_text(const std::string& text);
  Option& description(const std::string& text);
  /// Sets the long text, which `sptile help`, the manual page and the reference print after the short one:
  /// sentences in paragraphs, code in backquotes.
  Option& details(const std::string& text);
  /// Sets the unit, for example "rows", "us", "GB/s".
  Option& unit(const std::string& unit);
  /// Sets the environment variable that is read if the option is not given.
  Option& environment(const std::string& variable);
  /// Accepts these values, in any case.
  Option& one_of(std::vector<std::string> values);
  /// Accepts the value types, "f32" as well as "float32".
  Option& value_type();
  /// Offers these names in completions, alone or in a list, without checking the value.
  Option& offer(std::vector<std::string> values);
  /// Accepts names of a table and lists of them, "a:1,b", in any spelling that find_name accepts, and checks
  /// them during parsing. Verbs check the text after a colon.
  Option& names(const std::string& what, std::vector<std::string> known);
  Option& range(std::int64_t lowest, std::int64_t highest);  ///< for options of an integer type
  Option& real_range(double lowest, double highest);         ///< for double; excludes NaN

  [[nodiscard]] bool given() const;

 private:
  CLI::Option* option_;
  OptionTable* facts_;
};

/// The options of a verb or of a kind of a verb. Parsing writes the referenced variables, which must outlive
/// it. Names are "-o,--output", followed by a placeholder for the value: "--method METHOD". A name without
/// dashes is a positional argument, and "OUT,-o,--output" is either.
class Options {
 public:
  Options(CLI::App& app, OptionTable& facts) : app_(&app), facts_(&facts) {}

  Option add_option(const std::string& names, std::string& place, const std::string& help);
  Option add_option(const std::string& names, int& place, const std::string& help);
  Option add_option(const std::string& names, std::int64_t& place, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& place, const std::string& help);
  Option add_option(const std::string& names, double& place, const std::string& help);
  Option add_option(const std::string& names, DType& place, const std::string& help);
  /// Adds an option with several values. A positional takes all following arguments; an option takes one
  /// argument each time and splits it at commas, so it never consumes the arguments after it.
  Option add_option(const std::string& names, std::vector<std::string>& place, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::int64_t>& place, const std::string& help);
  Option add_flag(const std::string& names, bool& place, const std::string& help);

  /// Returns a declared option by name.
  [[nodiscard]] Option get_option(const std::string& name) const;

  /// Marks all options declared since `first`, a count of options, as options of every verb.
  void mark_common(std::size_t first);
  [[nodiscard]] std::size_t count() const;

  /// Declares --force, with the same text for every verb that writes a file.
  void add_force(bool& force);

  /// Declares a kind of a verb ("gen rmat") with its own options; exactly one kind must be given, and
  /// `parsed` is called for it. The options of the verb may follow it.
  Options add_kind(std::string_view name, std::string_view summary, const std::string& footer,
                   std::function<void()> parsed);

  /// Returns the entire command as data, not only this verb. Requires that all verbs are declared.
  [[nodiscard]] CommandNode command() const;

 private:
  template <class T>
  Option add(const std::string& names, T& place, const std::string& help);

  CLI::App* app_;
  OptionTable* facts_;
};

}  // namespace sptile::tools
