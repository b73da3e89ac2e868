#include "tools/options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <utility>

namespace sptile::tools {
namespace {

// CLI11's Range lets NaN pass: it is neither below the lowest nor above the highest.
CLI::Validator a_number() {
  const auto check = [](const std::string& text) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value) && !std::isnan(value);
    return is_number ? std::string() : text + " is not a number";
  };
  return {check, ""};
}

template <class T>
Option add_list(CLI::App& app, const std::string& names, std::vector<T>& place, const std::string& help) {
  CLI::Option* const option = app.add_option(names, place, help);
  if (names.starts_with('-')) option->delimiter(',')->allow_extra_args(false);
  return Option(option);
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
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}

Option& Option::range(std::int64_t lowest, std::int64_t highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Option& Option::real_range(double lowest, double highest) {
  option_->check(a_number())->check(CLI::Range(lowest, highest));
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Option Options::add_option(const std::string& names, std::string& place, const std::string& help) {
  return Option(app_->add_option(names, place, help));
}

Option Options::add_option(const std::string& names, int& place, const std::string& help) {
  return Option(app_->add_option(names, place, help));
}

Option Options::add_option(const std::string& names, std::int64_t& place, const std::string& help) {
  return Option(app_->add_option(names, place, help));
}

Option Options::add_option(const std::string& names, std::uint64_t& place, const std::string& help) {
  return Option(app_->add_option(names, place, help));
}

Option Options::add_option(const std::string& names, double& place, const std::string& help) {
  return Option(app_->add_option(names, place, help));
}

Option Options::add_option(const std::string& names, DType& place, const std::string& help) {
  const auto set = [&place](const std::string& name) { place = *value_dtype_from_name(name); };
  return Option(app_->add_option_function<std::string>(names, set, help))
      .one_of({"f32", "f64", "f16", "bf16"})
      .default_text(std::string(name_of(place)));
}

Option Options::add_option(const std::string& names, std::vector<std::string>& place,
                           const std::string& help) {
  return add_list(*app_, names, place, help);
}

Option Options::add_option(const std::string& names, std::vector<std::int64_t>& place,
                           const std::string& help) {
  return add_list(*app_, names, place, help);
}

Option Options::add_flag(const std::string& names, bool& place, const std::string& help) {
  return Option(app_->add_flag(names, place, help));
}

Option Options::get_option(const std::string& name) const { return Option(app_->get_option(name)); }

void Options::add_force(bool& force) { add_flag("--force", force, "replace an output that exists"); }

Options Options::add_kind(std::string_view name, std::string_view summary, const std::string& footer,
                          std::function<void()> parsed) {
  app_->require_subcommand(1);
  // The formatter is shared with all verbs until it is copied.
  auto formatter =
      std::make_shared<CLI::Formatter>(dynamic_cast<const CLI::Formatter&>(*app_->get_formatter()));
  formatter->label("SUBCOMMAND", "KIND");
  app_->formatter(std::move(formatter));
  CLI::App* const kind = app_->add_subcommand(std::string(name), std::string(summary));
  kind->group("Kinds");
  kind->set_help_flag("-h,--help", "print this help");
  kind->footer(footer);
  kind->fallthrough();
  kind->callback(std::move(parsed));
  return Options(*kind);
}

}  // namespace sptile::tools
