#include <fmt/format.h>

#include <memory>

#include "formats/io/output_bytes.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"
#include "tools/matrix_kinds.hpp"
#include "tools/names.hpp"
#include "tools/operations.hpp"
#include "tools/order_options.hpp"
#include "tools/output_name.hpp"
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

// The given order first; the others once each.
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

// What was asked for beside the defaults, as it would be typed.
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
  // Before the input is read: a bad output should cost no waiting.
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
  app.add_option("IN", options->task.in, matrix_help()).required();
  app.add_option("-o,--output", options->out, "HTML file to write; -: standard output").required();
  declare_orders(app, options->order, "--reorder",
                 "orders to try beside the given one: METHOD[:PRESET], several with commas, or all");
  app.add_option("--dtype", options->task.dtype, "value type that sizes and products are for");
  app.add_option("-n", options->task.request.n, columns_help()).range(std::int64_t{1}, std::int64_t{1} << 31);
  declare_product(app, options->task.request);
  app.add_flag("--measure", options->task.measure,
               "run a product with every format and kernel, and the memory's own speed");
  app.add_option("--format", options->formats, "formats to measure: names with commas, or all");
  app.add_option("--seconds", options->task.seconds,
                 "time for measuring; what is left when it is over is not measured")
      .real_range(0, 1e9);
  app.add_option("--size", options->task.picture_size, "pixels of the longer side of a picture")
      .range(16, 4096);
  declare_input(app, options->task.input);
  app.add_force(options->force);
  return [options](Session& session) { return run_report(session, *options); };
}
}  // namespace

const Verb kReport = {"report",
                      "tell about a matrix on one page: pictures, orderings, formats, what is recommended",
                      "  sptile report matrix.mtx -o report.html --measure", declare_report};

}  // namespace sptile::tools
