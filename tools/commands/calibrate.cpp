#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/kernels/kernels.hpp"
#include "tools/calibrate/files.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/linear_cost.hpp"
#include "tools/calibrate/measure.hpp"
#include "tools/calibrate/merge.hpp"
#include "tools/calibrate/report.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/measure/operations.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kAll = "all";  // operations

// Options as typed.
struct CalibrateOptions {
  std::vector<std::string> inputs;   // in addition to the suite, if there is one
  std::vector<std::string> kernels;  // empty: all
  std::string device = "cpu", op = kAll;
  InputOptions input;
  bool quick = false, no_suite = false;
  CalibrationPaths files;
};

// Resolved options.
struct CalibrateTask {
  CalibrationScope scope;
  runtime::ProfileDevice device;
  CalibrationFiles files;
};

// Result of a calibration.
struct Calibration {
  runtime::DeviceProfile profile;
  std::vector<FitQuality> fits;
  ChoiceQuality choice;
  std::vector<SelectorFit> selectors;
  std::vector<LinearCost> linear_costs;
  std::size_t samples = 0;
  double seconds = 0;
};

// Returns whether the options include a kernel's operation.
bool takes(const CalibrateOptions& options, const runtime::Kernel& kernel) {
  return kernel.op->standalone && (options.op == kAll || options.op == kernel.op->name);
}

// Returns the names of the selectable kernels.
std::vector<std::string> known_kernels(const CalibrateOptions& options, runtime::Device device) {
  std::vector<std::string> known;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (kernel.device == device && takes(options, kernel)) known.emplace_back(kernel.name);
  return known;
}

// Returns the operations that can be measured.
std::vector<const runtime::Operation*> operations_of(const CalibrateOptions& options) {
  std::vector<const runtime::Operation*> operations;
  const std::vector<std::string>& named = options.kernels;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (takes(options, kernel) && (named.empty() || std::ranges::count(named, kernel.name) > 0) &&
        std::ranges::count(operations, kernel.op) == 0)
      operations.push_back(kernel.op);
  return operations;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc)};
}

// Returns the first device of the kind.
Result<runtime::ProfileDevice> describe_device(runtime::Device kind) {
  runtime::cuda::DeviceInfo device;
  if (kind == runtime::Device::cuda) {
    auto found = runtime::cuda::find_device(0);
    if (!found) return tl::unexpected(found.error());
    device = std::move(*found);
  }
  return runtime::profile_device(kind, device);
}

Result<CalibrationScope> resolve_scope(const CalibrateOptions& options, runtime::Device device) {
  const CalibrationScope scope = {device,        operations_of(options), options.kernels,  options.inputs,
                                  options.input, options.quick,          !options.no_suite};
  const std::vector<std::string> known = known_kernels(options, device);
  for (const std::string& name : scope.kernels)
    if (const auto at = find_name("kernel", name, known); !at) return tl::unexpected(at.error());
  return scope;
}

Result<CalibrateTask> resolve(const CalibrateOptions& options) {
  const auto at = find_name("device", options.device, names_of(devices()));
  if (!at) return tl::unexpected(at.error());
  const DeviceRow& row = devices()[*at];
  if (Status s = check_usable(row); !s) return tl::unexpected(s.error());
  if (options.no_suite && options.inputs.empty())
    return fail(Errc::usage, "--no-suite requires matrices to measure, for example a.mtx");
  auto scope = resolve_scope(options, row.device);
  if (!scope) return tl::unexpected(scope.error());
  const CalibrationPaths& paths = options.files;
  if (Status s = check_output_name(paths.out, FileKind::profile); !s) return tl::unexpected(s.error());
  if (Status s = check_output_name(paths.samples, FileKind::csv); !s) return tl::unexpected(s.error());
  for (const std::string& path : options.inputs)
    if (Status s = probe_matrix(path, options.input.load(DType::f32)); !s) return tl::unexpected(s.error());
  auto device = describe_device(row.device);
  if (!device) return tl::unexpected(device.error());
  auto files = open_files(paths, *device);
  if (!files) return tl::unexpected(files.error());
  return CalibrateTask{std::move(*scope), std::move(*device), std::move(*files)};
}

std::string typed_text(const CalibrateOptions& options) {
  std::string text = "sptile calibrate";
  if (options.quick) text += " --quick";
  if (options.no_suite) text += " --no-suite";
  if (options.op != kAll) text += " --op " + options.op;
  if (!options.kernels.empty()) text += fmt::format(" --only {}", fmt::join(options.kernels, ","));
  return text;
}

std::vector<std::string> new_comments(const CalibrateOptions& options, std::vector<std::string> comments,
                                      const Calibration& found) {
  comments.push_back(fmt::format("{}, {}: {} measurements", typed_text(options), today(), found.samples));
  if (found.choice.cases > 0)
    comments.push_back(fmt::format("predicted format within 10 % of the best in {:.0f} % of {} cases",
                                   100 * found.choice.within_10, found.choice.cases));
  for (const SelectorFit& fit : found.selectors) comments.push_back(selector_text(fit));
  return comments;
}

// Returns all fitted constants.
std::vector<runtime::ProfileNumber> fit_all(const Measurements& measured,
                                            std::span<const SelectorFit> selectors,
                                            std::span<const LinearCost> linear_costs) {
  std::vector<runtime::ProfileNumber> numbers = fit_costs(measured.samples);
  for (const auto& more : {division_costs(numbers, linear_costs), fit_thresholds(measured.thresholds),
                           fit_occupancy(measured.occupancy), selector_numbers(selectors)})
    numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

// Returns the names of the kernels that divide their work by the linear cost model.
std::vector<std::string_view> linear_kernels() {
  std::vector<std::string_view> names;
  for (const runtime::Kernel& kernel : runtime::kernels())
    if (std::ranges::count(kernel.costs, "window_cost") > 0) names.push_back(kernel.name);
  return names;
}

// Combines known constants with those fitted from measurements, and evaluates them.
Calibration fit(const Measurements& measured, std::span<const runtime::ProfileNumber> known,
                const runtime::ProfileDevice& device, bool renews_all) {
  std::vector<SelectorFit> selectors = fit_selectors(measured.selectors);
  std::vector<LinearCost> linear_costs = fit_linear_costs(measured.samples, linear_kernels());
  const runtime::DeviceProfile profile = {
      device, merge_numbers(known, fit_all(measured, selectors, linear_costs), renews_all), {}};
  return {profile,
          fit_quality(profile, measured.samples),
          choice_quality(profile, measured.samples),
          std::move(selectors),
          std::move(linear_costs),
          measured.samples.size()};
}

// Returns whether constants that were not measured are dropped.
bool renews_all(const CalibrateOptions& options) {
  return options.op == kAll && options.kernels.empty() && options.files.into.empty();
}

void report(const Session& session, const CalibrateOptions& options, const std::string& path,
            const Calibration& found) {
  Json json = new_result(session);
  json.update({{"device", options.device}, {"name", found.profile.device.name}, {"output", path}});
  json.update({{"quick", options.quick}, {"measurements", found.samples}, {"seconds", found.seconds}});
  json.update(quality_json(found.fits, found.choice));
  json["selectors"] = selectors_json(found.selectors);
  json["linear_costs"] = linear_costs_json(found.linear_costs);
  std::string table = quality_text(found.fits, found.choice);
  for (const SelectorFit& fit : found.selectors) table += selector_text(fit) + "\n";
  for (const LinearCost& fit : found.linear_costs) table += linear_cost_text(fit) + "\n";
  print_result(
      session, json,
      fmt::format("{}{}: {} measurements in {}\n", table, path, found.samples, human_seconds(found.seconds)));
}

Status run_calibrate(Session& session, const CalibrateOptions& options) {
  auto task = resolve(options);
  if (!task) return tl::unexpected(task.error());
  CalibrationFiles& files = task->files;
  const Stopwatch watch;
  const auto measured = measure(session, task->scope);
  if (!measured) return tl::unexpected(measured.error());
  Calibration found = fit(*measured, files.known.numbers, task->device, renews_all(options));
  const std::string text =
      runtime::format_profile(found.profile, new_comments(options, files.comments, found));
  if (Status s = files.write(text, samples_csv(measured->samples)); !s) return s;
  found.seconds = watch.seconds();
  report(session, options, files.path, found);
  return {};
}

Action declare_calibrate(Options& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option("IN", options->inputs, "Matrices to measure in addition to the generated ones")
      .details(matrix_details());
  app.add_option("--device DEVICE", options->device, "Device to measure")
      .names("device", names_of(devices()))
      .details("See `sptile list devices`.");
  app.add_flag("--quick", options->quick, "Measure fewer and smaller matrices; takes less than a minute")
      .details("Predictions are less accurate.");
  app.add_flag("--no-suite", options->no_suite, "Measure only the given matrices");
  std::vector<std::string> operations;
  for (const runtime::Operation* op : runtime::operations())
    if (op->standalone) operations.emplace_back(op->name);
  operations.emplace_back(kAll);
  app.add_option("--op OP", options->op, "Operation to measure").one_of(operations);
  app.add_option("--only LIST", options->kernels, "Kernels to measure, separated by commas")
      .offer(names_of(runtime::kernels()))
      .default_text("all that plans choose from")
      .details("See `sptile list kernels`.");
  app.add_option("--into FILE", options->files.into, "Profile of this device to update")
      .default_text("the active profile if only a part is measured")
      .details("Constants that are not measured remain.");
  app.add_option("-o,--output FILE", options->files.out, "Profile to write")
      .default_text("file of --into, else the user's profile of this device");
  app.add_option("--samples FILE", options->files.samples, "CSV file for the measurements and their features")
      .default_text("none");
  declare_input(app, options->input);
  app.add_force(options->files.force);
  return [options](Session& session) { return run_calibrate(session, *options); };
}
}  // namespace

const Verb kCalibrate = {
    .name = "calibrate",
    .summary = "Fit the cost model of a device for --format auto",
    .details =
        "Measures the kernels of a device on generated matrices and the given ones, with N = 1 to 512; CUDA "
        "kernels are launched in graphs. "
        "Compares every result with the reference, fits the cost model and writes its constants to a "
        "profile. "
        "This takes several minutes on an otherwise idle machine.",
    .json_keys =
        "`device`, `name`, `output`, `measurements`, `seconds`, `fits[]`, `choice`, `selectors[]`, "
        "`linear_costs[]`.\n"
        "`choice` has the number of cases in which the predicted format is within 5 % and 10 % of the "
        "fastest. "
        "`selectors` has the rules fitted for hc_window and their accuracy on held-out windows. "
        "`linear_costs` has the time per tile, window and launch of cuda.bmat.bulk, and the R2 of the fit.",
    .example =
        "  sptile calibrate --device cuda\n"
        "  sptile calibrate --device cuda --op sddmm --into gpu.tsv",
    .declare = declare_calibrate};

}  // namespace sptile::tools
