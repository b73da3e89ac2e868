#include <fmt/format.h>

#include "formats/layout/csr.hpp"
#include "runtime/bundle.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input.hpp"
#include "tools/measure.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

struct RunOptions {
  std::string bundle, format = "auto";
  SpmmRequest request;
};

// csr has a kernel everywhere and is the fastest on CPUs for most matrices; a planner may choose better
// later.
constexpr std::string_view kAutoFormat = "csr";

std::string run_text(const SpmmMeasurement& m) {
  std::string text = fmt::format(
      "{} of {} with N = {}: kernel {}, B and C {}, products {}\n"
      "median {} of {} runs (fastest {}, spread {:.0f}%), {:.2f} GFLOP/s, planned in {}\n",
      m.op, m.format, m.n, m.kernel, m.dtype, m.precision, human_seconds(m.median_us * 1e-6), m.repeat,
      human_seconds(m.min_us * 1e-6), 100 * m.spread, m.gflops, human_seconds(m.plan_us * 1e-6));
  if (m.checked)
    text += fmt::format("checked against the reference: relative error {:.2g}, allowed {:.2g}: {}\n",
                        m.rel_err, m.tolerance, check_outcome(m) ? "ok" : "WRONG");
  return text;
}

Status run_run(Session& session, const RunOptions& options) {
  if (const Status s = check_request(options.request); !s) return s;
  const auto opened = open_bundle(options.bundle);
  if (!opened) return tl::unexpected(opened.error());
  const std::shared_ptr<const runtime::Bundle>& bundle = *opened;
  const std::string name(options.format == "auto" ? kAutoFormat : std::string_view(options.format));
  const auto view = held_format(*bundle, options.bundle, name);
  if (!view) return tl::unexpected(view.error());
  const bool reordered = name != "csr";
  const runtime::SpmmMatrix a = {**view, reordered ? bundle->row_order() : std::span<const std::int32_t>(),
                                 bundle->value_source(name), bundle};
  if (options.request.check)  // the reference trusts its input
    if (const Status s = formats::check_csr(bundle->csr()); !s)
      return fail(s.error().code, s.error().message, options.bundle);
  const auto measured = measure_spmm(session, a, bundle->csr(), options.request);
  if (!measured) return tl::unexpected(measured.error());
  Json json = new_result(session);
  json["bundle"] = options.bundle;
  json.update(to_json(*measured));
  json.update({{"threads", session.common.threads}, {"seed", session.common.seed}});
  print_result(session, json, run_text(*measured));
  return check_outcome(*measured);
}

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("BUNDLE", options->bundle, "bundle to multiply with")->required();
  app.add_option("--format", options->format, "stored format to run; auto: the one known to be fastest");
  app.add_option("-n", options->request.n, "columns of B")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  declare_request(app, options->request);
  app.add_flag("--check", options->request.check,
               "compare with the serial double-precision reference; exit 7 if wrong");
  return [options](Session& session) { return run_run(session, *options); };
}
}  // namespace

const Verb kRun = {"run", "multiply with a random dense matrix, time it, check it",
                   "  sptile run matrix.h5 --op spmm --format bittcf -n 128 --check", declare_run};

}  // namespace sptile::tools
