#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "formats/io/stream/output_bytes.hpp"
#include "reorder/registry.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/commands/commands.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/measure/bench_against.hpp"
#include "tools/measure/bench_groups.hpp"
#include "tools/measure/bench_plot.hpp"
#include "tools/measure/bench_rows.hpp"
#include "tools/measure/benchmark.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/measure/row_printer.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/format_choice.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/suite/run_suite.hpp"

namespace sptile::tools {
namespace {

constexpr std::size_t kReferenceBytes = std::size_t{1} << 30;

struct BenchOptions {
  std::vector<std::string> inputs;
  std::string formats = "all", dtype, values = "file", csv, plot, against;
  OrderRequest orders = {
      .method = "identity", .preset = {}, .settings = {}, .window_rows = 0};  // several methods
  std::vector<std::int64_t> columns = {128};
  bool no_check = false, flush_l2 = false, graph = false, cusparse = true, force = false;
  bool fail_slower = false;
  bool repeats_given = false, device_given = false, columns_given = false, formats_given = false;
  ProductRequest request;
  InputOptions input;
  std::string suite, matrices = "data/downloads";
  std::vector<std::string> experiments;
};

Status check_options(const BenchOptions& options) {
  if (options.plot == "-")
    return fail(Errc::usage, "--plot cannot write to standard output, which has the table; name a file");
  if (Status s = check_output_name(options.plot, FileKind::svg); !s) return s;
  if (Status s = check_output_name(options.csv, FileKind::csv); !s) return s;
  if (options.inputs.empty() && (options.csv.empty() || (options.plot.empty() && options.against.empty())))
    return fail(Errc::usage,
                "missing IN; without matrices, --csv with --plot or --against processes stored rows");
  if (options.fail_slower && options.against.empty())
    return fail(Errc::usage, "--fail-slower requires --against FILE");
  if (options.request.device != "cuda" && options.flush_l2)
    return fail(Errc::usage, "--flush-l2 requires --device cuda");
  if (options.request.device != "cuda" && options.graph)
    return fail(Errc::usage, "--graph requires --device cuda");
  if (options.request.device == "cuda" && options.repeats_given)
    return fail(
        Errc::usage,
        "--warmup and --repeat require --device cpu; on CUDA devices the number of launches is automatic");
  return {};
}

// Options that a suite does not have: its experiments define what is measured.
Status check_suite_options(const BenchOptions& options) {
  if (Status s = check_output_name(options.csv, FileKind::csv); !s) return s;
  if (!options.plot.empty() || !options.against.empty() || options.fail_slower)
    return fail(Errc::usage, "--suite does not support --plot, --against and --fail-slower");
  if (options.repeats_given)
    return fail(Errc::usage,
                "--suite does not support --warmup and --repeat: launches are timed automatically");
  if (!options.request.kernel.empty() || !options.request.precision.empty())
    return fail(Errc::usage, "--suite sets kernels and precisions; use bench without --suite to choose them");
  return {};
}

// Without --device, a suite runs on a CUDA device if there is one.
Result<bool> suite_on_device(const BenchOptions& options) {
  const DeviceRow& cuda = *std::ranges::find(devices(), runtime::Device::cuda, &DeviceRow::device);
  if (!options.device_given) return device_available(cuda);
  const auto device = resolve_device(options.request);
  if (!device) return tl::unexpected(device.error());
  return *device == runtime::Device::cuda;
}

Status bench_suite(Session& session, const BenchOptions& options) {
  if (Status s = check_suite_options(options); !s) return s;
  const auto on_device = suite_on_device(options);
  if (!on_device) return tl::unexpected(on_device.error());
  return run_suite(session, {.suite = options.suite,
                             .experiments = options.experiments,
                             .inputs = options.inputs,
                             .matrices = options.matrices,
                             .formats = options.formats_given ? options.formats : "",
                             .columns = options.columns_given ? options.columns : std::vector<std::int64_t>(),
                             .csv = options.csv,
                             .on_device = *on_device,
                             .check = !options.no_check,
                             .flush_l2 = options.flush_l2,
                             .graph = options.graph,
                             .cusparse = options.cusparse,
                             .input = options.input,
                             .attributes = options.request.attributes.given()});
}

// Returns the orderings. Without --window-rows, methods that depend on the window height optimize for that of
// the formats; all orderings then have it, because the table of orderings compares their blocks.
Result<std::vector<Ordering>> orderings_of(const OrderRequest& request,
                                           const std::vector<FormatChoice>& formats) {
  auto orderings = resolve_orders(request);
  const auto by_windows = [](const Ordering& one) { return one.method->by_windows; };
  if (!orderings || request.window_rows != 0 || std::ranges::none_of(*orderings, by_windows))
    return orderings;
  for (Ordering& one : *orderings) one.window_rows = window_rows_of(formats);
  return orderings;
}

Result<BenchTask> make_task(const BenchOptions& options) {
  BenchTask task;
  const DType type = value_dtype_from_name(options.dtype).value_or(DType::f32);
  auto formats =
      parse_formats(options.formats, [&](std::string_view name) { return profile_threshold(name, type); });
  if (!formats) return tl::unexpected(std::move(formats.error()));
  auto orderings = orderings_of(options.orders, *formats);
  if (!orderings) return tl::unexpected(std::move(orderings.error()));
  auto precisions = parse_precisions(options.request.precision, options.dtype, options.request.dense,
                                     options.request.result);
  if (!precisions) return tl::unexpected(std::move(precisions.error()));
  for (const PrecisionChoice& precision : *precisions) {
    ProductRequest request = options.request;
    request.precision = precision.name == "fp64" ? "" : precision.name;  // implied by the type
    const auto device = resolve_device(request);
    if (!device) return tl::unexpected(device.error());
    task.device = *device;
  }
  task.inputs = options.inputs;
  task.formats = std::move(*formats);
  task.orderings = std::move(*orderings);
  task.precisions = std::move(*precisions);
  task.columns = options.columns;
  task.random_values = options.values == "random";
  task.input = options.input;
  task.check = !options.no_check;
  task.flush_l2 = options.flush_l2;
  task.graph = options.graph;
  task.cusparse = options.cusparse;
  task.op = &operation_named(options.request.op);
  task.attributes = options.request.attributes.given();
  task.repeats = {options.request.warmup, options.request.repeat};
  task.kernel = options.request.kernel;
  return task;
}

Status write_plot(const BenchOptions& options, const Json& rows) {
  if (options.plot.empty()) return {};
  auto output = formats::OutputBytes::create(options.plot, options.force);
  if (!output) return tl::unexpected(std::move(output.error()));
  if (Status s = output->write(bench_plot(rows)); !s) return s;
  return output->commit();
}

// Results printed at the end.
struct Report {
  Json rows;
  std::int64_t resumed = 0;
  Json device = nullptr;
  std::vector<FailedInput> failed = {};
  std::optional<Json> against = {};  // result of compare_runs
};

Json report_json(const Session& session, const Report& report) {
  Json json = new_result(session);
  json.update({{"resumed", report.resumed}, {"device_facts", report.device}, {"failed", Json::array()}});
  for (const auto& [path, error] : report.failed)
    json["failed"].push_back(
        {{"input", path}, {"error", error.text()}, {"exit", static_cast<int>(error.code)}});
  json["rows"] = report.rows;
  mark_rows(json["rows"]);
  json.update({{"orders", compare_orders(report.rows)}, {"groups", group_verdicts(report.rows)}});
  if (report.against) json["against"] = *report.against;
  return json;
}

// Returns the text below the rows.
std::string closing_text(const BenchOptions& options, const Report& report) {
  const Json orders = compare_orders(report.rows);
  std::string text;
  if (report.resumed > 0) text += fmt::format("reused {} rows\n", report.resumed);
  if (orders_differ(orders)) text += "\n" + orders_text(orders);
  if (const std::string verdicts = verdicts_text(group_verdicts(report.rows)); !verdicts.empty())
    text += "\n" + verdicts;
  if (report.against) text += "\n" + against_text(*report.against, options.against);
  return text;
}

Result<std::vector<Json>> read_rows(const std::string& path) {
  auto rows = CsvLog::read(path, bench_columns());
  if (!rows) return rows;
  if (Status s = check_bench_rows(*rows, path); !s) return tl::unexpected(std::move(s.error()));
  return rows;
}

// Errc::check_failed if requested and rows are slower.
Status check_against(const Session& session, const BenchOptions& options, const Report& report) {
  if (!report.against) return {};
  const Json &against = *report.against, &hosts = against["hosts"];
  if (hosts["old"] != hosts["new"])
    session.warn(
        fmt::format("{} was measured on {}, not on {}; times of different machines are not comparable",
                    options.against, json_text(hosts["old"]), json_text(hosts["new"])));
  const std::size_t compared = against["rows"].size();
  if (compared == 0) {
    const std::string none = fmt::format(
        "no row of {} can be compared: no row except the baseline was measured again", options.against);
    if (options.fail_slower) return fail(Errc::check_failed, none);
    session.warn(none);
  }
  if (!options.fail_slower || against["slower"] == 0) return {};
  return fail(Errc::check_failed, fmt::format("{} of {} rows are slower than in {}",
                                              json_text(against["slower"]), compared, options.against));
}

// Prints the report; `head` is the text above the rows.
Status print_report(Session& session, const BenchOptions& options, const Report& report,
                    const std::string& head) {
  print_result(session, report_json(session, report), head + closing_text(options, report));
  if (const std::string noise = noise_text(report.rows); !noise.empty()) session.warn(noise);
  if (report.rows.empty()) return {};
  if (Status s = write_plot(options, report.rows); !s) return s;
  return check_against(session, options, report);
}

// Reports from the CSV without measuring.
Status report_only(Session& session, const BenchOptions& options, const std::optional<Json>& earlier) {
  const auto rows = read_rows(options.csv);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return fail(Errc::bad_input, "no rows to plot or compare", options.csv);
  Report report{*rows, std::ssize(*rows)};
  if (earlier) report.against = compare_runs(*earlier, report.rows);
  const BenchTable table(report.rows, terminal_columns(stdout));
  BenchGroups groups;
  for (const Json& row : report.rows) groups.add(row);
  std::string text = table.head() + "\n";
  for (const Json& row : report.rows) text += table.line(row, groups.marks(row)) + "\n";
  return print_report(session, options, report, text);
}

Result<std::unique_ptr<ProductBench>> open_bench(Session& session, const BenchTask& task) {
  if (task.device != runtime::Device::cpu)
    return make_device_bench(
        session,
        {.flush_l2 = task.flush_l2, .graph = task.graph, .check = task.check, .attributes = task.attributes});
  return std::make_unique<HostBench>(
      session, HostBenchOptions{.repeats = task.repeats,
                                .check = task.check ? CheckedRows::all : CheckedRows::none,
                                .reference_bytes = kReferenceBytes,
                                .attributes = task.attributes});
}

Json facts_json(const std::optional<DeviceFacts>& facts) {
  if (!facts) return nullptr;
  return {{"name", facts->name},
          {"copy_gbps", facts->ceilings.copy * 1e-9},
          {"l2_gbps", facts->ceilings.l2 * 1e-9},
          {"pinned_gbps", facts->ceilings.pinned * 1e-9}};
}

Status measure(Session& session, const BenchOptions& options, const BenchTask& task, CsvLog log,
               const std::optional<Json>& earlier) {
  auto bench = open_bench(session, task);
  if (!bench) return tl::unexpected(std::move(bench.error()));
  Benchmark benchmark(session, task, std::move(log), std::move(*bench));
  const Status stored = benchmark.run();
  if (benchmark.rows().empty() && task.inputs.size() == 1) return stored ? benchmark.outcome() : stored;
  Report report{benchmark.rows(), benchmark.resumed(), facts_json(benchmark.device()), benchmark.failed()};
  if (earlier) report.against = compare_runs(*earlier, report.rows);
  const Status reported = print_report(session, options, report, "");
  if (!stored) return stored;
  if (Status s = benchmark.outcome(); !s) return s;
  return reported;
}

Status run_bench(Session& session, const BenchOptions& options) {
  if (!options.suite.empty()) return bench_suite(session, options);
  if (!options.experiments.empty()) return fail(Errc::usage, "--experiment requires --suite");
  if (Status s = check_options(options); !s) return s;
  // Checks the output before measuring, so that errors are reported early.
  if (!options.plot.empty())
    if (const auto probe = formats::OutputBytes::create(options.plot, options.force); !probe)
      return tl::unexpected(probe.error());
  std::optional<Json> earlier;
  if (!options.against.empty()) {
    const auto rows = read_rows(options.against);
    if (!rows) return tl::unexpected(rows.error());
    earlier = *rows;
  }
  if (options.inputs.empty()) return report_only(session, options, earlier);
  auto task = make_task(options);
  if (!task) return tl::unexpected(task.error());
  auto log = CsvLog::open(options.csv, bench_columns());
  if (!log) return tl::unexpected(std::move(log.error()));
  if (Status s = check_bench_rows(log->rows(), options.csv); !s) return s;
  print_rows(session, *task);
  return measure(session, options, *task, std::move(*log), earlier);
}

void declare_rows(Options& app, BenchOptions& options) {
  app.add_option("-o,--output,--csv FILE", options.csv,
                 "CSV file to append rows to; existing rows are reused")
      .default_text("none")
      .details(
          "Each row is appended as soon as it is measured, so an interrupted benchmark can be resumed. Rows "
          "are "
          "reused "
          "if the contents of the matrix (column `content`, XXH3), the options, the version of sptile and "
          "the "
          "host are the same. A file with different columns is refused and left unchanged.");
  app.add_option("--plot FILE", options.plot, "SVG file to plot GFLOP/s in")
      .default_text("none")
      .details(
          "One panel per N, one line per matrix, one dot per format and precision. Without IN, plots the "
          "rows of "
          "`--csv` and measures nothing.");
  app.add_option("--against FILE", options.against,
                 "CSV file of an earlier run on this machine to compare with")
      .default_text("none")
      .details(
          "Compares rows with the same matrix, ordering, format, N, types and options; versions may differ. "
          "Times are relative to the fastest cuSPARSE or else csr kernel of the same run, so a uniformly "
          "faster "
          "or slower machine does not count. Reports changes that exceed the spread of the times, and 5 %. "
          "Without IN, compares the rows of `--csv` and measures nothing.");
  app.add_flag("--fail-slower", options.fail_slower, "Exit with code 7 if --against finds slower rows")
      .details("The exit code is also 7 if no row can be compared.");
  app.add_force(options.force);
}

void declare_matrices(Options& app, BenchOptions& options) {
  app.add_option("IN", options.inputs, "Matrices to measure").default_text("").details(matrix_details());
  app.add_option("--format LIST", options.formats, "Formats to measure, separated by commas")
      .names("format", names_with("all", format_names()))
      .details(
          "`tall:16` to `tall:128` set the window height. `libra_spmm:1` to `libra_spmm:9` and "
          "`libra_sddmm:1` "
          "to `libra_sddmm:129` set the minimum number of nonzeros per column vector or block for tensor "
          "cores "
          "(default: 3 and 24). `hc_window:fitted`, `:paper`, `:tensor` and `:cuda` set the rule that "
          "assigns "
          "windows to tensor or CUDA cores. `rs_tile:tau_nnz=3,rule=none` sets the selection of residual "
          "rows.");
  declare_orders(app, options.orders, "--reorder LIST", "Orderings to measure, separated by commas")
      .details(
          "Each is METHOD or METHOD:PRESET; `all` measures every method. Several orderings add a table that "
          "compares them. `--preset` and `--set` apply to the methods that have them. `loa`, `pack` and "
          "`auto` optimize for the window height that all formats share, else 8.");
  declare_columns(app, options.columns);
  app.add_option("--dtype TYPE", options.dtype, "Type of the values of the matrix")
      .value_type()
      .default_text("type of the precision, else f32");
  app.add_option("--values WHICH", options.values,
                 "Values of the matrix: from the file, or random in (0.1, 1)")
      .one_of({"file", "random"});
  declare_input(app, options.input);
}

void declare_measurement(Options& app, BenchOptions& options) {
  declare_request(app, options.request);
  app.get_option("--precision")
      .description("Precisions of f32 multiplications, separated by commas")
      .details(
          "fp32, tf32, fp16, bf16 or fp64. fp16, bf16 and fp64 use operands of that type. A note reports "
          "kernels "
          "without the precision.");
  app.get_option("--kernel")
      .description("Kernel to use; all measures each kernel of the formats")
      .offer(names_with("all", names_of(runtime::kernels())));
  app.add_flag("--flush-l2", options.flush_l2, "Flush the L2 cache of the device before each launch");
  app.add_flag("--graph", options.graph, "Time CUDA graph replays, which exclude the launch overhead");
  app.add_flag("--cusparse,!--no-cusparse", options.cusparse, "Also measure cuSPARSE on CUDA devices")
      .details(
          "By default bench measures the CSR algorithms of cuSPARSE if libcusparse can be loaded. "
          "`--no-cusparse` disables them.");
  app.add_flag("--no-check", options.no_check, "Do not compare results with the reference");
}

void declare_suite(Options& app, BenchOptions& options) {
  app.add_option("--suite PAPER", options.suite, "Run the experiments of a paper")
      .one_of(names_of(suites()))
      .default_text("none")
      .details(
          "Measures the kernels, formats, row orders, precisions and N of the paper's figures and tables, "
          "and prints "
          "geometric means of the speedups for each experiment. Every experiment also has the fastest known "
          "kernel "
          "of each format in `--format` (default: those that are usually fast). `-n` replaces the paper's "
          "values of N. "
          "Figures about sizes and densities need no device. Without `--device`, CUDA is used if it is "
          "available. "
          "Without IN, measures the matrices of the paper's list that are in `--matrices`. Kernels and "
          "matrices that "
          "are missing are listed.");
  app.add_option("--experiment LIST", options.experiments, "Experiments of the suite, separated by commas")
      .default_text("all")
      .details("`times` are all experiments with times, `structures` those about sizes and densities.");
  app.add_option("--matrices DIR", options.matrices, "Folder with the matrices of the suite")
      .details("The list of the matrices is SUITE.tsv in this folder, or in the folder `papers` next to it.");
}

Action declare_bench(Options& app) {
  auto options = std::make_shared<BenchOptions>();
  declare_matrices(app, *options);
  declare_rows(app, *options);
  declare_measurement(app, *options);
  declare_suite(app, *options);
  const Option warmup = app.get_option("--warmup");
  const Option repeat = app.get_option("--repeat");
  const Option device = app.get_option("--device"), columns = app.get_option("-n");
  const Option formats = app.get_option("--format");
  return [options, warmup, repeat, device, columns, formats](Session& session) {
    options->repeats_given = warmup.given() || repeat.given();
    options->device_given = device.given();
    options->columns_given = columns.given();
    options->formats_given = formats.given();
    return run_bench(session, *options);
  };
}
}  // namespace

const Verb kBench = {
    .name = "bench",
    .summary = "Benchmark formats, orderings, precisions and numbers of columns",
    .details =
        "Measures all combinations, compares each result with the reference in double precision and prints "
        "each "
        "row when it is complete (with `--json`, all rows at the end). Matrices that cannot be read or "
        "measured "
        "are reported and skipped; the exit code is that of the first one, or 7 if a result is wrong.\n\n"
        "Rows are ranked by their minimum time. `*` marks the fastest row so far of its matrix, operation "
        "and N, `auto` the one that a plan would choose by its predicted time among the rows so far. "
        "The columns `csr` and `cusparse` are speedups over the fastest csr kernel in the first ordering and "
        "over cuSPARSE, with the same types. The spread is the 90th minus the 10th percentile, relative to "
        "the "
        "median. A row of at least five runs with a spread of more than 25 % is marked `noisy`: it is never "
        "the fastest, and no conclusion is drawn from it. For each matrix, operation and N, a sentence "
        "reports the fastest format and the number of multiplications after which reordering or converting "
        "pays off. "
        "Differences within the spread, or 5 %, do not count.\n\n"
        "On CUDA devices, operands stay in device memory and CUDA events time groups of launches. The number "
        "of "
        "launches follows from the time of one, so `--warmup` and `--repeat` are errors. References use up "
        "to 1 "
        "GiB of memory and are otherwise recomputed for each row.",
    .json_keys =
        "`rows[]` with the keys of `run` and `matrix`, `content`, `version`, `host`, `values`, `reorder`, "
        "`window_rows`, `reorder_us`, `tc_blocks`, `mean_nnz_tc`, `convert_us`, `predicted_us`, `min_us`, "
        "`spread`, `noisy`, `fastest`, `auto`, `over_csr`; on CUDA also `flush_l2`, `graph`, `frobenius` "
        "(relative "
        "error "
        "of the result in the Frobenius norm), `over_cusparse`, `floor_us`, `hbm_bytes`, `hbm_ratio` (time "
        "to "
        "transfer CSR, B and C once at the copy bandwidth; bytes; floor over time), `l2_bytes`, `l2_gbps`, "
        "`l2_ratio` (rows of B that the format loads; rate; rate over L2 bandwidth), `pinned_us`.\n"
        "`device_facts` (`name`, `copy_gbps`, `l2_gbps`, `pinned_gbps`), `orders[]` (`matrix`, `reorder`, "
        "`n`, "
        "`reorder_us`, `tc_blocks`, `mean_nnz_tc`, `format`, `median_us`, `min_us`, `speedup`), `groups[]` "
        "(`matrix`, "
        "`rows`, `cols`, `nnz`, `device`, `op`, `n`, `format`, `kernel`, `precision`, `reorder`, "
        "`median_us`, "
        "`min_us`, `over_csr`, `over_cusparse`, `reordering_pays`, `best_ordering`, `saved_us`, "
        "`preparation_us`, `pays_after`), `failed[]` (`input`, `error`, `exit`); with `--against` also "
        "`against` "
        "(`slower`, `faster`, `only_old`, `only_new`, `hosts`, `yardsticks[]`, `rows[]`).\n"
        "With `--suite`: `suite`, `rows[]` with `suite` and `experiment` (names, separated by blanks), "
        "`experiments[]` (`suite`, `experiment`, `title`, `op`, `precision`, `baseline`, `random_values`, "
        "`lines[]` "
        "with `n`, null for all, `variant`, `format`, `kernel`, `reorder`, `matrices`, `over_baseline`, "
        "`max_over_baseline`, `over_other`, "
        "`fastest`, "
        "`over_known`: geometric means of speedups over the baseline, the fastest other variant and the "
        "fastest known "
        "kernel), `structures[]` (`suite`, `experiment`, `title`, `lines[]` with `reorder`, `format`, "
        "`matrices`, "
        "`quantities`: `mean` and `over_first`), `structure_rows[]` (one per matrix, row order and format), "
        "`core_rates[]` (`ratio`, `mode`, `us`, `tflops`), "
        "`missing[]` "
        "(`what`, `name`, `why`, `experiments`), `left_out[]`, `failed[]`.",
    .example =
        "  sptile bench a.mtx b.mtx --reorder identity,degree -n 32,128 --csv results.csv\n"
        "  sptile bench a.csr --values random --device cuda --precision fp32,tf32 --csv gpu.csv\n"
        "  sptile bench --suite acc a.mtx b.mtx --csv acc.csv",
    .declare = declare_bench};

}  // namespace sptile::tools
