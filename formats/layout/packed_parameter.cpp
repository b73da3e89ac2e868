#include "formats/layout/packed_parameter.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "formats/layout/rs_tile_rules.hpp"

namespace sptile::formats {
namespace {

std::optional<int> code_of(const ParameterField& field, std::string_view text) {
  const auto name = std::ranges::find(field.names, text);
  if (name != field.names.end()) return static_cast<int>(name - field.names.begin());
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || std::to_string(number) != text) return {};
  if (number < field.min || number > field.max()) return {};
  return number - field.min + static_cast<int>(field.names.size());
}

std::string value_of(const ParameterField& field, int parameter) {
  return field.is_number(parameter)
             ? std::to_string(field.number(parameter))
             : std::string(field.names[static_cast<std::size_t>(field.code(parameter))]);
}

std::string field_names(std::span<const ParameterField> fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < fields.size() ? ", " : " or ").append(fields[i].name);
  return text;
}

}  // namespace

std::span<const ParameterField> fields_of(const FormatLayout& layout) {
  return &layout == &kRsTileLayout ? std::span<const ParameterField>(kRsTileFields)
                                   : std::span<const ParameterField>();
}

std::string field_values_text(const ParameterField& field) {
  std::string text;
  const bool has_numbers = field.max() >= field.min;
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    const bool is_last = i + 1 == field.names.size() && !has_numbers;
    text.append(i == 0 ? "" : is_last ? " or " : ", ").append(field.names[i]);
  }
  if (has_numbers)
    text += (text.empty() ? "" : " or ") + std::to_string(field.min) + " to " + std::to_string(field.max());
  return text;
}

std::string fields_text(std::span<const ParameterField> fields, int parameter) {
  std::string text;
  const auto add = [&](const ParameterField& field) {
    if (!text.empty()) text += ',';
    text.append(field.name).append("=").append(value_of(field, parameter));
  };
  for (const ParameterField& field : fields)
    if (field.code(parameter) != 0) add(field);
  if (text.empty()) add(fields.front());
  return text;
}

Result<int> parse_fields(const FormatLayout& layout, std::string_view text) {
  const std::span<const ParameterField> fields = fields_of(layout);
  const std::string format(layout.name);
  std::vector<bool> is_set(fields.size());
  int parameter = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view setting = text.substr(begin, end - begin);
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const auto field = std::ranges::find(fields, setting.substr(0, equals), &ParameterField::name);
    if (field == fields.end() || equals == setting.size())
      return fail(Errc::usage, format + ": '" + std::string(setting) + "' is not a setting; expected " +
                                   field_names(fields) + ", followed by '=' and a value");
    const auto index = static_cast<std::size_t>(field - fields.begin());
    if (is_set[index])
      return fail(Errc::usage, format + ": " + std::string(field->name) + " is set twice; expected it once");
    is_set[index] = true;
    const std::string_view value = setting.substr(equals + 1);
    const std::optional<int> code = code_of(*field, value);
    if (!code)
      return fail(Errc::usage, format + ": " + std::string(field->name) + " '" + std::string(value) +
                                   "', expected " + field_values_text(*field));
    parameter = field->with_code(parameter, *code);
    begin = end + 1;
  }
  return parameter;
}

}  // namespace sptile::formats
