#include <fmt/format.h>

#include <algorithm>

#include "formats/layout/packed_parameter.hpp"
#include "formats/layout/registry.hpp"
#include "reorder/registry.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/device_orderings.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/names.hpp"

namespace sptile::tools {
namespace {
using Rows = std::vector<std::vector<std::string>>;

// Selected rows; empty: all of them.
struct Filter {
  std::string text;                                            // substring of the name
  std::vector<std::string> formats, ops, devices, precisions;  // for kernels only

  [[nodiscard]] bool names(std::string_view name) const { return name.find(text) != std::string_view::npos; }
  [[nodiscard]] bool is_for_kernels() const {
    return !(formats.empty() && ops.empty() && devices.empty() && precisions.empty());
  }
};

// A table of sptile, as JSON and as text.
struct Listing {
  std::string_view name;
  Json (*json)(const Filter& filter);
  std::string (*text)(const Filter& filter);
};

std::string yes_no(bool value) { return value ? "yes" : "no"; }

// Returns the fields of a packed parameter; "choices" has their names.
Json fields_json(const formats::FormatParameter& parameter, std::span<const formats::ParameterField> fields) {
  Json json = Json::array();
  for (const formats::ParameterField& field : fields) {
    Json entry = {{"name", field.name}, {"summary", field.summary}};
    if (field.max() >= field.min) {
      entry["least"] = field.min;
      entry["most"] = field.max();
    }
    entry["auto"] = !parameter.fitted_for.empty();
    entry["on_device"] = parameter.on_device;
    entry["choices"] = field.names;
    json.push_back(std::move(entry));
  }
  return json;
}

// Returns parameters with the keys of reorderers, and "values" if not all numbers in the range are valid,
// "names" for named values, "default" if it does not depend on the matrix.
Json parameters_json(const formats::FormatLayout& layout) {
  const formats::FormatParameter* const parameter = layout.parameter;
  if (parameter == nullptr) return Json::array();
  if (const auto fields = formats::fields_of(layout); !fields.empty()) return fields_json(*parameter, fields);
  Json json = {{"name", parameter->name},
               {"summary", parameter->summary},
               {"least", parameter->min},
               {"most", parameter->max},
               {"auto", !parameter->fitted_for.empty()},
               {"on_device", parameter->on_device}};
  if (parameter->standard != 0) json["default"] = parameter->standard;
  if (!parameter->values.empty()) json["values"] = parameter->values;
  for (const formats::NamedValue& named : parameter->names)
    json["names"][std::string(named.name)] = named.value;
  return Json::array({json});
}

Json formats_json(const Filter& filter) {
  Json rows = Json::array();
  for (const formats::FormatLayout* f : formats::layouts()) {
    if (!filter.names(f->name)) continue;
    Json arrays = Json::array();
    for (const formats::ArraySpec& a : f->arrays) arrays.push_back(a.name);
    rows.push_back({{"name", f->name},
                    {"summary", f->summary},
                    {"window_rows", f->window_rows},
                    {"tile_rows", f->tile_rows},
                    {"tile_cols", f->tile_cols},
                    {"arrays", arrays},
                    {"parameters", parameters_json(*f)}});
  }
  return rows;
}

std::string formats_text(const Filter& filter) {
  Rows rows = {{"format", "tile", "summary"}};
  for (const formats::FormatLayout* f : formats::layouts())
    if (filter.names(f->name))
      rows.push_back({std::string(f->name),
                      f->tile_cols > 0 ? fmt::format("{}x{}", f->tile_rows, f->tile_cols) : "-",
                      std::string(f->summary)});
  return format_table(rows, "lll");
}

// Returns whether devices support at least one preset.
bool runs_on_device(const reorder::Reorderer& method) {
  return std::ranges::find(device_orderings(), method.name, &DeviceOrdering::method) !=
         device_orderings().end();
}

Json reorderers_json(const Filter& filter) {
  Json rows = Json::array();
  for (const reorder::Reorderer& r : reorder::reorderers()) {
    if (!filter.names(r.name)) continue;
    Json parameters = Json::array(), presets = Json::array();
    for (const reorder::Parameter& p : r.parameters)
      parameters.push_back({{"name", p.name},
                            {"summary", p.summary},
                            {"default", p.standard},
                            {"least", p.min},
                            {"most", p.max}});
    for (const reorder::Preset& p : r.presets) presets.push_back({{"name", p.name}, {"summary", p.summary}});
    rows.push_back({{"name", r.name},
                    {"summary", r.summary},
                    {"on_device", runs_on_device(r)},
                    {"parameters", parameters},
                    {"presets", presets}});
  }
  return rows;
}

// Returns names such as "neighbours, alpha"; "-" if there are none.
template <class T>
std::string names(std::span<const T> rows) {
  std::string text;
  for (const T& row : rows) text.append(text.empty() ? "" : ", ").append(row.name);
  return text.empty() ? "-" : text;
}

std::string reorderers_text(const Filter& filter) {
  Rows rows = {{"reorderer", "presets", "parameters", "summary"}};
  for (const reorder::Reorderer& r : reorder::reorderers())
    if (filter.names(r.name))
      rows.push_back({std::string(r.name), names(r.presets), names(r.parameters), std::string(r.summary)});
  return format_table(rows, "llll");
}

bool is_among(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

// Returns the precisions of products of f32 or f64 operands; empty for a CUDA kernel in a build without CUDA.
std::vector<std::string_view> precisions_of(const runtime::Kernel& kernel) {
  std::vector<std::string_view> found;
  const auto add = [&](runtime::Precision precision) {
    if (std::ranges::find(found, name_of(precision)) == found.end()) found.push_back(name_of(precision));
  };
  for (const runtime::cuda::DeviceKernel& instance : runtime::instances_of(kernel)) add(instance.precision);
  if (kernel.device == runtime::Device::cpu)
    for (const DType type : {DType::f32, DType::f64})
      if (runtime::has_instance(kernel, type, {type, DType::none})) add(runtime::cpu_precision(type));
  return found;
}

// Returns the tuning policies of a CUDA kernel: the constants for a compute capability of this build and the
// precisions that share them.
Json policies_json(const runtime::Kernel& kernel) {
  Json rows = Json::array();
  for (const int capability : runtime::cuda::built_capabilities()) {
    const std::size_t first = rows.size();
    for (const runtime::cuda::DeviceKernel& instance : runtime::instances_of(kernel)) {
      if (instance.policy == nullptr || !runs_on(instance, capability)) continue;
      Json constants = Json::object();
      for (const runtime::cuda::PolicyValue& v : instance.policy(capability)) constants[v.name] = v.value;
      const auto same = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                     [&](const Json& row) { return row["constants"] == constants; });
      Json& row = same != rows.end() ? *same : rows.emplace_back(Json{{"capability", capability}});
      Json& precisions = row["precisions"];
      const std::string_view name = name_of(instance.precision);
      if (std::ranges::find(precisions, name) == precisions.end()) precisions.push_back(name);
      row["constants"] = std::move(constants);
    }
  }
  return rows;
}

std::vector<const runtime::Kernel*> kernels_of(const Filter& filter) {
  std::vector<const runtime::Kernel*> found;
  for (const runtime::Kernel& k : runtime::kernels()) {
    const auto precisions = precisions_of(k);
    if (filter.names(k.name) && is_among(filter.formats, k.format) && is_among(filter.ops, k.op->name) &&
        is_among(filter.devices, name_of(k.device)) &&
        (filter.precisions.empty() || std::ranges::any_of(precisions, [&](std::string_view name) {
           return is_among(filter.precisions, name);
         })))
      found.push_back(&k);
  }
  return found;
}

Json kernels_json(const Filter& filter) {
  Json rows = Json::array();
  for (const runtime::Kernel* const k : kernels_of(filter))
    rows.push_back({{"name", k->name},
                    {"op", k->op->name},
                    {"format", k->format},
                    {"device", name_of(k->device)},
                    {"isa", k->isa},
                    {"precisions", precisions_of(*k)},
                    {"deterministic", k->deterministic},
                    {"undefined_result", k->undefined_result},
                    {"available", runtime::available(*k)},
                    {"summary", k->summary},
                    {"policies", policies_json(*k)}});
  return rows;
}

std::string kernels_text(const Filter& filter) {
  Rows rows = {{"kernel", "op", "format", "device", "deterministic", "available", "summary"}};
  for (const runtime::Kernel* const k : kernels_of(filter))
    rows.push_back({std::string(k->name), std::string(k->op->name), std::string(k->format),
                    std::string(name_of(k->device)), yes_no(k->deterministic), yes_no(runtime::available(*k)),
                    std::string(k->summary) + (k->undefined_result ? "; undefined results" : "")});
  return format_table(rows, "lllllll");
}

Json devices_json(const Filter& filter) {
  Json rows = Json::array();
  for (const DeviceRow& d : devices())
    if (filter.names(d.name))
      rows.push_back({{"name", d.name}, {"available", device_available(d)}, {"detail", device_detail(d)}});
  return rows;
}

std::string devices_text(const Filter& filter) {
  Rows rows = {{"device", "available", "detail"}};
  for (const DeviceRow& d : devices())
    if (filter.names(d.name))
      rows.push_back({std::string(d.name), yes_no(device_available(d)), device_detail(d)});
  return format_table(rows, "lll");
}

constexpr std::string_view kKernels = "kernels";
constexpr Listing kListings[] = {
    {"formats", formats_json, formats_text},
    {"reorderers", reorderers_json, reorderers_text},
    {kKernels, kernels_json, kernels_text},
    {"devices", devices_json, devices_text},
};

std::vector<std::string> all_operations() {
  std::vector<std::string> names;
  for (const runtime::Operation* const op : runtime::operations()) names.emplace_back(op->name);
  return names;
}

struct ListOptions {
  std::string table = "all";
  Filter filter;
};

Status run_list(Session& session, const ListOptions& options) {
  const auto names = parse_names("table", options.table, names_of(kListings));
  if (!names) return tl::unexpected(names.error());
  const bool only_kernels = options.filter.is_for_kernels();
  if (only_kernels && std::ranges::find(*names, kKernels) == names->end())
    return fail(Errc::usage, fmt::format("--format, --op, --device and --precision apply to {}, not to {}",
                                         kKernels, options.table));
  Json json = new_result(session);
  std::string text;
  for (const Listing& listing : kListings) {
    if (std::ranges::find(*names, listing.name) == names->end() || (only_kernels && listing.name != kKernels))
      continue;
    Json rows = listing.json(options.filter);
    if (rows.empty())
      session.note(fmt::format("no {} match", listing.name));
    else
      text += (text.empty() ? "" : "\n") + listing.text(options.filter);
    json[std::string(listing.name)] = std::move(rows);
  }
  print_result(session, json, text);
  return {};
}

Action declare_list(Options& app) {
  auto options = std::make_shared<ListOptions>();
  Filter& filter = options->filter;
  app.add_option("TABLE", options->table, "Table to print: formats, reorderers, kernels, devices or all")
      .names("table", names_with("all", names_of(kListings)));
  app.add_option("TEXT", filter.text, "Print only rows whose names contain this text").default_text("");
  app.add_option("--format LIST", filter.formats, "Print only kernels for these formats")
      .names("format", format_names())
      .default_text("all");
  app.add_option("--op LIST", filter.ops, "Print only kernels for these operations")
      .names("operation", all_operations())
      .default_text("all");
  app.add_option("--device LIST", filter.devices, "Print only kernels for these devices")
      .names("device", names_of(devices()))
      .default_text("all");
  app.add_option("--precision LIST", filter.precisions, "Print only kernels with these precisions")
      .names("precision", {std::begin(runtime::kPrecisionNames), std::end(runtime::kPrecisionNames)})
      .default_text("all")
      .details("Builds without CUDA do not list the precisions of CUDA kernels.");
  return [options](Session& session) { return run_list(session, *options); };
}
}  // namespace

const Verb kList = {
    .name = "list",
    .summary = "List the formats, reorderers, kernels and devices of this build",
    .details = "Filters accept lists separated by commas.",
    .json_keys =
        "One array per table, under its name. `kernels[].policies` has the tuning constants of a "
        "CUDA kernel for each `capability` (compute capability, such as 90) and the `precisions` "
        "that share them; it is empty in builds without CUDA.",
    .example =
        "  sptile list kernels\n"
        "  sptile list kernels staged --format bmat --device cuda",
    .declare = declare_list};

}  // namespace sptile::tools
