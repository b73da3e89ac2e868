// Description of the library as JSON.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "formats/layout/registry.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/include/sptile.h"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {
namespace {

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json += '"';
}

std::string boolean(bool value) { return value ? "true" : "false"; }

/// Returns an object of names and JSON values, without empty values.
std::string object(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string json = "{";
  for (const auto& member : members)
    if (!member.second.empty())
      json += (json.size() > 1 ? ", " : "") + quoted(member.first) + ": " + member.second;
  return json += "}";
}

template <class Range, class ToJson>
std::string array(const Range& range, const ToJson& to_json) {
  std::string json = "[";
  for (const auto& element : range) json += (json.size() > 1 ? ",\n  " : "") + to_json(element);
  return json += "]";
}

std::string operand_json(const OperandSpec& operand) {
  constexpr std::string_view kExtents[] = {"rows", "cols", "entries", "inner", "one", "features"};
  constexpr std::string_view kWidths[] = {"n", "m", "one", "two"};
  constexpr std::string_view kElements[] = {"usual", "operand", "statistic", "index"};
  return object({{"name", quoted(operand.name)},
                 {"extent", quoted(kExtents[static_cast<int>(operand.extent)])},
                 {"width", quoted(kWidths[static_cast<int>(operand.width)])},
                 {"element", quoted(kElements[static_cast<int>(operand.element)])},
                 {"result", boolean(operand.result)},
                 {"optional", boolean(operand.optional)},
                 {"shared", boolean(operand.shared)}});
}

std::string operation_json(const Operation* op) {
  return object({{"name", quoted(op->name)},
                 {"title", quoted(op->title)},
                 {"summary", quoted(op->summary)},
                 {"operands", array(op->operands, operand_json)}});
}

/// Returns a value as JSON: a name for choices, a boolean for flags.
std::string value_json(const Attribute& attribute, double value) {
  if (attribute.kind == Attribute::Kind::flag) return boolean(value != 0);
  const std::string text = value_text(attribute, value);
  return attribute.kind == Attribute::Kind::choice ? quoted(text) : text;
}

std::string attribute_json(const Attribute& a) {
  const bool has_range = a.kind == Attribute::Kind::integer;
  return object({{"name", quoted(a.name)},
                 {"summary", quoted(a.summary)},
                 {"kind", quoted(kAttributeKinds[static_cast<int>(a.kind)])},
                 {"default", value_json(a, initial_value(a))},
                 {"min", has_range ? value_text(a, a.min) : ""},
                 {"max", has_range ? value_text(a, a.max) : ""},
                 {"choices", a.choices.empty() ? "" : array(a.choices, quoted)},
                 {"operations", a.operations.empty() ? "" : quoted(a.operations)},
                 {"given", quoted(a.run.get != nullptr ? "run" : "plan")},
                 {"in_plan_key", boolean(a.in_plan_key)},
                 {"since", std::to_string(a.since)}});
}

std::string kernel_json(const Kernel& kernel) {
  return object({{"name", quoted(kernel.name)},
                 {"operation", quoted(kernel.op->name)},
                 {"format", quoted(kernel.format)},
                 {"device", quoted(kernel.device == Device::cpu ? "cpu" : "cuda")},
                 {"summary", quoted(kernel.summary)}});
}

std::string format_json(const formats::FormatLayout* layout) { return quoted(layout->name); }

std::string library_json() {
  return object({{"abi_version", std::to_string(sptile_abi_version())},
                 {"version", quoted(SPTILE_VERSION)},
                 {"operations", array(operations(), operation_json)},
                 {"attributes", array(attributes(), attribute_json)},
                 {"formats", array(formats::layouts(), format_json)},
                 {"kernels", array(kernels(), kernel_json)}});
}

Status describe(const char** json) {
  if (json == nullptr) return null_argument("sptile_describe", "json");
  *json = nullptr;
  static const std::string text = library_json();
  *json = text.c_str();
  return {};
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_describe(const char** json) {
  return guarded([&] { return describe(json); });
}
