#include <fmt/format.h>

#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"
#include "runtime/bundle/bundle.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/core/transpose.hpp"
#include "runtime/plan/choice.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/table.hpp"
#include "tools/commands/commands.hpp"
#include "tools/measure/candidates.hpp"
#include "tools/measure/host_bench.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/core_shares.hpp"

namespace sptile::tools {
namespace {

struct RunOptions {
  std::string bundle, format = "auto";
  bool explain = false, replan = false;
  ProductRequest request;
};

std::string time_text(const std::optional<double>& us) { return us ? human_seconds(*us * 1e-6) : "-"; }

std::string remark(const runtime::Candidate& candidate) {
  if (!candidate.refused.empty()) return candidate.refused;
  if (candidate.chosen) return styled(Style::good, "chosen");
  return candidate.predicted_us || candidate.measured_us ? "" : "no model";
}

// Returns the formats that the bundle does not contain, for "auto".
std::vector<std::string_view> absent_formats(const runtime::Bundle& bundle, const RunOptions& options) {
  std::vector<std::string_view> names;
  for (const formats::FormatLayout* layout : formats::layouts())
    if (options.format == "auto" && bundle.format(layout->name, options.request.side()) == nullptr)
      names.push_back(layout->name);
  return names;
}

std::string candidates_text(const std::vector<runtime::Candidate>& candidates,
                            const std::vector<std::string_view>& absent) {
  std::vector<std::vector<std::string>> table = {
      {"format", "kernel", "products", "predicted", "measured", "why"}};
  for (const runtime::Candidate& c : candidates)
    table.push_back({std::string(c.format), c.kernel == nullptr ? "-" : std::string(c.kernel->name),
                     c.refused.empty() ? std::string(name_of(c.precision)) : "-", time_text(c.predicted_us),
                     time_text(c.measured_us), remark(c)});
  for (const std::string_view name : absent)
    table.push_back({std::string(name), "-", "-", "-", "-", "not stored in the bundle"});
  return format_table(table, "lllrrl");
}

std::string run_text(const RunOptions& options, const Measurement& m) {
  std::string text = fmt::format(
      "{} of {}{} with N = {}: kernel {}, {} {}, precision {}\nmedian {} of {} runs (minimum {}, spread "
      "{:.0f} %), {:.2f} GFLOP/s, {} in {}\n",
      operation_label(*m.op, m.attributes), options.request.transpose ? "the transpose in " : "", m.format,
      m.n, m.kernel, matrix_names(*m.op), dense_label(m), m.precision, human_seconds(m.median_us * 1e-6),
      m.repeat, human_seconds(m.min_us * 1e-6), 100 * m.spread, m.gflops,
      runtime::is_stored(*m.plan) ? "stored plan used" : "planned", human_seconds(m.plan_us * 1e-6));
  if (m.checked)
    text +=
        fmt::format("checked against the reference: relative error {:.2g}, tolerance {:.2g}: {}\n", m.rel_err,
                    m.tolerance, check_outcome(m) ? styled(Style::good, "ok") : styled(Style::bad, "WRONG"));
  if (m.predicted_us) text += fmt::format("predicted {}\n", human_seconds(*m.predicted_us * 1e-6));
  return text;
}

HostBenchOptions bench_options(const ProductRequest& request, runtime::Device device, bool replan) {
  return {.device = device,
          .repeats = Repeats{request.warmup, request.repeat},
          .check = request.check ? CheckedRows::all : CheckedRows::none,
          .stored = !replan,
          .attributes = request.attributes.given()};
}

// The measurement and the candidates.
struct Outcome {
  std::vector<runtime::Candidate> candidates;  // empty if there was no choice
  bool stored = false;                         // a stored plan decided
  Measurement measured;
};

// Runs with the plan that the measured choice returned; its planning time includes all candidates.
Result<Outcome> run_fastest(HostBench& bench, const runtime::Operation& op,
                            const std::vector<runtime::PlanMatrix>& matrices, const KernelRequest& request) {
  runtime::PlanOptions options = bench.plan_options(request);
  options.choice = runtime::Choice::measured;
  const Stopwatch watch;
  auto chosen = runtime::choose_plan(op, matrices, options);
  if (!chosen) return tl::unexpected(chosen.error());
  const Planned planned{std::move(chosen->plan), watch.seconds()};
  const runtime::Candidate* const best = runtime::chosen_of(chosen->candidates);
  auto measured = bench.measure(matrices[best == nullptr ? 0 : best->matrix], planned);
  if (!measured) return tl::unexpected(measured.error());
  return Outcome{std::move(chosen->candidates), false, std::move(*measured)};
}

// Marks the candidate of a stored plan as chosen.
void choose(std::vector<runtime::Candidate>& candidates, const runtime::StoredChoice& stored) {
  for (runtime::Candidate& c : candidates)
    c.chosen = c.matrix == stored.matrix && c.kernel != nullptr && c.kernel->name == stored.kernel;
}

Result<Outcome> run_predicted(HostBench& bench, const runtime::Operation& op,
                              const std::vector<runtime::PlanMatrix>& matrices, KernelRequest request,
                              bool explain) {
  Outcome outcome;
  const auto stored = runtime::stored_choice(op, matrices, bench.plan_options(request));
  if (!stored) return tl::unexpected(stored.error());
  if ((matrices.size() > 1 && !*stored) || explain) {  // a single format needs no model
    auto list = runtime::predict_product(op, matrices, bench.plan_options(request));
    if (!list) return tl::unexpected(list.error());
    outcome.candidates = std::move(*list);
  }
  if (*stored) choose(outcome.candidates, **stored);
  outcome.stored = stored->has_value();
  const runtime::Candidate* const best = runtime::chosen_of(outcome.candidates);
  const std::size_t matrix = *stored ? (*stored)->matrix : best != nullptr ? best->matrix : 0;
  if (*stored)
    request.kernel = (*stored)->kernel;
  else if (best != nullptr)
    request.kernel = best->kernel->name;  // otherwise planning returns the error
  auto measured = bench.measure(matrices[matrix], request);
  if (!measured) return tl::unexpected(measured.error());
  outcome.measured = std::move(*measured);
  return outcome;
}

Result<Outcome> choose_and_run(Session& session, const RunOptions& options, runtime::Device device,
                               const formats::CsrView& source,
                               const std::vector<runtime::PlanMatrix>& matrices) {
  const ProductRequest& request = options.request;
  const runtime::Operation& op = operation_named(request.op);
  HostBench bench(session, bench_options(request, device, options.replan));
  const runtime::DenseTypes dense =
      dense_types(request.dense, request.result, matrices.front().format.value_dtype());
  Status s = bench.set_matrix(source, dense);
  if (s) s = bench.set_operands(op, request.n);
  if (!s) return tl::unexpected(s.error());
  const KernelRequest kernel{request.kernel, precision_named(request.precision)};
  return options.request.choice() == runtime::Choice::measured
             ? run_fastest(bench, op, matrices, kernel)
             : run_predicted(bench, op, matrices, kernel, options.explain);
}

// The matrix and formats to run, with their storage.
struct Source {
  runtime::TransposedCsr turned;
  formats::CsrView csr;
};

// The transpose and the reference require checked input.
Result<Source> find_source(const runtime::Bundle& bundle, const RunOptions& options) {
  Source source;
  source.csr = bundle.csr();
  if (!options.request.check && !options.request.transpose) return source;
  if (const Status s = formats::check_csr(source.csr); !s)
    return fail(s.error().code, s.error().message, options.bundle);
  if (!options.request.transpose) return source;
  source.turned = runtime::transpose(source.csr);
  source.csr = source.turned.view();
  return source;
}

// Returns the division of formats with two parts.
std::string explain_shares(const std::vector<runtime::PlanMatrix>& matrices) {
  std::string text;
  for (const runtime::PlanMatrix& a : matrices)
    text += core_shares_text(a.format.layout->name, core_shares(a.format));
  return text;
}

Status run_run(Session& session, const RunOptions& options) {
  if (Status s = check_transposable(options.request); !s) return s;
  const auto device = resolve_device(options.request);
  if (!device) return tl::unexpected(device.error());
  const auto opened = open_bundle(session, options.bundle);
  if (!opened) return tl::unexpected(opened.error());
  const std::shared_ptr<const runtime::Bundle>& bundle = *opened;
  const auto matrices = held_matrices(bundle, options.bundle, options.format, options.request.side());
  if (!matrices) return tl::unexpected(matrices.error());
  const auto source = find_source(*bundle, options);
  if (!source) return tl::unexpected(source.error());
  const auto outcome = choose_and_run(session, options, *device, source->csr, *matrices);
  if (!outcome) return tl::unexpected(outcome.error());
  Json json = new_result(session);
  json.update({{"bundle", options.bundle}, {"transpose", options.request.transpose}});
  json.update(to_json(outcome->measured));
  json["plan"] = runtime::is_stored(*outcome->measured.plan) ? "stored" : "made";
  json.update({{"threads", session.common.threads}, {"seed", session.seed}});
  json["candidates"] = to_json(outcome->candidates);
  const std::string chosen = outcome->stored && !outcome->candidates.empty()
                                 ? "it has a stored plan"
                                 : why_chosen(outcome->candidates, *device);
  json["why"] = chosen.empty() ? Json(nullptr) : Json(chosen);
  const std::string why =
      options.explain
          ? candidates_text(outcome->candidates, absent_formats(*bundle, options)) + explain_shares(*matrices)
          : "";
  print_result(
      session, json,
      why + run_text(options, outcome->measured) +
          (chosen.empty() ? "" : fmt::format("{} was chosen: {}\n", outcome->measured.format, chosen)));
  return check_outcome(outcome->measured);
}

Action declare_run(Options& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("BUNDLE", options->bundle, "Bundle with the sparse matrix").required();
  app.add_option("--format LIST", options->format, "Stored formats to choose from, separated by commas")
      .names("format", names_with("auto", format_names()))
      .details(
          "`auto` considers all stored formats. It takes the most recent stored plan for this operation and "
          "device (see `sptile plan`), else the fastest predicted format, or csr if no profile matches the "
          "device (see `sptile calibrate`).");
  declare_choose(app, options->request);
  declare_side(app, options->request);
  app.add_flag("--explain", options->explain, "Print the candidates and their predicted times")
      .details(
          "Also prints measured times, why other kernels were excluded, and for hybrid formats the fraction "
          "of "
          "windows and nonzeros in tiles.");
  app.add_flag("--replan", options->replan, "Ignore stored plans");
  declare_columns(app, options->request.n);
  declare_request(app, options->request);
  app.add_flag("--check", options->request.check, "Compare with the serial double-precision reference")
      .details(
          "The error of each element is relative to the sum of the absolute values of its terms. Errors "
          "larger "
          "than rounding explains give exit code 7.");
  return [options](Session& session) { return run_run(session, *options); };
}
}  // namespace

const Verb kRun = {
    .name = "run",
    .summary = "Multiply by a random dense matrix; measure and check the result",
    .details = "Plans one operation, runs it and prints the median time.",
    .json_keys =
        "`transpose`, `device`, `op`, `format`, `kernel`, `n`, `dtype`, `result_dtype`, `precision`, `plan`, "
        "`median_us`, `predicted_us`, `gflops`, `rel_err`, `checked`, `why`, `candidates[]` (`format`, "
        "`kernel`, `precision`, `predicted_us`, `chosen`, `refused`).\n"
        "`plan` is `stored` or `made`. `rel_err` is null without `--check`. `predicted_us` is null for "
        "kernels "
        "without a cost model. `candidates` is empty if there was only one.",
    .example = "  sptile run matrix.h5 --op spmm --format bittcf -n 128 --check",
    .declare = declare_run};

}  // namespace sptile::tools
