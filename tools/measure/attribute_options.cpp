#include "tools/measure/attribute_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/operation/operation.hpp"

namespace sptile::tools {
namespace {

using runtime::Attribute;
using Kind = Attribute::Kind;

constexpr std::string_view kDeclaredElsewhere[] = {"precision", "choice", "replan", "order"};

double value_in(const ProductAttributes& attributes, const Attribute& attribute) {
  return attribute.plan.get != nullptr ? attribute.plan.get(attributes.plan)
                                       : attribute.run.get(attributes.run);
}

std::string option_name(const Attribute& attribute) {
  std::string name = "--" + std::string(attribute.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> choices_of(const Attribute& attribute) {
  return {attribute.choices.begin(), attribute.choices.end()};
}

std::string details_of(const Attribute& attribute) {
  std::string names;
  for (const char c : attribute.operations) names += c == ' ' ? "`, `" : std::string(1, c);
  return names.empty() ? "" : fmt::format("Applies to `{}`.", names);
}

}  // namespace

std::string attributes_text(const ProductAttributes& attributes) {
  std::string text;
  for (const Attribute& attribute : runtime::attributes()) {
    if (std::ranges::count(kDeclaredElsewhere, attribute.name) > 0) continue;
    const double value = value_in(attributes, attribute);
    if (value != initial_value(attribute))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", attribute.name, value_text(attribute, value));
  }
  return text;
}

AttributeOptions::AttributeOptions() {
  for (const Attribute& attribute : runtime::attributes()) {
    if (std::ranges::count(kDeclaredElsewhere, attribute.name) > 0) continue;
    const double value = initial_value(attribute);
    arguments_.push_back({&attribute, value != 0, static_cast<std::int64_t>(value), value,
                          attribute.kind == Kind::choice ? value_text(attribute, value) : ""});
  }
}

void AttributeOptions::declare(Options& app, bool for_runs) {
  for (Argument& argument : arguments_) {
    const Attribute& attribute = *argument.attribute;
    if ((attribute.run.get != nullptr) != for_runs) continue;
    const std::string name = option_name(attribute), help(attribute.summary), details = details_of(attribute);
    switch (attribute.kind) {
      case Kind::flag:
        app.add_flag(name, argument.flag, help).details(details);
        break;
      case Kind::integer:
        app.add_option(name + " N", argument.integer, help)
            .range(static_cast<std::int64_t>(attribute.min), static_cast<std::int64_t>(attribute.max))
            .details(details);
        break;
      case Kind::real:
        app.add_option(name + " X", argument.real, help).details(details);
        break;
      case Kind::choice:
        app.add_option(name + " NAME", argument.choice, help).one_of(choices_of(attribute)).details(details);
        break;
    }
  }
}

double AttributeOptions::Argument::value() const {
  switch (attribute->kind) {
    case Kind::flag:
      return flag ? 1 : 0;
    case Kind::integer:
      return static_cast<double>(integer);
    case Kind::real:
      return real;
    case Kind::choice:
      return static_cast<double>(std::ranges::find(attribute->choices, choice) - attribute->choices.begin());
  }
  __builtin_unreachable();
}

ProductAttributes AttributeOptions::given() const {
  ProductAttributes attributes;
  for (const Argument& argument : arguments_)
    if (argument.attribute->plan.set != nullptr)
      argument.attribute->plan.set(attributes.plan, argument.value());
    else
      argument.attribute->run.set(attributes.run, argument.value());
  return attributes;
}

}  // namespace sptile::tools
