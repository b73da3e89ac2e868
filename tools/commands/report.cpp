#include <fmt/format.h>

#include <memory>

#include "formats/io/stream/output_bytes.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/commands/commands.hpp"
#include "tools/measure/operations.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/report/gather.hpp"
#include "tools/report/page.hpp"
#include "tools/report/recommend.hpp"
#include "tools/report/text.hpp"

namespace sptile::tools {
namespace {

struct ReportOptions {
  std::string out;
  OrderRequest order = {.method = "rcm,rabbit,pack:fast", .preset = {}, .settings = {}};
  report::Task task;
  std::string formats = "all";
  bool force = false;
};

// Returns the given order first, then the others, without duplicates.
Result<std::vector<Ordering>> resolve_all(const OrderRequest& request) {
  auto given =
      resolve_order({.method = "identity", .preset = {}, .settings = {}, .window_rows = request.window_rows});
  auto others = resolve_orders(request);
  if (!given) return tl::unexpected(std::move(given.error()));
  if (!others) return tl::unexpected(std::move(others.error()));
  std::vector<Ordering> orderings = {std::move(*given)};
  for (Ordering& ordering : *others) {
    const auto same = [&](const Ordering& known) { return known.label() == ordering.label(); };
    if (std::ranges::none_of(orderings, same)) orderings.push_back(std::move(ordering));
  }
  return orderings;
}

// Returns the options that differ from the defaults as command-line text.
std::string product_options(const ProductRequest& request) {
  std::string text = fmt::format("--op {} -n {}", request.op, request.n);
  const auto add = [&](const char* option, const std::string& value, const char* usual) {
    if (value != usual) text += fmt::format(" {} {}", option, report::shell_word(value));
  };
  add("--device", request.device, "cpu");
  add("--precision", request.precision, "");
  add("--kernel", request.kernel, "");
  add("--dense", request.dense, "");
  add("--result", request.result, "");
  return text;
}

std::string measure_options(const ReportOptions& options) {
  if (!options.task.measure) return "";
  std::string text = " --measure";
  if (options.formats != "all") text += " --format " + report::shell_word(options.formats);
  if (options.task.seconds != report::Task().seconds)
    text += fmt::format(" --seconds {:g}", options.task.seconds);
  return text;
}

std::vector<std::string> repeat_commands(const Session& session, const ReportOptions& options,
                                         const report::Report& report) {
  const std::string in = report::shell_word(options.task.in);
  std::string orders;
  for (const report::OrderTried& order : report.orders) orders += (orders.empty() ? "" : ",") + order.label;
  std::string common = options.task.input.typed();
  if (options.task.dtype != DType::f32) common += fmt::format(" --dtype {}", dtype_label(options.task.dtype));
  if (session.common.seed != 1) common += fmt::format(" --seed {}", session.common.seed);
  const std::string window =
      options.order.window_rows != 8 ? fmt::format(" --window-rows {}", options.order.window_rows) : "";
  std::string again = fmt::format("--reorder {}", report::shell_word(options.order.method));
  if (!options.order.preset.empty()) again += " --preset " + report::shell_word(options.order.preset);
  for (const std::string& setting : options.order.settings) again += " --set " + report::shell_word(setting);
  const std::string product = product_options(options.task.request);
  std::vector<std::string> commands;
  if (report.advice) {
    const report::OrderTried& order = advised_order(report);
    const bool moved = &order != &report.orders.front();
    commands.push_back(fmt::format("sptile convert {} bundle.h5 --format {}{}{}{}", in,
                                   advised(report).format, moved ? " " + order.options : "",
                                   moved ? window : "", common));
    commands.push_back(fmt::format("sptile run bundle.h5 {} --check", product));
  }
  commands.push_back(fmt::format("sptile report {} -o {} {}{} {}{}{}", in, report::shell_word(options.out),
                                 again, window, product, measure_options(options), common));
  return commands;
}

std::string summary(const ReportOptions& options, const report::Report& report) {
  std::string text = fmt::format("{}: {} x {}, {} entries, {} orders\n", options.out, report.rows,
                                 report.cols, report.nnz, report.orders.size());
  if (report.advice)
    text += fmt::format("recommended: order {}, format {}\n", advised_order(report).label,
                        advised(report).format);
  return text;
}

Status write_page(const ReportOptions& options, const std::string& page) {
  auto output = formats::OutputBytes::create(options.out, options.force);
  if (!output) return tl::unexpected(std::move(output.error()));
  if (Status s = output->write(page); !s) return s;
  return output->commit();
}

Status run_report(Session& session, ReportOptions& options) {
  if (const Status s = check_stdout_free(session, options.out); !s) return s;
  if (const Status s = check_output_name(options.out, FileKind::html); !s) return s;
  auto formats = parse_names("format", options.formats, format_names());
  if (!formats) return tl::unexpected(std::move(formats.error()));
  options.task.formats = std::move(*formats);
  auto orderings = resolve_all(options.order);
  if (!orderings) return tl::unexpected(std::move(orderings.error()));
  const auto device = resolve_device(options.task.request);
  if (!device) return tl::unexpected(device.error());
  // Checks the output before reading the input, so that errors are reported early.
  if (const auto probe = formats::OutputBytes::create(options.out, options.force); !probe)
    return tl::unexpected(probe.error());
  options.task.orderings = std::move(*orderings);
  options.task.window_rows = options.order.window_rows;
  options.task.device = *device;
  auto report = report::gather(session, options.task);
  if (!report) return tl::unexpected(std::move(report.error()));
  report->commands = repeat_commands(session, options, *report);
  const auto page = report::draw_page(*report);
  if (!page) return tl::unexpected(page.error());
  const Status written = write_page(options, *page);
  if (!written || options.out == "-") return written;
  Json json = report::to_json(session, *report);
  json["output"] = options.out;
  if (session.common.json || !session.common.quiet) print_result(session, json, summary(options, *report));
  return {};
}

Action declare_report(Options& app) {
  auto options = std::make_shared<ReportOptions>();
  declare_matrix(app, options->task.in);
  app.add_option("-o,--output FILE", options->out, "HTML file to write; - is standard output").required();
  declare_orders(app, options->order, "--reorder LIST", "Orderings to try, separated by commas")
      .details(
          "Each is METHOD or METHOD:PRESET; `all` tries every method. The page shows the one with the fewest "
          "tensor-core blocks at the height of `--window-rows`, next to the original order.");
  app.add_option("--dtype", options->task.dtype, "Value type of sizes and operands");
  declare_columns(app, options->task.request.n);
  declare_product(app, options->task.request);
  app.add_flag("--measure", options->task.measure, "Measure every format and kernel, and the copy bandwidth")
      .details("Part of each result is compared with the reference.");
  app.add_option("--format LIST", options->formats, "Formats to measure, separated by commas")
      .details("Sizes and predictions always cover all formats.");
  app.add_option("--seconds S", options->task.seconds, "Time limit for measurements")
      .real_range(0, 1e9)
      .unit("seconds")
      .details(
          "A measurement that has started is completed. The page reports the number of measurements that "
          "were "
          "not reached.");
  app.add_option("--size PIXELS", options->task.picture_size, "Longer side of an image")
      .range(16, 4096)
      .unit("pixels");
  declare_input(app, options->task.input);
  app.add_force(options->force);
  return [options](Session& session) { return run_report(session, *options); };
}
}  // namespace

const Verb kReport = {
    .name = "report",
    .summary = "Write a one-page HTML report: plots, orderings, formats, advice",
    .details =
        "The page needs neither a network nor scripts. It shows spy plots before and after reordering, row "
        "lengths, the effect of orderings at each window height, sizes of formats, run times, a "
        "recommendation "
        "with its reason, and the commands that reproduce it. The recommendation is the fastest measured "
        "format; without `--measure` the fastest predicted one; without a device profile the one that "
        "transfers "
        "the fewest bytes.",
    .json_keys =
        "`name`, `rows`, `cols`, `nnz`, `row_nnz`, `row_bins[]`, `orders[]`, `best_order`, `formats[]`, "
        "`compulsory_bytes`, `copy_gbps`, `floor_us`, `measured`, `not_reached`, `advice`, `commands[]`.",
    .example = "  sptile report matrix.mtx -o report.html --measure",
    .declare = declare_report};

}  // namespace sptile::tools
