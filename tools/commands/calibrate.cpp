#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <optional>

#include "formats/io/atomic_file.hpp"
#include "runtime/choice/profiles.hpp"
#include "runtime/cuda/backend.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/sampling.hpp"
#include "tools/calibrate/suite.hpp"
#include "tools/commands/commands.hpp"
#include "tools/cuda/device_bench.hpp"
#include "tools/devices.hpp"
#include "tools/input.hpp"
#include "tools/measure.hpp"
#include "tools/random_operands.hpp"
#include "tools/result.hpp"
#include "tools/stopwatch.hpp"
#include "tools/table.hpp"
#include "tools/units.hpp"

namespace sptile::tools {
namespace {

struct CalibrateOptions {
  std::vector<std::string> inputs;  // besides the suite
  std::string device = "cpu", out, samples;
  bool quick = false, force = false;
};

// The columns of --samples, before the features.
constexpr const char* kSampleColumns = "matrix,dense,format,kernel,precision,n,us";

std::string samples_csv(std::span<const Sample> samples) {
  std::string text = kSampleColumns;
  for (const runtime::FeatureInfo& feature : runtime::kFeatures) text += fmt::format(",{}", feature.name);
  text += '\n';
  for (const Sample& s : samples) {
    text += fmt::format("{},{},{},{},{},{},{:.3f}", s.matrix, s.dense, s.format, s.kernel, s.precision, s.n,
                        s.us);
    for (const double feature : s.features) text += fmt::format(",{:.9g}", feature);
    text += '\n';
  }
  return text;
}

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

Result<Measurements> measure_all(Session& session, const CalibrateOptions& options) {
  SamplingPlan plan;
  std::unique_ptr<DeviceBench> bench;
  if (device_named(options.device) == runtime::Device::cuda) {
    auto opened = open_device_bench({.predict = false, .seed = session.common.seed});
    if (!opened) return tl::unexpected(opened.error());
    bench = std::move(*opened);
  }
  plan.bench = bench.get();
  plan.columns = options.quick ? std::vector<std::int64_t>{32, 128} : std::vector<std::int64_t>{32, 128, 512};
  plan.thresholds = bench != nullptr && !options.quick;
  plan.half = bench != nullptr;  // 16-bit types gain nothing on the CPU
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
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file.fd(), text.data() + done, text.size() - done);
    if (wrote < 0) return fail(Errc::io, "writing failed", file.temporary_path());
    done += static_cast<std::size_t>(wrote);
  }
  return file.commit();
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc)};
}

std::string quality_text(const std::vector<FitQuality>& fits, const ChoiceQuality& choice) {
  std::vector<std::vector<std::string>> table = {
      {"kernel", "products", "samples", "median error", "predicted / measured"}};
  for (const FitQuality& fit : fits)
    table.push_back({fit.kernel, fit.precision, std::to_string(fit.samples),
                     fmt::format("{:.0f}%", 100 * fit.median_error),
                     fmt::format("{:.2f} to {:.2f}", fit.lowest, fit.highest)});
  std::string text = format_table(table, "llrrr");
  text += fmt::format(
      "choice: within 5% of the best in {:.0f}% of {} cases, within 10% in {:.0f}%, {:.1f}% slower on "
      "average\n",
      100 * choice.within_5, choice.cases, 100 * choice.within_10, 100 * (choice.mean_regret - 1));
  if (!choice.worst_case.empty())
    text += fmt::format("worst: {:.2f} times the best ({})\n", choice.worst_regret, choice.worst_case);
  return text;
}

Json quality_json(const std::vector<FitQuality>& fits, const ChoiceQuality& choice) {
  Json json;
  json["fits"] = Json::array();
  for (const FitQuality& fit : fits)
    json["fits"].push_back({{"kernel", fit.kernel},
                            {"precision", fit.precision},
                            {"samples", fit.samples},
                            {"median_error", fit.median_error},
                            {"lowest_ratio", fit.lowest},
                            {"highest_ratio", fit.highest}});
  json["choice"] = {{"cases", choice.cases},
                    {"within_5_percent", choice.within_5},
                    {"within_10_percent", choice.within_10},
                    {"mean_regret", choice.mean_regret},
                    {"worst_regret", choice.worst_regret},
                    {"worst_case", choice.worst_case}};
  return json;
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

// The default output: the folder where plans look for it.
Result<std::string> profile_path(const CalibrateOptions& options, const runtime::ProfileDevice& device) {
  if (!options.out.empty()) return options.out;
  const std::string folder = runtime::profile_folder();
  if (folder.empty())
    return fail(Errc::usage, "no folder for profiles: set XDG_CONFIG_HOME or HOME, or name a file with -o");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot be made: {}", error.message()), folder);
  return folder + "/" + runtime::profile_file_name(device);
}

// Takes over what the profile used until now has beside costs: constants of the kernels themselves. A profile
// that cannot be read has none.
void keep_other_numbers(runtime::DeviceProfile& profile) {
  const auto known = runtime::find_profile(profile.device);
  if (!known || !*known || (*known)->device.name != profile.device.name) return;
  const auto is_new = [&](const runtime::ProfileNumber& number) {
    return std::none_of(profile.numbers.begin(), profile.numbers.end(), [&](const auto& n) {
      return n.kernel == number.kernel && n.precision == number.precision && n.name == number.name;
    });
  };
  for (const runtime::ProfileNumber& number : (*known)->numbers)
    if (!runtime::is_feature(number.name) && is_new(number)) profile.numbers.push_back(number);
}

Status run_calibrate(Session& session, const CalibrateOptions& options) {
  ProductRequest request;
  request.device = options.device;
  if (const Status s = check_request(request); !s) return s;
  const auto device = describe_device(device_named(options.device));
  if (!device) return tl::unexpected(device.error());
  const auto path = profile_path(options, *device);
  if (!path) return tl::unexpected(path.error());
  const bool force = options.force || options.out.empty();  // the user's own profile is renewed
  auto file = formats::AtomicFile::create(*path, force);    // before anything that takes long
  if (!file) return tl::unexpected(file.error());
  std::optional<formats::AtomicFile> samples_file;
  if (!options.samples.empty()) {
    auto created = formats::AtomicFile::create(options.samples, options.force);
    if (!created) return tl::unexpected(created.error());
    samples_file = std::move(*created);
  }
  const Stopwatch watch;
  const auto measured = measure_all(session, options);
  if (!measured) return tl::unexpected(measured.error());
  const std::vector<Sample>* const samples = &measured->samples;
  if (samples_file)
    if (const Status s = write_text(*samples_file, samples_csv(*samples)); !s) return s;
  runtime::DeviceProfile profile;
  profile.device = *device;
  profile.numbers = fit_costs(*samples);
  for (runtime::ProfileNumber& number : partition_costs(profile.numbers))
    profile.numbers.push_back(std::move(number));
  for (runtime::ProfileNumber& number : fit_thresholds(measured->thresholds))
    profile.numbers.push_back(std::move(number));
  keep_other_numbers(profile);
  const auto fits = fit_quality(profile, *samples);
  const ChoiceQuality choice = choice_quality(profile, *samples);
  const std::string comments[] = {fmt::format("sptile calibrate{}, {}: {} measurements",
                                              options.quick ? " --quick" : "", today(), samples->size()),
                                  fmt::format("choice within 10% of the best in {:.0f}% of {} cases",
                                              100 * choice.within_10, choice.cases)};
  if (const Status s = write_text(*file, runtime::format_profile(profile, comments)); !s) return s;
  Json json = new_result(session);
  json.update({{"device", options.device}, {"name", device->name}, {"output", *path}});
  json.update({{"quick", options.quick}, {"measurements", samples->size()}, {"seconds", watch.seconds()}});
  json.update(quality_json(fits, choice));
  print_result(session, json,
               quality_text(fits, choice) + fmt::format("{}: {} measurements in {}\n", *path, samples->size(),
                                                        human_seconds(watch.seconds())));
  return {};
}

Action declare_calibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option("IN", options->inputs, "matrices of your own, measured besides generated ones");
  app.add_option("--device", options->device, "what to measure ('sptile list devices')");
  app.add_flag("--quick", options->quick, "fewer and smaller matrices: under a minute, rougher predictions");
  app.add_option("-o,--output", options->out, "profile to write")
      ->default_str("the user's own, where plans look for it");
  app.add_option("--samples", options->samples, "CSV file for the measurements and the counted features")
      ->default_str("none");
  declare_force(app, options->force);
  return [options](Session& session) { return run_calibrate(session, *options); };
}
}  // namespace

const Verb kCalibrate = {"calibrate", "measure this machine, so that --format auto chooses well",
                         "  sptile calibrate --device cuda", declare_calibrate};

}  // namespace sptile::tools
