#include "tools/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "tools/help_format.hpp"
#include "tools/names.hpp"

namespace sptile::tools {
namespace {

// Takes lists with commas, too, and what stands behind a colon: "tall:64,csr".
CLI::Validator a_name_of(const std::string& what, std::vector<std::string> known) {
  const auto check = [what, known = std::move(known)](const std::string& text) {
    for (const std::string& item : split_list(text))
      if (const auto at = find_name(what, item.substr(0, item.find(':')), known); !at)
        return at.error().message;
    return std::string();
  };
  return {check, ""};
}

template <class T>
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<T>& place,
                      const std::string& help) {
  CLI::Option* const option = app.add_option(names, place, help);
  if (names.starts_with('-')) option->delimiter(',')->allow_extra_args(false);
  return option;
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

Option& Option::environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  (*values_)[option_] = {values, true, {}};
  const std::string choices = fmt::format("{{{}}}", fmt::join(values, ","));
  const auto check = [values = std::move(values)](const std::string& text) {
    const auto at = find_name("", text, values);
    return at ? std::string() : at.error().message;
  };
  option_->check(CLI::Validator(check, choices));
  return *this;
}

Option& Option::names(const std::string& what, std::vector<std::string> known) {
  option_->check(a_name_of(what, known));
  return offer(std::move(known));
}

Option& Option::offer(std::vector<std::string> values) {
  (*values_)[option_] = {std::move(values), false, {}};
  return *this;
}

Option& Option::range(std::int64_t lowest, std::int64_t highest) {
  (*values_)[option_].range = fmt::format("{} to {}", lowest, highest);
  const auto check = [=](const std::string& text) {
    std::int64_t value = 0;
    const bool fits = CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
    return fits ? std::string()
                : fmt::format("'{}' is not a whole number from {} to {}", text, lowest, highest);
  };
  option_->check(CLI::Validator(check, fmt::format("INT in [{} - {}]", lowest, highest)));
  return *this;
}

// NaN is neither below the lowest nor above the highest.
Option& Option::real_range(double lowest, double highest) {
  (*values_)[option_].range = fmt::format("{} to {}", lowest, highest);
  const auto check = [=](const std::string& text) {
    double value = 0;
    const bool fits = CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest;
    return fits ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, lowest, highest);
  };
  option_->check(CLI::Validator(check, fmt::format("FLOAT in [{} - {}]", lowest, highest)));
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Option Options::add_option(const std::string& names, std::string& place, const std::string& help) {
  return {app_->add_option(names, place, help), *values_};
}

Option Options::add_option(const std::string& names, int& place, const std::string& help) {
  return {app_->add_option(names, place, help), *values_};
}

Option Options::add_option(const std::string& names, std::int64_t& place, const std::string& help) {
  return {app_->add_option(names, place, help), *values_};
}

Option Options::add_option(const std::string& names, std::uint64_t& place, const std::string& help) {
  return {app_->add_option(names, place, help), *values_};
}

Option Options::add_option(const std::string& names, double& place, const std::string& help) {
  return {app_->add_option(names, place, help), *values_};
}

Option Options::add_option(const std::string& names, DType& place, const std::string& help) {
  const auto set = [&place](const std::string& name) { place = *value_dtype_from_name(name); };
  return Option(app_->add_option_function<std::string>(names, set, help), *values_)
      .one_of({"f32", "f64", "f16", "bf16"})
      .default_text(std::string(name_of(place)));
}

Option Options::add_option(const std::string& names, std::vector<std::string>& place,
                           const std::string& help) {
  return {add_list(*app_, names, place, help), *values_};
}

Option Options::add_option(const std::string& names, std::vector<std::int64_t>& place,
                           const std::string& help) {
  return {add_list(*app_, names, place, help), *values_};
}

Option Options::add_flag(const std::string& names, bool& place, const std::string& help) {
  return {app_->add_flag(names, place, help), *values_};
}

Option Options::get_option(const std::string& name) const { return {app_->get_option(name), *values_}; }

void Options::add_force(bool& force) { add_flag("--force", force, "replace an output that exists"); }

Options Options::add_kind(std::string_view name, std::string_view summary, const std::string& footer,
                          std::function<void()> parsed) {
  app_->require_subcommand(1);
  app_->formatter(std::make_shared<HelpFormat>("KIND"));
  CLI::App* const kind = app_->add_subcommand(std::string(name), std::string(summary));
  kind->group("Kinds");
  kind->set_help_flag("-h,--help", "print this help");
  kind->footer(footer);
  kind->fallthrough();
  kind->callback(std::move(parsed));
  return {*kind, *values_};
}

CommandNode Options::command() const {
  const CLI::App* root = app_;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return command_tree(*root, *values_);
}

}  // namespace sptile::tools
