#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/io/hdf5/hdf5_version.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/cli/version.hpp"
#include "tools/commands/commands.hpp"
#include "tools/doctor/diagnosis.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

using doctor::Diagnosis, doctor::cuda_version_text;
using Rows = std::vector<std::vector<std::string>>;

#if defined(__clang__)
constexpr const char* kCompiler = __VERSION__;  // for example "Debian Clang 14.0.6"
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

// Returns null for unknown versions: no CUDA, no driver.
Json version_or_null(int version) { return version > 0 ? Json(cuda_version_text(version)) : Json(nullptr); }

template <class T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json processor_json(const Diagnosis& found) {
  const doctor::Processor& p = found.processor;
  Json json = {{"model", found.profiles.front().device.name},
               {"logical", p.logical},
               {"usable", p.usable},
               {"cores", p.cores},
               {"sockets", p.sockets},
               {"quota", known(p.quota)},
               {"memory", p.memory},
               {"memory_free", p.memory_free},
               {"memory_limit", known(p.memory_limit)}};
  json["vector_extensions"] = Json::array();
  for (const doctor::VectorExtension& e : found.extensions)
    json["vector_extensions"].push_back({{"name", e.name}, {"available", e.available}});
  json["caches"] = Json::array();
  for (const doctor::Cache& c : p.caches)
    json["caches"].push_back(
        {{"level", c.level}, {"kind", c.kind}, {"bytes", c.bytes}, {"shared_by", c.shared_by}});
  json["threads"] = {{"count", found.threads.count}, {"why", found.threads.why}};
  return json;
}

Json devices_json(const Diagnosis& found) {
  Json list = Json::array();
  for (const doctor::CudaDevice& d : found.devices) {
    Json& json = list.emplace_back(Json{{"ordinal", d.ordinal}});
    json["unusable"] = d.unusable.empty() ? Json(nullptr) : Json(d.unusable);
    if (!d.unusable.empty()) continue;
    json.update({{"name", d.info.name}, {"memory", d.info.memory}});
    json["compute_capability"] = fmt::format("{}.{}", d.info.capability / 10, d.info.capability % 10);
    json.update({{"multiprocessors", d.info.sm_count}, {"l2_bytes", d.info.l2_bytes}});
  }
  return list;
}

Json kernels_json(const Diagnosis& found) {
  Json list = Json::array();
  for (const doctor::KernelCount& c : found.kernels)
    list.push_back({{"device", name_of(c.device)},
                    {"format", c.format},
                    {"op", c.op},
                    {"kernels", c.there},
                    {"available", c.run}});
  return list;
}

Json profiles_json(const Diagnosis& found) {
  Json list = Json::array();
  for (const doctor::ProfileUsed& p : found.profiles)
    list.push_back({{"device", name_of(p.device.kind)},
                    {"name", p.device.name},
                    {"profile", p.made_on ? Json(p.source) : Json(nullptr)},
                    {"made_on", p.made_on ? Json(p.made_on->name) : Json(nullptr)},
                    {"exact", p.exact()},
                    {"error", p.error.empty() ? Json(nullptr) : Json(p.error)}});
  return list;
}

Json doctor_json(const Session& session, const Diagnosis& found) {
  Json json = new_result(session);
  json["ok"] = found.problems.empty();
  json["versions"] = {{"sptile", version()},
                      {"hdf5", formats::hdf5_version()},
                      {"cuda", version_or_null(found.cuda.built)},
                      {"cuda_of_driver", version_or_null(found.cuda.driver)},
                      {"driver", found.nvidia_module.empty() ? Json(nullptr) : Json(found.nvidia_module)},
                      {"compiler", kCompiler},
                      {"system", found.system}};
  json["processor"] = processor_json(found);
  json["devices"] = devices_json(found);
  json["no_device"] = found.no_device.empty() ? Json(nullptr) : Json(found.no_device);
  json["library"] =
      found.library ? Json{{"path", found.library->path}, {"cuda", found.library->cuda}} : Json(nullptr);
  json["kernels"] = kernels_json(found);
  json["unavailable"] = Json::array();
  for (const doctor::Unavailable& u : found.unavailable)
    json["unavailable"].push_back({{"device", name_of(u.device)}, {"kernels", u.kernels}, {"why", u.why}});
  json["profiles"] = profiles_json(found);
  json["environment"] = Json::array();
  for (const doctor::Variable& v : found.variables)
    json["environment"].push_back({{"name", v.name}, {"value", v.value}, {"good", v.good}, {"says", v.says}});
  json["trials"] = Json::array();
  for (const doctor::Trial& t : found.trials)
    json["trials"].push_back(
        {{"device", name_of(t.device)}, {"products", t.products}, {"failures", t.failures}});
  json["problems"] = found.problems;
  json["advice"] = found.advice;
  return json;
}

// Returns a section of the text: its title and indented lines.
std::string part(std::string_view title, const std::string& lines) {
  std::string text = fmt::format("{}\n", title);
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    if (end > at) text += "  " + lines.substr(at, end - at);
    text += "\n";
    at = end + 1;
  }
  return text + "\n";
}

// Formats facts with names in the first column; the table has no header.
std::string facts(const Rows& rows) { return format_table(rows, "ll"); }

std::string cuda_text(const Diagnosis& found) {
  if (found.cuda_in_library())
    return fmt::format("kernels in {}, for Python, C and C++; none in this command", found.library->path);
  const std::string driver = found.cuda.driver > 0 ? fmt::format("the driver supports up to {}",
                                                                 cuda_version_text(found.cuda.driver))
                                                   : "no driver";
  return found.cuda.built > 0 ? fmt::format("built with {}; {}", cuda_version_text(found.cuda.built), driver)
                              : "none: this build has no CUDA kernels";
}

std::string versions_text(const Diagnosis& found) {
  Rows rows = {{"sptile", std::string(version())},
               {"HDF5", formats::hdf5_version()},
               {"CUDA", cuda_text(found)},
               {"compiler", kCompiler},
               {"system", found.system}};
  if (!found.nvidia_module.empty()) rows.push_back({"driver", found.nvidia_module});
  return part("versions", facts(rows));
}

std::string cores_text(const doctor::Processor& p) {
  std::string text =
      p.cores > 0 ? fmt::format("{} of {} socket{}, ", p.cores, p.sockets, p.sockets == 1 ? "" : "s") : "";
  text += fmt::format("{} logical", p.logical);
  if (p.usable < p.logical) text += fmt::format(", {} usable by this process", p.usable);
  if (p.quota) text += fmt::format("; control groups limit it to {:g}", *p.quota);
  return text;
}

std::string caches_text(const doctor::Processor& p) {
  std::vector<std::string> texts;
  for (const doctor::Cache& c : p.caches)
    texts.push_back(fmt::format("L{}{} {}{}", c.level,
                                c.kind == "Data"          ? "d"
                                : c.kind == "Instruction" ? "i"
                                                          : "",
                                human_bytes(c.bytes),
                                c.shared_by > 1 ? fmt::format(" for {} processors", c.shared_by) : ""));
  return texts.empty() ? "not reported by the system" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string extensions_text(const Diagnosis& found) {
  std::vector<std::string_view> there, lacking;
  for (const doctor::VectorExtension& e : found.extensions) (e.available ? there : lacking).push_back(e.name);
  return fmt::format("kernels use {}{}", there.back(),
                     lacking.empty() ? "" : fmt::format("; not here: {}", fmt::join(lacking, ", ")));
}

std::string memory_text(const doctor::Processor& p) {
  if (p.memory == 0) return "not reported by the system";
  return fmt::format(
      "{}, {} free{}", human_bytes(p.memory), human_bytes(p.memory_free),
      p.memory_limit ? fmt::format("; control groups limit it to {}", human_bytes(*p.memory_limit)) : "");
}

std::string processor_text(const Diagnosis& found) {
  return part("processor",
              facts({{"model", found.profiles.front().device.name},
                     {"cores", cores_text(found.processor)},
                     {"vectors", extensions_text(found)},
                     {"caches", caches_text(found.processor)},
                     {"memory", memory_text(found.processor)},
                     {"threads", fmt::format("{}: {}", found.threads.count, found.threads.why)}}));
}

std::string devices_text(const Diagnosis& found) {
  if (!found.no_device.empty()) return part("devices", found.no_device);
  if (found.devices.empty()) return part("devices", "libsptile can use the CUDA device of this machine");
  std::string lines;
  for (const doctor::CudaDevice& d : found.devices)
    lines += d.unusable.empty()
                 ? fmt::format("{}: {}, {}, compute capability {}.{}, {} multiprocessors, L2 {}\n", d.ordinal,
                               d.info.name, human_bytes(static_cast<std::int64_t>(d.info.memory)),
                               d.info.capability / 10, d.info.capability % 10, d.info.sm_count,
                               human_bytes(static_cast<std::int64_t>(d.info.l2_bytes)))
                 : fmt::format("{}: {}\n", d.ordinal, d.unusable);
  return part("devices", lines);
}

// Returns text such as "2 of 3" runnable kernels; "-" if there are none.
std::string count_text(const Diagnosis& found, runtime::Device device, std::string_view format,
                       std::string_view op) {
  const auto count = std::ranges::find_if(found.kernels, [&](const doctor::KernelCount& c) {
    return c.device == device && c.format == format && c.op == op;
  });
  if (count == found.kernels.end()) return "-";
  return count->run == count->there ? fmt::format("{}", count->run)
                                    : fmt::format("{} of {}", count->run, count->there);
}

// Returns a table with a row per operation and a column per format.
std::string counts_text(const Diagnosis& found, runtime::Device device) {
  Rows rows(1, {std::string(name_of(device))});
  for (const formats::FormatLayout* layout : formats::layouts()) rows.front().emplace_back(layout->name);
  for (const runtime::Operation* op : runtime::operations()) {
    std::vector<std::string>& row = rows.emplace_back(1, std::string(op->name));
    for (const formats::FormatLayout* layout : formats::layouts())
      row.push_back(count_text(found, device, layout->name, op->name));
  }
  return format_table(rows, "l" + std::string(formats::layouts().size(), 'r'));
}

// Returns a table per device that runs kernels, and only the reason for other devices.
std::string kernels_text(const Diagnosis& found) {
  std::string lines;
  for (const doctor::Trial& trial : found.trials) lines += counts_text(found, trial.device) + "\n";
  for (const doctor::Unavailable& u : found.unavailable)
    lines += fmt::format("{} {} kernel{} cannot run: {}\n", u.kernels, name_of(u.device),
                         u.kernels == 1 ? "" : "s", u.why);
  return part("usable kernels", lines);
}

std::string trials_text(const Diagnosis& found) {
  std::string lines;
  for (const doctor::Trial& t : found.trials)
    lines += fmt::format("{}: {} results on a small matrix agree with the reference{}\n", name_of(t.device),
                         t.products, t.failures.empty() ? "" : fmt::format(", {} do not", t.failures.size()));
  return part("trial", lines);
}

std::string profiles_text(const Diagnosis& found) {
  std::string lines;
  for (const doctor::ProfileUsed& p : found.profiles)
    lines += fmt::format("{}: {}\n", name_of(p.device.kind),
                         !p.error.empty() ? p.error
                         : !p.made_on     ? "none"
                         : p.exact()      ? p.source
                                          : fmt::format("{}, of {}", p.source, p.made_on->name));
  return part("profiles", lines);
}

std::string environment_text(const Diagnosis& found) {
  std::string lines;
  for (const doctor::Variable& v : found.variables)
    lines += fmt::format("{}={}: {}\n", v.name, v.value, v.says);
  return part("environment", lines.empty() ? "none that affects sptile is set" : lines);
}

std::string doctor_text(const Diagnosis& found) {
  std::string text = versions_text(found) + processor_text(found) + devices_text(found) +
                     kernels_text(found) + trials_text(found) + profiles_text(found) +
                     environment_text(found);
  if (!found.problems.empty()) text += part("problems", fmt::format("{}", fmt::join(found.problems, "\n")));
  if (!found.advice.empty()) text += part("advice", fmt::format("{}", fmt::join(found.advice, "\n")));
  return text + (found.problems.empty() ? "everything works\n" : "");
}

Status run_doctor(Session& session) {
  const Diagnosis found = doctor::diagnose(session);
  print_result(session, doctor_json(session, found), doctor_text(found));
  if (found.problems.empty()) return {};
  return fail(Errc::check_failed, fmt::format("found {} problem{}", found.problems.size(),
                                              found.problems.size() == 1 ? "" : "s"));
}

Action declare_doctor(Options&) {
  return [](Session& session) { return run_doctor(session); };
}
}  // namespace

const Verb kDoctor = {
    .name = "doctor",
    .summary = "Diagnose this machine and build, for example for a bug report",
    .details =
        "Prints versions, the processor and its limits, the number of threads, CUDA devices, the number of "
        "usable kernels and the requirements of the others, device profiles, environment variables that are "
        "set, and advice. Runs each kernel on a small matrix and compares it with the reference. Exit code 7 "
        "means that a component does not work; the output is complete nevertheless. A GPU is not required.",
    .json_keys =
        "`ok`, `versions`, `processor`, `devices[]`, `no_device`, `kernels[]`, `unavailable[]`, "
        "`profiles[]`, "
        "`environment[]`, `trials[]`, `problems[]`, `advice[]`.",
    .example = "  sptile doctor > report.txt",
    .declare = declare_doctor};

}  // namespace sptile::tools
