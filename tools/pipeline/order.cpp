#include "tools/pipeline/order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "formats/io/files/available_memory.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {
bool is_identity(const std::vector<std::int32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

const reorder::Parameter* find_parameter(const reorder::Reorderer& method, std::string_view name) {
  const auto found = std::ranges::find(method.parameters, name, &reorder::Parameter::name);
  return found == method.parameters.end() ? nullptr : &*found;
}

// Returns the parameter name of "name=value".
std::string_view name_part(std::string_view text) { return text.substr(0, text.find('=')); }

// Parses "name=value"; the result uses the spelling of the table.
Result<reorder::Setting> parse_setting(const reorder::Reorderer& method, const std::string& text) {
  const std::string_view name = name_part(text);
  if (name.size() == text.size())
    return fail(Errc::usage, fmt::format("--set {}: expected name=value", text));
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + name.size() + 1, end, value);
  if (error != std::errc() || rest != end)
    return fail(Errc::usage,
                fmt::format("--set {}: '{}' is not a number", text, text.substr(name.size() + 1)));
  const reorder::Parameter* const known = find_parameter(method, name);
  const reorder::Setting setting = {known == nullptr ? name : known->name, value};
  if (Status s = check_settings(method, {&setting, 1}); !s) return tl::unexpected(std::move(s.error()));
  return setting;
}

// Later settings of a parameter replace earlier ones.
Status set_given(Ordering& ordering, const std::vector<std::string>& settings) {
  for (const std::string& text : settings) {
    const auto setting = parse_setting(*ordering.method, text);
    if (!setting) return tl::unexpected(setting.error());
    std::erase_if(ordering.given, [&](const reorder::Setting& old) { return old.name == setting->name; });
    ordering.given.push_back(*setting);
  }
  return {};
}

std::string typed_text(const OrderRequest& request) {
  std::string text = request.method;
  if (!request.preset.empty()) text += " --preset " + request.preset;
  if (!request.settings.empty()) text += fmt::format(" --set {}", fmt::join(request.settings, ","));
  return text;
}

// Returns all settings in ascending priority: of the preset, then of --set.
std::vector<reorder::Setting> all_settings(const Ordering& ordering) {
  std::vector<reorder::Setting> settings;
  if (ordering.preset != nullptr)
    settings.assign(ordering.preset->settings.begin(), ordering.preset->settings.end());
  settings.insert(settings.end(), ordering.given.begin(), ordering.given.end());
  return settings;
}

// Splits "pack:fast" into method and preset.
Result<OrderRequest> split_preset(OrderRequest request) {
  const std::size_t colon = request.method.find(':');
  if (colon == std::string::npos) return request;
  const std::string preset = request.method.substr(colon + 1);
  if (preset.empty())
    return fail(Errc::usage, fmt::format("{} expected a preset after the colon", request.method));
  if (!request.preset.empty() && request.preset != preset)
    return fail(Errc::usage, fmt::format("{} and --preset {} name two presets; expected one", request.method,
                                         request.preset));
  request.method.resize(colon);
  request.preset = preset;
  return request;
}

// Returns the methods of a list "a,b:c", or all.
std::vector<std::string> methods_in(const std::string& list) {
  return list == "all" ? names_of(reorder::reorderers()) : split_list(list);
}

OrderChoice describe_choice(const std::vector<reorder::TriedOrder>& tried, int window_rows) {
  OrderChoice choice;
  std::string others;
  for (const reorder::TriedOrder& order : tried) {
    if (!order.chosen) {
      others += fmt::format("{}{} {}", others.empty() ? "; " : ", ", order.name, order.tc_blocks);
      continue;
    }
    choice.chosen = order.name;
    choice.why = fmt::format("{} blocks of {} rows and 8 columns", order.tc_blocks, window_rows);
  }
  choice.why += others;
  return choice;
}
// Memory per row of orders, their inverses and row offsets of graphs; most methods need more.
Status check_order_memory(const Ordering& ordering, std::int64_t rows) {
  return formats::check_row_memory(rows, ordering.method->name == "identity" ? 4 : 16);
}
std::vector<std::string_view> methods_on_device() {
  std::vector<std::string_view> names;
  for (const DeviceOrdering& ordering : device_orderings()) names.push_back(ordering.label);
  return names;
}
}  // namespace

std::string Ordering::label() const {
  std::string text(method->name);
  if (preset != nullptr) text.append(":").append(preset->name);
  std::string values;
  for (const reorder::Setting& s : given)
    values += fmt::format("{}{}={}", values.empty() ? "" : " ", s.name, s.value);
  return values.empty() ? text : fmt::format("{}({})", text, values);
}

Result<Ordering> resolve_order(const OrderRequest& typed) {
  const auto split = split_preset(typed);
  if (!split) return tl::unexpected(split.error());
  const OrderRequest& request = *split;
  Ordering ordering;
  if (request.window_rows != 0) ordering.window_rows = request.window_rows;
  ordering.typed = typed_text(request);
  const auto at = find_name("reorderer", request.method, names_of(reorder::reorderers()));
  if (!at) return tl::unexpected(at.error());
  const reorder::Reorderer& method = reorder::reorderers()[*at];
  ordering.method = &method;
  if (!request.preset.empty()) {
    if (method.presets.empty()) return fail(Errc::usage, fmt::format("{} has no presets", method.name));
    const std::string what = fmt::format("preset of {}", method.name);
    const auto preset = find_name(what, request.preset, names_of(method.presets));
    if (!preset) return tl::unexpected(preset.error());
    ordering.preset = &method.presets[*preset];
  }
  if (Status s = set_given(ordering, request.settings); !s) return tl::unexpected(std::move(s.error()));
  return ordering;
}

Result<std::vector<Ordering>> resolve_orders(const OrderRequest& request) {
  std::vector<Ordering> orderings;
  bool preset_used = request.preset.empty();
  std::vector<bool> used(request.settings.size(), false);
  for (const std::string& item : methods_in(request.method)) {
    const std::size_t colon = item.find(':');
    OrderRequest one{
        item.substr(0, colon), colon < item.size() ? item.substr(colon + 1) : "", {}, request.window_rows};
    if (const reorder::Reorderer* const method = reorder::find_reorderer(one.method)) {
      if (one.preset.empty() && find_preset(*method, request.preset) != nullptr) {
        one.preset = request.preset;
        preset_used = true;
      }
      for (std::size_t i = 0; i < used.size(); ++i)
        if (find_parameter(*method, name_part(request.settings[i])) != nullptr) {
          one.settings.push_back(request.settings[i]);
          used[i] = true;
        }
    }
    auto ordering = resolve_order(one);
    if (!ordering) return tl::unexpected(std::move(ordering.error()));
    orderings.push_back(std::move(*ordering));
  }
  if (!preset_used)
    return fail(Errc::usage, fmt::format("none of {} has a preset '{}'", request.method, request.preset));
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      return fail(Errc::usage, fmt::format("none of {} has a parameter '{}'", request.method,
                                           name_part(request.settings[i])));
  return orderings;
}

Status set_device(Ordering& ordering, runtime::Device device) {
  if (device == runtime::Device::cpu || find_device_ordering(ordering) != nullptr) {
    ordering.device = device;
    return {};
  }
  return fail(Errc::usage, fmt::format("{} is computed on the CPU only; omit --device, or use {}",
                                       ordering.label(), fmt::join(methods_on_device(), " or ")));
}

const DeviceOrdering* find_device_ordering(const Ordering& ordering) {
  const std::vector<reorder::Setting> settings = all_settings(ordering);
  return find_device_ordering(ordering.method->name,
                              {.window_rows = ordering.window_rows, .settings = settings});
}

Result<std::vector<std::int32_t>> compute_order(Work& work, const Ordering& ordering,
                                                const formats::CsrView& a, OrderChoice* choice) {
  if (ordering.device == runtime::Device::cuda) {
    const Stopwatch watch;
    const auto uploaded = runtime::cuda::upload_csr({a.rows, a.cols, a.row_ptr, a.col_idx, {}}, 0);
    if (!uploaded) return tl::unexpected(uploaded.error());
    work.detail(fmt::format("uploaded in {}", human_seconds(watch.seconds())));
    return compute_order(work, ordering, uploaded->csr).map([](DeviceAndHostOrder&& order) {
      return std::move(order.new_to_old);
    });
  }
  if (Status s = check_order_memory(ordering, a.rows); !s) return tl::unexpected(std::move(s.error()));
  begin(&work.progress, "reorder", 0);
  const std::vector<reorder::Setting> settings = all_settings(ordering);
  std::vector<reorder::TriedOrder> tried;
  auto order = ordering.method->run(a, {work.seed, ordering.window_rows, &work.progress, settings, &tried});
  if (choice != nullptr) *choice = describe_choice(tried, ordering.window_rows);
  if (order && is_identity(*order)) order->clear();
  return order;
}

Result<DeviceAndHostOrder> compute_order(Work& work, const Ordering& ordering,
                                         const runtime::cuda::DeviceCsr& a) {
  if (Status s = check_order_memory(ordering, a.rows); !s) return tl::unexpected(std::move(s.error()));
  begin(&work.progress, "reorder", 0);
  const std::vector<reorder::Setting> settings = all_settings(ordering);
  auto order = order_on_device(work, *find_device_ordering(ordering), a,
                               {work.seed, ordering.window_rows, &work.progress, settings, nullptr});
  if (order && is_identity(order->new_to_old)) *order = {};
  return order;
}

Parameters order_attributes(const Ordering& ordering) {
  Parameters attributes = {{"ordering", std::string(ordering.method->name)}};
  if (ordering.method->name == "identity") return attributes;
  attributes.emplace_back("ordering_window_rows", std::int64_t{ordering.window_rows});
  if (ordering.preset != nullptr)
    attributes.emplace_back("ordering_preset", std::string(ordering.preset->name));
  const std::vector<reorder::Setting> settings = all_settings(ordering);
  std::string values;
  for (const reorder::Parameter& p : ordering.method->parameters)
    values += fmt::format("{}{}={}", values.empty() ? "" : " ", p.name,
                          setting({.settings = settings}, ordering.method->parameters, p.name));
  if (!values.empty()) attributes.emplace_back("ordering_parameters", values);
  return attributes;
}

}  // namespace sptile::tools
