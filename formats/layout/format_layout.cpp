#include "formats/layout/format_layout.hpp"

#include <vector>

namespace sptile::formats {

ArrayView FormatView::values(int number) const {
  for (std::size_t i = 0; i < layout->arrays.size(); ++i)
    if (layout->arrays[i].holds_values && number-- == 0) return arrays[i];
  return {};
}

DType FormatView::value_dtype() const {
  for (std::size_t i = 0; i < layout->arrays.size(); ++i)
    if (layout->arrays[i].holds_values && arrays[i].present()) return arrays[i].dtype;
  return DType::none;
}

Status check_array_types(const FormatView& view) {
  const auto name = [&](std::size_t i) {
    return std::string(view.layout->name) + ": " + std::string(view.layout->arrays[i].name);
  };
  const DType values = view.value_dtype();
  if (values != DType::none && !info(values).is_value)
    return fail(Errc::bad_input, std::string(view.layout->name) + ": values of " +
                                     std::string(name_of(values)) + ", expected f16, bf16, f32 or f64");
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
    const ArraySpec& spec = view.layout->arrays[i];
    const ArrayView& array = view.arrays[i];
    const DType expected = spec.holds_values ? values : spec.dtype;
    if (array.dtype != expected)
      return fail(Errc::bad_input, name(i) + " has type " + std::string(name_of(array.dtype)) +
                                       ", expected " + std::string(name_of(expected)));
    if (array.size < 0) return fail(Errc::bad_input, name(i) + " has a negative length");
  }
  return {};
}

Status check(const FormatView& view, int threads) {
  if (Status s = view.layout->check_lengths(view); !s) return s;
  return view.layout->check_contents(view, threads);
}

std::string values_text(const FormatParameter& parameter) {
  std::vector<std::string> texts;
  for (const NamedValue& named : parameter.names) texts.emplace_back(named.name);
  for (const int value : parameter.values) texts.push_back(std::to_string(value));
  if (parameter.values.empty())
    texts.push_back(std::to_string(parameter.min) + " to " + std::to_string(parameter.max));
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) text += i + 1 < texts.size() ? ", " : " or ";
    text += texts[i];
  }
  return text;
}

std::string value_text(const FormatParameter& parameter, int value) {
  for (const NamedValue& named : parameter.names)
    if (named.value == value) return std::string(named.name);
  return std::to_string(value);
}

Status check_parameter(const FormatLayout& layout, std::int64_t value) {
  const std::string name(layout.name);
  if (layout.parameter == nullptr)
    return fail(Errc::usage, name + " has no parameter, got " + std::to_string(value));
  const FormatParameter& parameter = *layout.parameter;
  if (parameter.accepts(value)) return {};
  return fail(Errc::usage, name + ": " + std::string(parameter.name) + " " + std::to_string(value) +
                               ", expected " + values_text(parameter) + " " + std::string(parameter.unit));
}

namespace {
std::int64_t bytes_of(const FormatView& view, bool values) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i)
    if (view.layout->arrays[i].holds_values == values) bytes += view.arrays[i].bytes();
  return bytes;
}
}  // namespace

std::int64_t index_bytes(const FormatView& view) { return bytes_of(view, false); }
std::int64_t value_bytes(const FormatView& view) { return bytes_of(view, true); }

}  // namespace sptile::formats
