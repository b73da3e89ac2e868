#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <ctime>
#include <optional>

#include "formats/io/atomic_file.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/merge.hpp"
#include "tools/calibrate/profile_files.hpp"
#include "tools/calibrate/report.hpp"
#include "tools/calibrate/sampling.hpp"
#include "tools/calibrate/suite.hpp"
#include "tools/commands/commands.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/devices.hpp"
#include "tools/host_bench.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"
#include "tools/names.hpp"
#include "tools/operations.hpp"
#include "tools/output_name.hpp"
#include "tools/product_request.hpp"
#include "tools/random_operands.hpp"
#include "tools/stopwatch.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kAll = "all";  // operations

struct CalibrateOptions {
  std::vector<std::string> inputs;   // besides the suite
  std::vector<std::string> kernels;  // none: all
  std::string device = "cpu", op = kAll, into, out, samples;
  bool quick = false, force = false;
};

// A matrix to measure: one of the suite, or a file of the user's.
struct Subject {
  std::string name;
  const SuiteMatrix* generated = nullptr;  // null: the file of that name
};

std::vector<Subject> subjects_of(const CalibrateOptions& options) {
  std::vector<Subject> subjects;
  for (const SuiteMatrix& matrix : calibration_suite())
    if (matrix.quick || !options.quick) subjects.push_back({name_of(matrix), &matrix});
  for (const std::string& path : options.inputs) subjects.push_back({path});
  return subjects;
}

// Values do not matter to the time, but a pattern has none to fetch: all have random ones.
Result<formats::Csr> make(Session& session, const Subject& subject) {
  if (subject.generated != nullptr) return make(*subject.generated, session.common.seed);
  auto loaded = load_matrix(session, subject.name, {DType::f32, false, false});
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  loaded->csr.values = random_values(loaded->csr.view(), DType::f32, session.common.seed);
  return std::move(loaded->csr);
}

// Fewer than all kernels are measured.
bool is_partial(const CalibrateOptions& options) { return options.op != kAll || !options.kernels.empty(); }

// True when operations were not left out by name.
bool takes(const CalibrateOptions& options, const runtime::Operation& op) {
  return options.op == kAll || options.op == op.name;
}

// The operations that have something to measure.
std::vector<const runtime::Operation*> operations_of(const CalibrateOptions& options,
                                                     const SamplingPlan& plan) {
  std::vector<const runtime::Operation*> operations;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (takes(options, *kernel.op) && (plan.kernels.empty() || plan.names(kernel.name)) &&
        std::find(operations.begin(), operations.end(), kernel.op) == operations.end())
      operations.push_back(kernel.op);
  return operations;
}

Status check_kernels(const CalibrateOptions& options) {
  std::vector<std::string> known;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.device == device_named(options.device) && takes(options, *kernel.op))
      known.emplace_back(kernel.name);
  for (const std::string& name : options.kernels)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return tl::unexpected(unknown_name("kernel", name, known));
  return {};
}

Result<std::unique_ptr<ProductBench>> open_bench(Session& session, const CalibrateOptions& options) {
  if (device_named(options.device) == runtime::Device::cpu)
    return std::make_unique<HostBench>(
        session, HostBenchOptions{.check = CheckedRows::some, .trusted = true, .predict = false});
  return make_device_bench(session, {.predict = false, .time_planning = false});
}

Result<Measurements> measure_all(Session& session, const CalibrateOptions& options) {
  auto bench = open_bench(session, options);
  if (!bench) return tl::unexpected(bench.error());
  SamplingPlan plan;
  plan.bench = bench->get();
  plan.kernels = options.kernels;
  plan.operations = operations_of(options, plan);
  plan.columns = options.quick ? std::vector<std::int64_t>{32, 128} : std::vector<std::int64_t>{32, 128, 512};
  plan.half = plan.bench->kind() == runtime::Device::cuda;  // 16-bit types gain nothing on the CPU
  plan.thresholds = plan.half && !options.quick;
  const std::vector<Subject> subjects = subjects_of(options);
  Measurements found;
  begin(&session.progress, "measure", std::ssize(subjects));
  for (const Subject& subject : subjects) {
    const Stopwatch watch;
    const Result<formats::Csr> a = make(session, subject);
    if (!a) return tl::unexpected(a.error());
    if (Status s = sample_matrix(session, base_name(subject.name), a->view(), plan, found); !s)
      return tl::unexpected(s.error());
    advance(&session.progress, 1);
    session.detail(fmt::format("{}: {} entries, {}", subject.name, a->nnz(), human_seconds(watch.seconds())));
    if (cancelled(&session.progress)) return fail(Errc::io, "cancelled");
  }
  return found;
}

Status write_text(formats::AtomicFile& file, const std::string& text) {
  if (Status s = file.write(text); !s) return s;
  return file.commit();
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc)};
}

Result<runtime::ProfileDevice> describe_device(runtime::Device kind) {
  runtime::cuda::DeviceInfo device;
  if (kind == runtime::Device::cuda) {
    auto found = runtime::cuda::find_device(0);
    if (!found) return tl::unexpected(found.error());
    device = std::move(*found);
  }
  return runtime::profile_device(kind, device);
}

std::vector<std::string> new_comments(const CalibrateOptions& options, std::size_t samples,
                                      const ChoiceQuality& choice) {
  std::string what = "sptile calibrate";
  if (options.quick) what += " --quick";
  if (options.op != kAll) what += " --op " + options.op;
  if (!options.kernels.empty()) what += fmt::format(" --only {}", fmt::join(options.kernels, ","));
  std::vector<std::string> comments = profile_comments(options.into);
  comments.push_back(fmt::format("{}, {}: {} measurements", what, today(), samples));
  if (choice.cases > 0)
    comments.push_back(fmt::format("choice within 10% of the best in {:.0f}% of {} cases",
                                   100 * choice.within_10, choice.cases));
  return comments;
}

// All that measurements say.
std::vector<runtime::ProfileNumber> fit_all(const Measurements& measured) {
  std::vector<runtime::ProfileNumber> numbers = fit_costs(measured.samples);
  for (const auto& more :
       {partition_costs(numbers), fit_thresholds(measured.thresholds), fit_occupancy(measured.occupancy)})
    numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

Status check_names(const CalibrateOptions& options) {
  ProductRequest request;
  request.device = options.device;
  if (const Status s = check_request(request); !s) return s;
  if (const Status s = check_kernels(options); !s) return s;
  if (const Status s = check_output_name(options.out, FileKind::profile); !s) return s;
  if (const Status s = check_output_name(options.samples, FileKind::csv); !s) return s;
  for (const std::string& path : options.inputs)
    if (const Status s = probe_matrix(path, false); !s) return s;
  return {};
}

// Made before anything that takes long.
struct Outputs {
  formats::AtomicFile profile;
  std::optional<formats::AtomicFile> samples;
};

Result<Outputs> create_outputs(const CalibrateOptions& options, const std::string& path) {
  const bool force = options.force || options.out.empty();  // a profile of one's own is renewed
  auto profile = formats::AtomicFile::create(path, force);
  if (!profile) return tl::unexpected(profile.error());
  Outputs outputs{std::move(*profile), std::nullopt};
  if (options.samples.empty()) return outputs;
  auto samples = formats::AtomicFile::create(options.samples, options.force);
  if (!samples) return tl::unexpected(samples.error());
  outputs.samples = std::move(*samples);
  return outputs;
}

// The constants that are kept: what was known, and what was measured.
runtime::DeviceProfile new_profile(const CalibrateOptions& options, const runtime::DeviceProfile& known,
                                   const runtime::ProfileDevice& device, const Measurements& measured) {
  const bool renews_all = !is_partial(options) && options.into.empty();
  return {device, merge_numbers(known.numbers, fit_all(measured), renews_all), {}};
}

void report(const Session& session, const CalibrateOptions& options, const std::string& path,
            const runtime::DeviceProfile& profile, std::span<const Sample> samples, double seconds) {
  const auto fits = fit_quality(profile, samples);
  const ChoiceQuality choice = choice_quality(profile, samples);
  Json json = new_result(session);
  json.update({{"device", options.device}, {"name", profile.device.name}, {"output", path}});
  json.update({{"quick", options.quick}, {"measurements", samples.size()}, {"seconds", seconds}});
  json.update(quality_json(fits, choice));
  print_result(session, json,
               quality_text(fits, choice) +
                   fmt::format("{}: {} measurements in {}\n", path, samples.size(), human_seconds(seconds)));
}

Status run_calibrate(Session& session, const CalibrateOptions& options) {
  if (const Status s = check_names(options); !s) return s;
  const auto device = describe_device(device_named(options.device));
  if (!device) return tl::unexpected(device.error());
  const auto path = profile_path(options.into, options.out, *device);
  if (!path) return tl::unexpected(path.error());
  const auto known = known_profile(options.into, *device);
  if (!known) return tl::unexpected(known.error());
  auto outputs = create_outputs(options, *path);
  if (!outputs) return tl::unexpected(outputs.error());
  const Stopwatch watch;
  const auto measured = measure_all(session, options);
  if (!measured) return tl::unexpected(measured.error());
  const std::span<const Sample> samples = measured->samples;
  if (outputs->samples)
    if (const Status s = write_text(*outputs->samples, samples_csv(samples)); !s) return s;
  const runtime::DeviceProfile profile = new_profile(options, *known, *device, *measured);
  const auto comments = new_comments(options, samples.size(), choice_quality(profile, samples));
  if (const Status s = write_text(outputs->profile, runtime::format_profile(profile, comments)); !s) return s;
  report(session, options, *path, profile, samples, watch.seconds());
  return {};
}

Action declare_calibrate(Options& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option("IN", options->inputs, "matrices of your own, measured besides generated ones");
  app.add_option("--device", options->device, "what to measure ('sptile list devices')");
  app.add_flag("--quick", options->quick, "fewer and smaller matrices: under a minute, rougher predictions");
  std::vector<std::string> operations = operation_names();
  operations.emplace_back(kAll);
  app.add_option("--op", options->op, "operation to measure").one_of(operations);
  app.add_option("--only", options->kernels, "kernels to measure, with commas ('sptile list kernels')")
      .default_text("all that plans choose from");
  app.add_option("--into", options->into,
                 "profile of this device to put what is measured into; its other numbers stay")
      .default_text("the one in use, where not all is measured");
  app.add_option("-o,--output", options->out, "profile to write")
      .default_text("that of --into, else the user's own, where plans look for it");
  app.add_option("--samples", options->samples, "CSV file for the measurements and the counted features")
      .default_text("none");
  app.add_force(options->force);
  return [options](Session& session) { return run_calibrate(session, *options); };
}
}  // namespace

const Verb kCalibrate = {"calibrate", "measure this machine, so that --format auto chooses well",
                         "  sptile calibrate --device cuda\n"
                         "  sptile calibrate --device cuda --op sddmm --into gpu.tsv",
                         declare_calibrate};

}  // namespace sptile::tools
