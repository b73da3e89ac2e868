#include <fmt/format.h>

#include <memory>
#include <vector>

#include "formats/layout/registry.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/conversion.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/order_choice.hpp"

namespace sptile::tools {
namespace {

// Returns the parameter name of a format that has one.
std::string parameter_of(const FormatReport& format) {
  return std::string(formats::find_layout(format.name)->parameter->name);
}

Json format_json(const FormatReport& format) {
  Json json = {{"name", format.name},
               {"tc_blocks", format.tc_blocks},
               {"index_bytes", format.index_bytes},
               {"value_bytes", format.value_bytes},
               {"seconds", format.seconds}};
  if (!format.parameters.empty()) json["parameters"] = to_json(format.parameters);
  if (!format.why.empty()) json[parameter_of(format) + "_from"] = format.why;
  return json;
}

// Returns the JSON of the transpose; null if it was not requested.
Json transpose_json(const ConvertReport& report) {
  if (!report.transpose) return nullptr;
  Json json = {{"shared", report.symmetric}, {"row_order", report.transpose->reordered}};
  json["order_choice"] = to_json(report.transpose->order_choice);
  json["formats"] = Json::array();
  for (const FormatReport& format : report.transpose->formats) json["formats"].push_back(format_json(format));
  return json;
}

// Returns the basis of a dry run's times.
std::string time_basis() {
  return fmt::format("read, reorder and convert as measured, write at an assumed {:g} MB/s",
                     kAssumedWriteRate / 1e6);
}

Json convert_json(const Session& session, const ConvertTask& task, const ConvertReport& report) {
  Json json = new_result(session);
  json.update({{"input", task.in}, {"output", task.out}});
  json.update({{"rows", report.rows}, {"cols", report.cols}, {"nnz", report.nnz}});
  json.update({{"duplicates", report.duplicates},
               {"overflowed", report.lost.overflowed},
               {"underflowed", report.lost.underflowed},
               {"inexact_integers", report.lost.inexact},
               {"dtype", dtype_label(report.dtype)},
               {"reorder", task.ordering.method->name}});
  json.update({{"row_order", report.reordered}, {"seed", session.seed}, {"file_bytes", report.file_bytes}});
  json["order_choice"] = to_json(report.order_choice);
  json["formats"] = Json::array();
  for (const FormatReport& format : report.formats) json["formats"].push_back(format_json(format));
  json["symmetric"] = report.symmetric;
  json["transpose"] = transpose_json(report);
  json["seconds"] = {{"read", report.read},
                     {"reorder", report.reorder},
                     {"convert", report.convert},
                     {"write", report.write},
                     {"total", report.total}};
  json["peak_memory"] = report.peak_memory;
  json["dry_run"] = task.dry_run;
  if (task.dry_run) json["seconds_from"] = time_basis();
  return json;
}

// Returns one line per threshold or selector that was chosen automatically.
std::string explain_parameters(const ConvertReport& report) {
  std::string text;
  for (const FormatReport& f : report.formats)
    for (const auto& parameter : f.parameters)
      if (!f.why.empty() && parameter.first == parameter_of(f))
        text += parameter.second.visit([&](const auto& shown) {
          return fmt::format("{}: {} {}, from {}\n", f.name, parameter.first, shown, f.why);
        });
  return text;
}

std::string formats_table(const std::vector<FormatReport>& formats) {
  std::vector<std::vector<std::string>> rows = {{"format", "tc blocks", "index", "values", "time"}};
  for (const FormatReport& f : formats)
    rows.push_back({f.name, f.tc_blocks > 0 ? fmt::format("{}", f.tc_blocks) : "-",
                    human_bytes(f.index_bytes), human_bytes(f.value_bytes),
                    f.name == "csr" ? "-" : human_seconds(f.seconds)});
  return format_table(rows, "lrrrr");
}

std::string order_text(const ConvertTask& task, bool reordered, const OrderChoice& choice) {
  const std::string lines = choice_text(task.ordering, choice);
  return (reordered ? fmt::format("rows ordered by {}", task.ordering.method->name) : "original row order") +
         (lines.empty() ? "" : "\n" + lines.substr(0, lines.size() - 1));
}

std::string transpose_text(const ConvertTask& task, const ConvertReport& report) {
  if (!report.transpose) return "";
  if (report.symmetric) return "\ntranspose: same matrix, same formats\n";
  return fmt::format("\ntranspose: {} x {}, {}\n\n{}", report.cols, report.rows,
                     order_text(task, report.transpose->reordered, report.transpose->order_choice),
                     formats_table(report.transpose->formats));
}

std::string times_text(const ConvertTask& task, const ConvertReport& report) {
  const std::string size = human_bytes(static_cast<std::int64_t>(report.file_bytes));
  const std::string memory = human_bytes(report.peak_memory);
  if (!task.dry_run)
    return fmt::format("read {}, reorder {}, write {}, total {} ({})\n", human_seconds(report.read),
                       human_seconds(report.reorder), human_seconds(report.write),
                       human_seconds(report.total), size);
  return fmt::format(
      "dry run: the bundle would have {} and need about {} of memory to create\ntime: read {}, reorder {}, "
      "convert {}, write {}, total {}\n({})\n",
      size, memory, human_seconds(report.read), human_seconds(report.reorder), human_seconds(report.convert),
      human_seconds(report.write), human_seconds(report.total), time_basis());
}

std::string convert_text(const ConvertTask& task, const ConvertReport& report) {
  return fmt::format("{}: {} x {}, {} entries{}, {}\n\n{}{}{}\n{}", task.out, report.rows, report.cols,
                     report.nnz, report.symmetric ? ", symmetric" : "",
                     order_text(task, report.reordered, report.order_choice), formats_table(report.formats),
                     explain_parameters(report), transpose_text(task, report), times_text(task, report));
}

Status run_convert(Session& session, const ConvertOptions& options) {
  const auto task = resolve(options);
  if (!task) return tl::unexpected(task.error());
  const auto report = convert(session, *task);
  if (!report) return tl::unexpected(report.error());
  if (session.common.json || !session.common.quiet)
    print_result(session, convert_json(session, *task, *report), convert_text(*task, *report));
  return {};
}

Action declare_convert(Options& app) {
  auto options = std::make_shared<ConvertOptions>();
  declare_matrix(app, options->in);
  app.add_option("OUT,-o,--output", options->out, "Bundle to write (.h5)").required();
  app.add_option("--format LIST", options->formats,
                 "Formats to store in addition to csr, separated by commas")
      .names("format", names_with("all", format_names()))
      .details(
          "A name may have a parameter: `tall:64`, `libra_spmm:2`, `libra_sddmm:16`, `hc_window:paper`, "
          "`rs_tile:tau_nnz=3,rule=none`. "
          "`libra_spmm:auto`, `libra_sddmm:auto` and `hc_window:auto` take the value from the profile of the "
          "CUDA device (see `sptile calibrate`), or without a device from SPTILE_PROFILE, the user's profile "
          "or "
          "a built-in one. If a format cannot represent the matrix, the command names it and writes "
          "nothing.");
  declare_order(app, options->order, "--reorder METHOD", "Row ordering of the stored formats");
  app.add_option("--dtype", options->dtype, "Type of the stored values")
      .details(
          "The source matrix is stored as f64 with f64, else as f32. A warning reports values that overflow "
          "to "
          "infinity, nonzeros that underflow to 0, and integers that are rounded.");
  app.add_option("--device DEVICE", options->device, "Device that converts, and orders by rabbit")
      .names("device", names_of(devices()))
      .details("Bundles are identical for all devices. Other orderings are computed on the CPU.");
  app.add_flag("--refreshable", options->refreshable,
               "Store the source of each value, so values can be replaced");
  app.add_flag("--transpose", options->transpose, "Also store the formats of the transpose")
      .details(
          "The transpose is reordered by the same method. A symmetric matrix stores nothing twice: its "
          "formats "
          "represent both. With `--refreshable`, new values of the matrix also update the transpose.");
  app.add_flag("--strict", options->strict, "Refuse values that the type cannot represent")
      .details("The error names the row and column of the first such value (exit code 3).");
  app.add_flag("--dry-run", options->dry_run, "Report sizes, memory and time; write nothing")
      .details(
          "Sizes are exact. Reading, reordering and converting are measured; writing is estimated at the "
          "rate "
          "that is printed.");
  auto input = std::make_shared<InputOptions>();
  declare_input(app, *input);
  app.add_force(options->force);
  return [options, input](Session& session) {
    options->real_part = input->real_part;
    options->edges = input->edges();
    options->from = input->kind();
    return run_convert(session, *options);
  };
}
}  // namespace

const Verb kConvert = {
    .name = "convert",
    .summary = "Convert a sparse matrix to tile formats and write a bundle",
    .details =
        "Reads a matrix, reorders its rows, converts it to each format and writes one bundle, which also "
        "contains the source matrix as CSR.",
    .json_keys =
        "`rows`, `cols`, `nnz`, `overflowed`, `underflowed`, `inexact_integers`, `symmetric`, `formats[]` "
        "(`name`, `tc_blocks`, `index_bytes`, `value_bytes`, `seconds`), `order_choice`, `transpose`, "
        "`seconds` "
        "(`read`, `reorder`, `convert`, `write`, `total`), `file_bytes`, `peak_memory`, `dry_run`.\n"
        "Writing overlaps with converting, so the phases can sum to more than `total`. `peak_memory` is in "
        "bytes and an estimate with `--dry-run`, where `seconds_from` names the source of the times. "
        "`order_choice` is null unless the method compares orderings (`auto`); it has `chosen` and `why`. "
        "`transpose` is null without `--transpose`; it has `shared`, `row_order` and `formats[]`.",
    .example = "  sptile convert matrix.mtx matrix.h5 --format bittcf,rs_tile --reorder degree",
    .declare = declare_convert,
    .output_ending = ".h5"};

}  // namespace sptile::tools
