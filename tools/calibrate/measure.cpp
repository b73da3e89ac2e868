#include "tools/calibrate/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/layout/hc_window.hpp"
#include "runtime/choice/fitted_parameter.hpp"
#include "tools/calibrate/selector_sampling.hpp"
#include "tools/calibrate/suite.hpp"
#include "tools/calibrate/window_matrices.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/measure/host_bench.hpp"
#include "tools/measure/random_operands.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

// Maximum multiplications on one core: the time per nonzero of larger products is the same.
constexpr std::int64_t kMaxOnCpu = 100'000'000;

// A matrix to measure: one of the suite, or a user's file.
struct Subject {
  std::string name;
  const SuiteMatrix* generated = nullptr;  // null: the file `name`
  InputOptions input = {};                 // options for that file
};

std::vector<Subject> subjects_of(const CalibrationScope& scope) {
  std::vector<Subject> subjects;
  for (const SuiteMatrix& matrix : calibration_suite())
    if (scope.suite && (matrix.quick || !scope.quick)) subjects.push_back({name_of(matrix), &matrix});
  for (const std::string& path : scope.inputs) subjects.push_back({path, nullptr, scope.input});
  return subjects;
}

// The time does not depend on values, but a pattern loads none, so all matrices have random values.
Result<formats::Csr> matrix_of(Session& session, const Subject& subject) {
  if (subject.generated != nullptr) return make(*subject.generated, session.seed);
  auto loaded = load_matrix(session, subject.name, subject.input.load(DType::f32));
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  loaded->csr.values = random_values(loaded->csr.view(), DType::f32, session.seed);
  return std::move(loaded->csr);
}

Result<std::unique_ptr<ProductBench>> open_bench(Session& session, runtime::Device device) {
  if (device == runtime::Device::cpu)
    return std::make_unique<HostBench>(session,
                                       HostBenchOptions{// one thread is disturbed least by other programs
                                                        .threads = std::max(session.common.threads, 1),
                                                        .check = CheckedRows::some,
                                                        .trusted = true,
                                                        .predict = false});
  // Launches in a graph: the host would be slower than short kernels.
  return make_device_bench(session, {.graph = true, .predict = false, .time_planning = false});
}

SamplingPlan plan_of(const CalibrationScope& scope, ProductBench& bench) {
  SamplingPlan plan;
  plan.bench = &bench;
  plan.operations = scope.operations;
  plan.kernels = scope.kernels;
  const bool cuda = scope.device == runtime::Device::cuda;
  plan.columns = {1, 8, 32, 128, 512};
  if (scope.quick) plan.columns = {cuda ? 32 : 8, 128};  // few columns are common on CPUs
  if (cuda) plan.more = {DType::f16};
  if (cuda || !scope.quick) plan.more.push_back(DType::f64);
  if (!cuda) plan.max_multiplications = kMaxOnCpu;
  plan.thresholds = cuda && !scope.quick;
  return plan;
}

Status measure_one(Session& session, const Subject& subject, const SamplingPlan& plan, Measurements& found) {
  const Stopwatch watch;
  const auto a = matrix_of(session, subject);
  if (!a) return tl::unexpected(a.error());
  if (Status s = sample_matrix(session, base_name(subject.name), a->view(), plan, found); !s) return s;
  advance(&session.progress, 1);
  session.detail(fmt::format("{}: {} entries, {}", subject.name, a->nnz(), human_seconds(watch.seconds())));
  return {};
}

// Measures the selectors of hc_window, which correspond to the thresholds of other formats.
Status measure_selectors(Session& session, const SamplingPlan& plan, Measurements& found) {
  const runtime::Kernel* const kernel =
      runtime::usual_product(formats::kHcWindowLayout.name, DType::f32).kernel;
  if (!plan.thresholds || kernel == nullptr || !plan.has(*kernel->op)) return {};
  if (!plan.kernels.empty() && !plan.names(kernel->name)) return {};
  auto samples = sample_selectors(session, {.bench = plan.bench,
                                            .kernel = kernel->name,
                                            .columns = {32, 64, 128, 256},
                                            .shapes = window_shapes(session.seed)});
  if (!samples) return tl::unexpected(samples.error());
  found.selectors = std::move(*samples);
  return {};
}

}  // namespace

Result<Measurements> measure(Session& session, const CalibrationScope& scope) {
  const auto bench = open_bench(session, scope.device);
  if (!bench) return tl::unexpected(bench.error());
  const SamplingPlan plan = plan_of(scope, **bench);
  const std::vector<Subject> subjects = subjects_of(scope);
  Measurements found;
  begin(&session.progress, "measure", std::ssize(subjects));
  for (const Subject& subject : subjects) {
    if (Status s = measure_one(session, subject, plan, found); !s)
      return tl::unexpected(std::move(s.error()));
    if (cancelled(&session.progress)) return fail(Errc::io, "cancelled");
  }
  if (Status s = measure_selectors(session, plan, found); !s) return tl::unexpected(s.error());
  return found;
}

}  // namespace sptile::tools
