#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

#include "reorder/partition/methods.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/order_options.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/partition/assignment.hpp"
#include "tools/partition/names.hpp"
#include "tools/partition/part_matrices.hpp"
#include "tools/partition/partition_source.hpp"
#include "tools/partition/prediction.hpp"
#include "tools/partition/write.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

using reorder::Division;

struct PartitionOptions {
  std::string in, out, method = "metis", predict;
  std::int64_t parts = 0;
  OrderRequest order;
  DType dtype = DType::none;
  InputOptions input;
  double bandwidth = 350, latency = 5;  // GB/s, microseconds
  double gflops = 0;                    // 10^9 operations per second; 0: the fitted rates
  std::int64_t n = 128;
  bool force = false;

  [[nodiscard]] ClusterModel model(DType values) const {
    ClusterModel model;
    model.bandwidth = bandwidth * 1e9;
    model.latency = latency * 1e-6;
    if (gflops > 0) model.rate = gflops * 1e9;
    model.n = n;
    model.value_bytes = values == DType::f64 ? 8 : 4;
    return model;
  }
};

// A method of the table, or a file of part numbers.
struct ChosenMethod {
  const reorder::PartitionMethod* row = nullptr;  // null: the file
  std::string name;

  [[nodiscard]] bool streams() const { return row != nullptr && row->streams; }
};

struct PartitionReport {
  PartitionDescription description;
  StepPrediction prediction;
  double read = 0, divide = 0, survey = 0, write = 0, total = 0;
};

Result<ChosenMethod> resolve_method(const std::string& name) {
  if (const auto* const row = reorder::find_partition_method(name)) return ChosenMethod{row, name};
  struct stat status {};
  if (::stat(name.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return ChosenMethod{nullptr, name};
  Error error = unknown_name("method", name, names_of(reorder::partition_methods()));
  error.message += ", and no such file of part numbers exists";
  return tl::unexpected(std::move(error));
}

Result<Division> divide(Session& session, const ChosenMethod& method, const formats::CsrView& a,
                        std::int32_t parts) {
  if (method.row != nullptr) return method.row->run(a, parts, {session.seed, &session.progress});
  const auto part = read_assignment(method.name, a.rows, parts);
  if (!part) return tl::unexpected(part.error());
  return reorder::divide_by_part(*part, parts);
}

// Reorders the rows of each part, and its columns accordingly, if requested.
Status order_parts(Session& session, const Ordering& ordering, const formats::CsrView& a,
                   Division& division) {
  if (ordering.method->name == "identity") return {};
  for (std::int32_t part = 0; part < division.parts(); ++part) {
    const formats::Csr local = local_matrix(a, division, part);
    const auto order = compute_order(session, ordering, local.view());
    if (!order) return tl::unexpected(order.error());
    if (!order->empty()) reorder::reorder_part(division, part, *order);
  }
  return {};
}

tl::unexpected<Error> of_input(Error error, const std::string& path) {
  if (error.where.empty()) error.where = path;
  return tl::unexpected(std::move(error));
}

Json prediction_json(const StepPrediction& p) {
  return {{"step_seconds", p.step},         {"local_seconds", p.local},      {"halo_seconds", p.halo},
          {"exchange_seconds", p.exchange}, {"one_device_seconds", p.alone}, {"efficiency", p.efficiency}};
}

Json model_json(const PartitionOptions& options) {
  return {{"bandwidth_gb_s", options.bandwidth},
          {"latency_us", options.latency},
          {"gflops", options.gflops > 0 ? Json(options.gflops) : Json()},
          {"n", options.n}};
}

std::string model_text(const PartitionOptions& options) {
  const std::string rate = options.gflops > 0 ? fmt::format("{:g} GFLOP/s", options.gflops) : "H100";
  return fmt::format("{} columns, {:g} GB/s, {:g} us per peer, {}", options.n, options.bandwidth,
                     options.latency, rate);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

Json totals_json(const Totals& totals) {
  return {{"halo_share", totals.halo_share()},
          {"volume", totals.volume},
          {"largest_send", totals.largest_send},
          {"imbalance", totals.imbalance}};
}

Json partition_json(const Session& session, const PartitionOptions& options, const PartitionReport& report) {
  const PartitionDescription& whole = report.description;
  Json json = new_result(session);
  json.update({{"input", options.in}, {"output", options.out}, {"id", whole.id}});
  json.update({{"method", whole.method}, {"reorder", whole.reorder}, {"seed", session.seed}});
  json.update({{"rows", whole.rows}, {"nnz", whole.entries}});
  json.update({{"dtype", dtype_label(whole.dtype)}, {"symmetric", whole.symmetric}});
  json.update(totals_json(totals_of(whole.parts)));
  json["prediction"] = prediction_json(report.prediction);
  json["prediction"]["model"] = model_json(options);
  json["parts"] = Json::array();
  for (std::size_t rank = 0; rank < whole.parts.size(); ++rank) {
    const PartCounts& part = whole.parts[rank];
    json["parts"].push_back({{"file", part_name(static_cast<std::int64_t>(rank))},
                             {"rows", part.rows},
                             {"local_entries", part.local_entries},
                             {"halo_entries", part.halo_entries},
                             {"received", part.received},
                             {"sent", part.sent},
                             {"senders", part.senders},
                             {"receivers", part.receivers},
                             {"bytes", whole.file_bytes[rank]}});
  }
  json["seconds"] = {{"read", report.read},
                     {"divide", report.divide},
                     {"survey", report.survey},
                     {"write", report.write},
                     {"total", report.total}};
  return json;
}

// Maximum number of parts that are printed individually.
constexpr std::size_t kPartsShown = 32;

std::string parts_table(const PartitionDescription& whole) {
  if (whole.parts.size() > kPartsShown) return "";
  std::vector<std::vector<std::string>> rows = {
      {"part", "rows", "local entries", "halo entries", "receives", "sends", "peers", "file"}};
  for (std::size_t rank = 0; rank < whole.parts.size(); ++rank) {
    const PartCounts& part = whole.parts[rank];
    rows.push_back({fmt::format("{}", rank), fmt::format("{}", part.rows),
                    fmt::format("{}", part.local_entries), fmt::format("{}", part.halo_entries),
                    fmt::format("{}", part.received), fmt::format("{}", part.sent),
                    fmt::format("{}", std::max(part.senders, part.receivers)),
                    human_bytes(static_cast<std::int64_t>(whole.file_bytes[rank]))});
  }
  return format_table(rows, "rrrrrrrr") + "\n";
}

std::string partition_text(const PartitionOptions& options, const PartitionReport& report) {
  const PartitionDescription& whole = report.description;
  const Totals totals = totals_of(whole.parts);
  const StepPrediction& p = report.prediction;
  return fmt::format(
      "{}: {} parts of {} rows, {} entries{}, by {}\n\n{}halo {} of the entries; {} rows sent per SpMM, at "
      "most {} by one part; imbalance {:.2f}\npredicted: step {}, efficiency {} ({})\nread {}, partition {}, "
      "analyze {}, write {}, total {}\n",
      options.out, whole.parts.size(), whole.rows, whole.entries, whole.symmetric ? ", symmetric" : "",
      whole.method, parts_table(whole), share_text(totals.halo_share()), totals.volume, totals.largest_send,
      totals.imbalance, human_seconds(p.step), share_text(p.efficiency), model_text(options),
      human_seconds(report.read), human_seconds(report.divide), human_seconds(report.survey),
      human_seconds(report.write), human_seconds(report.total));
}

void warn_of_halo(Session& session, const Totals& totals) {
  if (2 * totals.halo_entries > totals.entries)
    session.warn(fmt::format(
        "{} of the entries are in the halo, so communication dominates; use another method or fewer parts",
        share_text(totals.halo_share())));
}

StepPrediction predict(const PartitionOptions& options, const PartitionSource& source,
                       const Division& division, const Survey& survey) {
  const ClusterModel model = options.model(source.rows.a.values.dtype);
  return predict_step(survey.parts, work_of_step(source.rows, division, survey, model.row_bytes()), model);
}

Result<PartitionReport> make_partition(Session& session, const PartitionOptions& options,
                                       const ChosenMethod& method, const Ordering& ordering,
                                       const formats::AtomicFolder& folder) {
  const Stopwatch total, reading;
  PartitionReport report;
  const auto source = open_partition_source(session, options.in, options.input.load(options.dtype),
                                            method.streams() && ordering.method->name == "identity");
  if (!source) return tl::unexpected(source.error());
  report.read = reading.seconds();
  const Stopwatch dividing;
  auto division = divide(session, method, source->rows.a, static_cast<std::int32_t>(options.parts));
  if (!division) return of_input(division.error(), options.in);
  if (Status s = order_parts(session, ordering, source->rows.a, *division); !s)
    return of_input(s.error(), options.in);
  report.divide = dividing.seconds();
  const Stopwatch surveying;
  auto survey = survey_parts(source->rows, *division, &session.progress);
  if (!survey) return of_input(survey.error(), options.in);
  report.prediction = predict(options, *source, *division, *survey);
  put_boundary_last(*division, *survey);
  report.survey = surveying.seconds();
  warn_of_halo(session, totals_of(survey->parts));
  const Stopwatch writing;
  auto written = write_partition(source->rows, *division, *survey,
                                 {options.out, method.row != nullptr ? method.name : "file", ordering.label(),
                                  base_name(options.in), session.seed},
                                 folder, &session.progress);
  if (!written) return tl::unexpected(std::move(written.error()));
  report.description = std::move(*written);
  report.write = writing.seconds();
  report.total = total.seconds();
  return report;
}

Status write_parts(Session& session, const PartitionOptions& options, const ChosenMethod& method,
                   const Ordering& ordering) {
  if (options.parts == 0 || options.out.empty())
    return fail(Errc::usage, "missing --parts P and -o DIR; --predict needs neither and writes nothing");
  // Checks the output before reading the input, so that errors are reported early.
  auto folder = formats::AtomicFolder::create(options.out, options.force, is_partition_file);
  if (!folder) return tl::unexpected(std::move(folder.error()));
  const auto report = make_partition(session, options, method, ordering, *folder);
  if (!report) return tl::unexpected(report.error());
  if (Status s = folder->commit(); !s) return s;
  if (session.common.json || !session.common.quiet)
    print_result(session, partition_json(session, options, *report), partition_text(options, *report));
  return {};
}

std::optional<std::int64_t> read_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 1 && number <= reorder::kMaxParts ? std::optional(number) : std::nullopt;
}

// Parses "gpus=8..1024" (doubling) and "gpus=8,12" (a list).
Result<std::vector<std::int32_t>> read_gpus(const std::string& typed) {
  constexpr std::string_view kKey = "gpus=", kTo = "..";
  std::string_view text = typed;
  if (text.starts_with(kKey)) text.remove_prefix(kKey.size());
  std::vector<std::int32_t> counts;
  if (const std::size_t dots = text.find(kTo); dots != std::string_view::npos) {
    const auto first = read_count(text.substr(0, dots)), last = read_count(text.substr(dots + kTo.size()));
    if (first && last && *first <= *last) {
      for (std::int64_t count = *first; count <= *last; count *= 2)
        counts.push_back(static_cast<std::int32_t>(count));
      return counts;
    }
  } else {
    for (const std::string& item : split_list(text))
      if (const auto count = read_count(item)) counts.push_back(static_cast<std::int32_t>(*count));
    if (!counts.empty() && counts.size() == split_list(text).size()) return counts;
  }
  return fail(Errc::usage,
              fmt::format("--predict {}: expected gpus=FIRST..LAST (doubling) or gpus=A,B,... from 1 to {}",
                          typed, reorder::kMaxParts));
}

struct PredictedCount {
  std::int32_t gpus;
  Totals totals;
  StepPrediction step;
};

Status print_predictions(Session& session, const PartitionOptions& options, const ChosenMethod& method,
                         const std::vector<PredictedCount>& predicted) {
  Json json = new_result(session);
  json.update({{"input", options.in}, {"method", method.name}, {"seed", session.seed}});
  json["model"] = model_json(options);
  json["predictions"] = Json::array();
  std::vector<std::vector<std::string>> table = {{"GPUs", "step", "speed-up", "efficiency", "local", "halo",
                                                  "exchange", "halo fraction", "rows sent", "by one"}};
  for (const PredictedCount& row : predicted) {
    const StepPrediction& p = row.step;
    Json one = {{"gpus", row.gpus}};
    one.update(totals_json(row.totals));
    one.update(prediction_json(p));
    json["predictions"].push_back(std::move(one));
    table.push_back({fmt::format("{}", row.gpus), human_seconds(p.step),
                     fmt::format("{:.1f}", p.step > 0 ? p.alone / p.step : 1), share_text(p.efficiency),
                     human_seconds(p.local), human_seconds(p.halo), human_seconds(p.exchange),
                     share_text(row.totals.halo_share()), fmt::format("{}", row.totals.volume),
                     fmt::format("{}", row.totals.largest_send)});
  }
  const double alone = predicted.front().step.alone;
  print_result(session, json,
               fmt::format("{} partitioned by {}; one GPU: {}\n({}; step = max(local, exchange) + halo of "
                           "the slowest part)\n\n{}",
                           options.in, method.name, human_seconds(alone), model_text(options),
                           format_table(table, "rrrrrrrrrr")));
  return {};
}

Status predict_counts(Session& session, const PartitionOptions& options, const ChosenMethod& method) {
  if (!options.out.empty() || options.parts != 0)
    return fail(Errc::usage, "--predict cannot be combined with --parts and -o");
  if (method.row == nullptr)
    return fail(Errc::usage,
                "--predict requires a method; a file of part numbers has a fixed number of parts");
  const auto gpus = read_gpus(options.predict);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto source =
      open_partition_source(session, options.in, options.input.load(options.dtype), method.streams());
  if (!source) return tl::unexpected(source.error());
  std::vector<PredictedCount> predicted;
  for (const std::int32_t count : *gpus) {
    const auto division = divide(session, method, source->rows.a, count);
    if (!division) return of_input(division.error(), options.in);
    const auto survey = survey_parts(source->rows, *division, &session.progress);
    if (!survey) return of_input(survey.error(), options.in);
    predicted.push_back({count, totals_of(survey->parts), predict(options, *source, *division, *survey)});
  }
  return print_predictions(session, options, method, predicted);
}

Status run_partition(Session& session, const PartitionOptions& options) {
  const auto method = resolve_method(options.method);
  if (!method) return tl::unexpected(method.error());
  const auto ordering = resolve_order(options.order);
  if (!ordering) return tl::unexpected(ordering.error());
  if (options.dtype != DType::none && options.dtype != DType::f32 && options.dtype != DType::f64)
    return fail(Errc::usage, "--dtype: parts require f32 or f64");
  if (!options.predict.empty()) return predict_counts(session, options, *method);
  return write_parts(session, options, *method, *ordering);
}

std::string method_details() {
  std::string text;
  for (const reorder::PartitionMethod& method : reorder::partition_methods())
    text += fmt::format("`{}`: {}. ", method.name, method.summary);
  return text +
         "A file assigns a part from 0 to P - 1 to each row, one per line. `metis` needs 72 bytes of memory "
         "per "
         "nonzero. `rows` streams a bundle of any size in the memory of one part.";
}

Action declare_partition(Options& app) {
  auto options = std::make_shared<PartitionOptions>();
  constexpr double kMaxRate = 1e9;
  declare_matrix(app, options->in);
  app.add_option("--parts P", options->parts, "Number of parts")
      .default_text("")
      .range(1, reorder::kMaxParts);
  app.add_option("-o,--output DIR", options->out, "Directory to write");
  app.add_option("--method METHOD", options->method, "Partitioning method, or a file of part numbers")
      .offer(names_of(reorder::partition_methods()))
      .details(method_details());
  declare_order(app, options->order, "--reorder METHOD", "Ordering of the rows and columns inside each part");
  app.add_option("--dtype TYPE", options->dtype, "Type of the values")
      .offer({"f32", "f64"})
      .default_text("type of a bundle, else f32");
  app.add_option("--predict LIST", options->predict, "Predict the time on several devices; write nothing")
      .details(
          "`gpus=8..1024` predicts for 8, 16, ... 1024 devices, `gpus=8,64` for a list. The prediction is "
          "the "
          "maximum over the parts of max(local, exchange) + halo. Its defaults are fitted to one and two "
          "H100 "
          "connected by NVLink; other devices and numbers of devices were not measured.");
  app.add_option("-n N", options->n, "Number of columns of the dense operand to predict for")
      .range(1, 1 << 20);
  app.add_option("--bandwidth RATE", options->bandwidth,
                 "Bandwidth of one device in each direction, for --predict")
      .real_range(1e-3, kMaxRate)
      .unit("GB/s");
  app.add_option("--latency TIME", options->latency, "Latency per communicating pair of parts, for --predict")
      .real_range(0, kMaxRate)
      .unit("us");
  app.add_option("--gflops RATE", options->gflops, "SpMM rate of one device, for --predict")
      .default_text("")
      .real_range(1e-3, kMaxRate)
      .unit("GFLOP/s")
      .details(
          "`sptile run` measures it. Without it, times of products depend on the nonzeros, on the rows and "
          "on "
          "the locality of the columns, as fitted to an H100.");
  declare_input(app, options->input);
  app.add_flag("--force", options->force, "Replace an existing partition directory")
      .details("Directories that contain other files are never replaced.");
  return [options](Session& session) { return run_partition(session, *options); };
}
}  // namespace

const Verb kPartition = {
    .name = "partition",
    .summary = "Partition a square matrix for several devices",
    .details =
        "Assigns each row, and with it the column and the rows of the dense operands, to one of P parts. The "
        "directory contains `partition.json` and one bundle per part, `part-0000.h5`, with two matrices: "
        "local "
        "(own rows and columns) and halo (own rows, columns of other parts), their transposes unless the "
        "matrix "
        "is symmetric, and the lists of rows to send and receive. It appears complete or not at all. Prints "
        "the "
        "halo fraction, the rows sent per multiplication, the largest sender, the load imbalance and a "
        "predicted efficiency. Warns if the halo is larger than the local part.",
    .json_keys =
        "`id`, `method`, `reorder`, `rows`, `nnz`, `dtype`, `symmetric`, `halo_share`, `volume`, "
        "`largest_send`, `imbalance`, `prediction`, `parts[]`, `seconds`; with `--predict`: `model`, "
        "`predictions[]`.",
    .example =
        "  sptile partition matrix.mtx --parts 4 -o parts\n"
        "  sptile partition matrix.h5 --predict gpus=8..1024 --method rows --bandwidth 50",
    .declare = declare_partition};

}  // namespace sptile::tools
