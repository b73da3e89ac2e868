#include "tools/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "formats/core/dtype_names.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {

// Validators return a message, or an empty string for valid text. They may replace the text.
using Check = std::function<std::string(std::string&)>;

// Replaces each name of a list by its spelling in the table; keeps the text after a colon.
Check name_check(const std::string& what, std::vector<std::string> known) {
  return [what, known = std::move(known)](std::string& text) {
    std::string spelled;
    for (const std::string& item : split_names(text)) {
      const std::size_t colon = std::min(item.find(':'), item.size());
      const auto at = find_name(what, item.substr(0, colon), known);
      if (!at) return at.error().message;
      spelled += (spelled.empty() ? "" : ",") + known[*at] + item.substr(colon);
    }
    text = spelled;
    return std::string();
  };
}

template <class T>
std::string number_error(const std::string& text) {
  T value{};
  // The parser wraps negative and large numbers of unsigned types.
  bool wraps = false;
  if constexpr (std::is_unsigned_v<T>)
    wraps = std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc();
  if (!wraps && CLI::detail::lexical_cast(text, value)) return {};
  constexpr std::string_view kind = std::is_integral_v<T> ? "an integer" : "a number";
  const bool digits = !text.empty() && text.find_first_not_of("+-0123456789") == std::string::npos;
  return digits ? fmt::format("'{}' is out of range", text) : fmt::format("'{}' is not {}", text, kind);
}

template <class T>
Check range_check(T lowest, T highest) {
  return [=](std::string& text) {
    T value{};
    const bool fits = CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
    constexpr std::string_view kind = std::is_integral_v<T> ? "an integer" : "a number";
    return fits ? std::string() : fmt::format("'{}' is not {} from {} to {}", text, kind, lowest, highest);
  };
}

void check_first(CLI::Option* option, const Check& check) { option->transform(CLI::Validator(check, "")); }

template <class T>
CLI::Option* declare(CLI::App& app, const std::string& names, T& place, const std::string& help) {
  CLI::Option* const option = app.add_option(names, place, help);
  if constexpr (std::is_arithmetic_v<T>) check_first(option, number_error<T>);
  return option;
}

template <class T>
CLI::Option* declare(CLI::App& app, const std::string& names, std::vector<T>& place,
                     const std::string& help) {
  CLI::Option* const option = app.add_option(names, place, help);
  if (names.starts_with('-')) option->delimiter(',')->allow_extra_args(false);
  if constexpr (std::is_arithmetic_v<T>) check_first(option, number_error<T>);
  return option;
}

std::vector<std::string> value_type_names() {
  std::vector<std::string> names;
  for (const LongDTypeName& row : kLongDTypeNames) names.emplace_back(name_of(row.dtype));
  return names;
}

std::string check_value_type(std::string& text) {
  const auto dtype = parse_value_dtype(text);
  if (!dtype) return unknown_name("type", text, value_type_names()).message;
  text = name_of(*dtype);
  return {};
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::default_text(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::description(const std::string& text) {
  option_->description(text);
  return *this;
}

Option& Option::details(const std::string& text) {
  (*facts_)[option_].details = text;
  return *this;
}

Option& Option::unit(const std::string& unit) {
  (*facts_)[option_].values.unit = unit;
  return *this;
}

Option& Option::environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  check_first(option_, name_check("value", values));
  ValueSpec& spec = (*facts_)[option_].values;
  spec.names = std::move(values);
  spec.closed = true;
  return *this;
}

Option& Option::value_type() {
  check_first(option_, check_value_type);
  ValueSpec& spec = (*facts_)[option_].values;
  spec.names = value_type_names();
  spec.closed = true;
  return *this;
}

Option& Option::names(const std::string& what, std::vector<std::string> known) {
  check_first(option_, name_check(what, known));
  return offer(std::move(known));
}

Option& Option::offer(std::vector<std::string> values) {
  (*facts_)[option_].values.names = std::move(values);
  return *this;
}

Option& Option::range(std::int64_t lowest, std::int64_t highest) {
  (*facts_)[option_].values.range = fmt::format("{} to {}", lowest, highest);
  check_first(option_, range_check(lowest, highest));
  return *this;
}

Option& Option::real_range(double lowest, double highest) {
  (*facts_)[option_].values.range = fmt::format("{} to {}", lowest, highest);
  check_first(option_, range_check(lowest, highest));
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

template <class T>
Option Options::add(const std::string& names, T& place, const std::string& help) {
  const std::size_t blank = names.find(' ');
  CLI::Option* const option = declare(*app_, names.substr(0, blank), place, help);
  if (blank != std::string::npos) (*facts_)[option].values.placeholder = names.substr(blank + 1);
  return {option, *facts_};
}

Option Options::add_option(const std::string& names, std::string& place, const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, int& place, const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, std::int64_t& place, const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, std::uint64_t& place, const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, double& place, const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, DType& place, const std::string& help) {
  const auto set = [&place](const std::string& name) { place = *parse_value_dtype(name); };
  CLI::Option* const option =
      app_->add_option_function<std::string>(names.substr(0, names.find(' ')), set, help);
  (*facts_)[option].values.placeholder = "TYPE";
  return Option(option, *facts_).value_type().default_text(std::string(name_of(place)));
}

Option Options::add_option(const std::string& names, std::vector<std::string>& place,
                           const std::string& help) {
  return add(names, place, help);
}

Option Options::add_option(const std::string& names, std::vector<std::int64_t>& place,
                           const std::string& help) {
  return add(names, place, help);
}

Option Options::add_flag(const std::string& names, bool& place, const std::string& help) {
  return {app_->add_flag(names, place, help), *facts_};
}

Option Options::get_option(const std::string& name) const { return {app_->get_option(name), *facts_}; }

std::size_t Options::count() const { return app_->get_options().size(); }

void Options::mark_common(std::size_t first) {
  const auto options = app_->get_options();
  for (std::size_t i = first; i < options.size(); ++i) (*facts_)[options[i]].common = true;
}

void Options::add_force(bool& force) { add_flag("--force", force, "Replace output files that exist"); }

Options Options::add_kind(std::string_view name, std::string_view summary, const std::string& footer,
                          std::function<void()> parsed) {
  app_->require_subcommand(1);
  CLI::App* const kind = app_->add_subcommand(std::string(name), std::string(summary));
  kind->group("Kinds");
  kind->set_help_flag("-h,--help", "Print help");
  kind->footer(footer);
  kind->fallthrough();
  kind->callback(std::move(parsed));
  return {*kind, *facts_};
}

CommandNode Options::command() const {
  const CLI::App* root = app_;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return command_tree(*root, *facts_);
}

}  // namespace sptile::tools
