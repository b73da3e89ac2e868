#include <fmt/format.h>

#include <memory>
#include <optional>

#include "formats/core/csr.hpp"
#include "formats/io/stream/output_bytes.hpp"
#include "formats/io/text/print_number.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pipeline/conversion.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/order_choice.hpp"
#include "tools/stats/quality_report.hpp"

namespace sptile::tools {
namespace {

struct ReorderOptions {
  std::string in, out, permutation;
  DType dtype = DType::f32;
  OrderRequest order;
  std::string device = "cpu";
  InputOptions input;
  bool force = false;
};

struct ReorderReport {
  OrderChoice choice = {};
  std::int64_t rows = 0, cols = 0, nnz = 0, changed = 0;
  double seconds = 0;
  OrderQuality before, after;
};

bool writes(const ReorderOptions& options) { return !options.out.empty() || !options.permutation.empty(); }

const std::string& reported_name(const ReorderOptions& options) {
  if (!writes(options)) return options.in;
  return options.out.empty() ? options.permutation : options.out;
}

bool is_bundle_name(const std::string& path) {
  const MatrixKind* const kind = kind_by_suffix(path);
  return kind != nullptr && kind->name == "bundle";
}

Status check_outputs(const Session& session, const ReorderOptions& options) {
  const std::string &out = options.out, &permutation = options.permutation;
  if (!out.empty() && written_kind(out) == nullptr && !is_bundle_name(out))
    return fail(Errc::usage, "unknown file ending; expected a bundle (.h5), " + writable_kinds(), out);
  if (Status s = check_output_name(permutation, FileKind::permutation); !s) return s;
  if (!out.empty() && out == permutation) return fail(Errc::usage, "-o and --perm name the same file", out);
  if (Status s = check_stdout_free(session, out); !s) return s;
  if (Status s = check_stdout_free(session, permutation); !s) return s;
  if (out.empty() || out == "-") return {};
  // Checks the output before reading the input, so that errors are reported early.
  const auto probe = formats::OutputBytes::create(out, options.force);
  return probe ? Status() : tl::unexpected(probe.error());
}

// Writes one 0-based old row per line, in the new order; an empty order is the identity.
Status write_permutation(formats::OutputBytes& output, std::span<const std::int32_t> new_to_old,
                         std::int64_t rows) {
  constexpr std::size_t kBlock = 1 << 20;
  std::string text;
  text.reserve(kBlock + 32);
  for (std::int64_t i = 0; i < rows; ++i) {
    char line[24];
    char* const end =
        formats::print_index(line, new_to_old.empty() ? i : new_to_old[static_cast<std::size_t>(i)]);
    *end = '\n';
    text.append(line, end + 1);
    if (text.size() < kBlock) continue;
    if (Status s = output.write(text); !s) return s;
    text.clear();
  }
  return output.write(text);
}

// Resolves the ordering and its device. The method is checked before the device, so that the error is the
// same on machines without a device.
Result<Ordering> resolve(const ReorderOptions& options) {
  const auto at = find_name("device", options.device, names_of(devices()));
  if (!at) return tl::unexpected(at.error());
  auto ordering = resolve_order(options.order);
  if (!ordering) return ordering;
  if (Status s = set_device(*ordering, devices()[*at].device); !s) return tl::unexpected(s.error());
  if (Status s = check_usable(devices()[*at]); !s) return tl::unexpected(s.error());
  return ordering;
}

ReorderReport compare_orders(const formats::CsrView& a, std::span<const std::int32_t> order, double seconds) {
  ReorderReport report{{}, a.rows, a.cols, a.nnz(), 0, seconds, measure_order(a), {}};
  report.after = order.empty() ? report.before : measure_order(a, order);
  for (std::size_t i = 0; i < order.size(); ++i) report.changed += order[i] != static_cast<std::int32_t>(i);
  return report;
}

Status write_file(Session& session, const ReorderOptions& options, const Ordering& ordering,
                  formats::OutputGroup& outputs, const OrderObserver& observe, OrderChoice& choice) {
  const auto loaded = load_matrix(session, options.in, options.input.load(DType::none));
  if (!loaded) return tl::unexpected(loaded.error());
  const formats::CsrView a = loaded->csr.view();
  const Stopwatch watch;
  const auto order = compute_order(session, ordering, a, &choice);
  if (!order) return tl::unexpected(order.error());
  if (Status s = observe(a, *order, watch.seconds()); !s || options.out.empty()) return s;
  const formats::Csr permuted = order->empty() ? formats::Csr{} : formats::permute_rows(a, *order);
  return written_kind(options.out)
      ->write(order->empty() ? a : permuted.view(), options.out, {options.force, &outputs},
              &session.progress);
}

// Writes a bundle with every format.
Status write_bundle(Session& session, const ReorderOptions& options, const Ordering& ordering,
                    formats::OutputGroup& outputs, const OrderObserver& observe, OrderChoice& choice) {
  ConvertTask task;
  task.in = options.in;
  task.out = options.out;
  task.formats = *parse_formats("all");
  task.format_labels = "all";
  task.ordering = ordering;
  task.dtype = options.dtype;
  task.real_part = options.input.real_part;
  task.edges = options.input.edges();
  task.from = options.input.kind();
  task.force = options.force;
  task.group = &outputs;
  const auto report = convert(session, task, observe);
  if (!report) return tl::unexpected(report.error());
  choice = report->order_choice;
  return {};
}

Json reorder_json(const Session& session, const ReorderOptions& options, const Ordering& ordering,
                  const ReorderReport& report) {
  Json json = new_result(session);
  json.update({{"input", options.in}, {"output", options.out}, {"permutation", options.permutation}});
  json.update({{"method", ordering.method->name},
               {"preset", ordering.preset == nullptr ? "" : ordering.preset->name}});
  json.update({{"window_rows", options.order.window_rows}, {"seed", session.seed}});
  json["device"] = name_of(ordering.device);
  json["order_choice"] = to_json(report.choice);
  json["seconds"] = report.seconds;
  json.update(
      {{"rows", report.rows}, {"cols", report.cols}, {"nnz", report.nnz}, {"changed", report.changed}});
  json["quality_before"] = to_json(report.before.windows);
  json["quality_after"] = to_json(report.after.windows);
  json["locality_before"] = to_json(report.before.locality);
  json["locality_after"] = to_json(report.after.locality);
  return json;
}

Status run_reorder(Session& session, const ReorderOptions& options) {
  const auto ordering = resolve(options);
  if (!ordering) return tl::unexpected(ordering.error());
  if (Status s = check_outputs(session, options); !s) return s;
  formats::OutputGroup outputs;  // both files are written, or neither
  std::optional<formats::OutputBytes> permutation;
  if (!options.permutation.empty()) {
    auto created = formats::OutputBytes::create(options.permutation, {options.force, &outputs});
    if (!created) return tl::unexpected(std::move(created.error()));
    permutation = std::move(*created);
  }
  ReorderReport report;
  OrderChoice choice;
  const OrderObserver observe = [&](const formats::CsrView& a, std::span<const std::int32_t> order,
                                    double seconds) {
    begin(&session.progress, "measure", 0);
    report = compare_orders(a, order, seconds);
    return permutation ? write_permutation(*permutation, order, a.rows) : Status();
  };
  Status done = is_bundle_name(options.out)
                    ? write_bundle(session, options, *ordering, outputs, observe, choice)
                    : write_file(session, options, *ordering, outputs, observe, choice);
  report.choice = std::move(choice);
  if (done && permutation) done = permutation->commit();
  if (done) done = outputs.commit();
  if (!done || options.out == "-" || options.permutation == "-") return done;
  if (session.common.json || !session.common.quiet)
    print_result(
        session, reorder_json(session, options, *ordering, report),
        fmt::format("{}: {} x {}, {} entries; {} {} {} rows in {}\n{}\n{}", reported_name(options),
                    report.rows, report.cols, report.nnz, ordering->label(),
                    writes(options) ? "moved" : "would move", report.changed, human_seconds(report.seconds),
                    choice_text(*ordering, report.choice), comparison_text(report.before, report.after)));
  return {};
}

Action declare_reorder(Options& app) {
  auto options = std::make_shared<ReorderOptions>();
  declare_matrix(app, options->in);
  app.add_option("-o,--output OUT", options->out, "Reordered matrix to write; - is standard output")
      .details(
          "The file ending selects the format: a bundle (.h5), " + writable_kinds() +
          ". Text files may be compressed (.gz, .xz, .zst). A bundle contains all formats and is the same "
          "as that of `sptile convert`, with the source in its original order.");
  app.add_option("--perm FILE", options->permutation, "Permutation to write, one row per line")
      .details("Line i has the old index of row i of the new order. Both count from 0.");
  declare_order(app, options->order, "--method METHOD", "Ordering method").required().default_text("");
  app.add_option("--device DEVICE", options->device, "Device that computes the order")
      .names("device", names_of(devices()))
      .details("CUDA devices compute rabbit and pack:fast, with the same result as the CPU.");
  app.add_option("--dtype", options->dtype, "Type of the values in a bundle");
  declare_input(app, options->input);
  app.add_force(options->force);
  return [options](Session& session) { return run_reorder(session, *options); };
}
}  // namespace

const Verb kReorder = {
    .name = "reorder",
    .summary = "Reorder the rows of a matrix and compare the tile quality",
    .details =
        "Computes a row ordering and reports the quality of the row windows before and after. `-o` writes "
        "the "
        "reordered matrix and `--perm` the permutation; without either, the command only reports. The row "
        "order "
        "stored in a bundle is ignored: its source matrix is reordered.",
    .json_keys =
        "`method`, `device`, `order_choice`, `seconds`, `rows`, `cols`, `nnz`, `changed`, "
        "`quality_before[]`, "
        "`quality_after[]` (each `window_rows`, `distinct_columns`, `tc_blocks`, `mean_nnz_tc`), "
        "`locality_before`, `locality_after`.\n"
        "`changed` is the number of rows that moved.",
    .example =
        "  sptile reorder matrix.mtx --method rcm\n"
        "  sptile reorder matrix.mtx --method rcm -o ordered.mtx --perm order.txt",
    .declare = declare_reorder};

}  // namespace sptile::tools
