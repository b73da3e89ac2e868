#include <fmt/format.h>

#include <algorithm>

#include "formats/layout/registry.hpp"
#include "reorder/registry.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/commands/commands.hpp"
#include "tools/devices.hpp"
#include "tools/json.hpp"
#include "tools/names.hpp"
#include "tools/table.hpp"

namespace sptile::tools {
namespace {
using Rows = std::vector<std::vector<std::string>>;

// One of sptile's tables, as JSON and as text.
struct Listing {
  std::string_view name;
  Json (*json)();
  std::string (*text)();
};

std::string yes_no(bool value) { return value ? "yes" : "no"; }

// As those of reorderers; "values" where not all from least to most are taken, "names" of those that have
// one, "default" where a conversion does not look at the matrix.
Json parameters_json(const formats::FormatParameter* parameter) {
  if (parameter == nullptr) return Json::array();
  Json json = {{"name", parameter->name},
               {"summary", parameter->summary},
               {"least", parameter->least},
               {"most", parameter->most},
               {"auto", !parameter->fitted_for.empty()},
               {"on_device", parameter->on_device}};
  if (parameter->standard != 0) json["default"] = parameter->standard;
  if (!parameter->values.empty()) json["values"] = parameter->values;
  for (const formats::NamedValue& named : parameter->names)
    json["names"][std::string(named.name)] = named.value;
  return Json::array({json});
}

Json formats_json() {
  Json rows = Json::array();
  for (const formats::FormatLayout* f : formats::layouts()) {
    Json arrays = Json::array();
    for (const formats::ArraySpec& a : f->arrays) arrays.push_back(a.name);
    rows.push_back({{"name", f->name},
                    {"summary", f->summary},
                    {"window_rows", f->window_rows},
                    {"tile_rows", f->tile_rows},
                    {"tile_cols", f->tile_cols},
                    {"arrays", arrays},
                    {"parameters", parameters_json(f->parameter)}});
  }
  return rows;
}

std::string formats_text() {
  Rows rows = {{"format", "tile", "summary"}};
  for (const formats::FormatLayout* f : formats::layouts())
    rows.push_back({std::string(f->name),
                    f->tile_cols > 0 ? fmt::format("{}x{}", f->tile_rows, f->tile_cols) : "-",
                    std::string(f->summary)});
  return format_table(rows, "lll");
}

Json reorderers_json() {
  Json rows = Json::array();
  for (const reorder::Reorderer& r : reorder::reorderers()) {
    Json parameters = Json::array(), presets = Json::array();
    for (const reorder::Parameter& p : r.parameters)
      parameters.push_back({{"name", p.name},
                            {"summary", p.summary},
                            {"default", p.standard},
                            {"least", p.least},
                            {"most", p.most}});
    for (const reorder::Preset& p : r.presets) presets.push_back({{"name", p.name}, {"summary", p.summary}});
    rows.push_back(
        {{"name", r.name}, {"summary", r.summary}, {"parameters", parameters}, {"presets", presets}});
  }
  return rows;
}

// "neighbours, alpha"; "-" without any.
template <class T>
std::string names(std::span<const T> rows) {
  std::string text;
  for (const T& row : rows) text.append(text.empty() ? "" : ", ").append(row.name);
  return text.empty() ? "-" : text;
}

std::string reorderers_text() {
  Rows rows = {{"reorderer", "presets", "parameters", "summary"}};
  for (const reorder::Reorderer& r : reorder::reorderers())
    rows.push_back({std::string(r.name), names(r.presets), names(r.parameters), std::string(r.summary)});
  return format_table(rows, "llll");
}

Json kernels_json() {
  Json rows = Json::array();
  for (const runtime::Kernel& k : runtime::kernels())
    rows.push_back({{"name", k.name},
                    {"op", k.op->name},
                    {"format", k.format},
                    {"device", name_of(k.device)},
                    {"isa", k.isa},
                    {"deterministic", k.deterministic},
                    {"available", runtime::available(k)},
                    {"summary", k.summary}});
  return rows;
}

std::string kernels_text() {
  Rows rows = {{"kernel", "op", "format", "device", "deterministic", "available", "summary"}};
  for (const runtime::Kernel& k : runtime::kernels())
    rows.push_back({std::string(k.name), std::string(k.op->name), std::string(k.format),
                    std::string(name_of(k.device)), yes_no(k.deterministic), yes_no(runtime::available(k)),
                    std::string(k.summary)});
  return format_table(rows, "lllllll");
}

Json devices_json() {
  Json rows = Json::array();
  for (const DeviceRow& d : devices())
    rows.push_back({{"name", d.name}, {"available", device_available(d)}, {"detail", device_detail(d)}});
  return rows;
}

std::string devices_text() {
  Rows rows = {{"device", "available", "detail"}};
  for (const DeviceRow& d : devices())
    rows.push_back({std::string(d.name), yes_no(device_available(d)), device_detail(d)});
  return format_table(rows, "lll");
}

constexpr Listing kListings[] = {
    {"formats", formats_json, formats_text},
    {"reorderers", reorderers_json, reorderers_text},
    {"kernels", kernels_json, kernels_text},
    {"devices", devices_json, devices_text},
};

Status run_list(Session& session, const std::string& what) {
  const auto names = parse_names("table", what, names_of(kListings));
  if (!names) return tl::unexpected(names.error());
  Json json = new_result(session);
  std::string text;
  for (const Listing& listing : kListings) {
    if (std::find(names->begin(), names->end(), listing.name) == names->end()) continue;
    json[std::string(listing.name)] = listing.json();
    text += (text.empty() ? "" : "\n") + listing.text();
  }
  print_result(session, json, text);
  return {};
}

Action declare_list(Options& app) {
  auto what = std::make_shared<std::string>("all");
  app.add_option("TABLE", *what, "formats, reorderers, kernels, devices, or all");
  return [what](Session& session) { return run_list(session, *what); };
}
}  // namespace

const Verb kList = {"list", "show what this build knows: formats, reorderers, kernels, devices",
                    "  sptile list kernels", declare_list};

}  // namespace sptile::tools
