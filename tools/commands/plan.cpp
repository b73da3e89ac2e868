#include <fmt/format.h>

#include <algorithm>

#include "formats/io/hdf5/bundle_writer.hpp"
#include "runtime/bundle/bundle.hpp"
#include "runtime/choice/kernel_costs.hpp"
#include "runtime/plan/choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/measure/operations.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/devices.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/stopwatch.hpp"
#include "tools/pipeline/units.hpp"
#include "tools/stats/stored_plans.hpp"

namespace sptile::tools {
namespace {

struct PlanVerbOptions {
  std::string bundle, format = "auto";
  std::vector<std::int64_t> n = {128};
  bool force = false;
  ProductRequest request;
};

// A new plan, and the stored plan that it replaces.
struct NewPlan {
  runtime::PlanToStore plan;
  std::string replaces;  // group in the bundle; empty: none
};

runtime::PlanOptions plan_options(const Session& session, const PlanVerbOptions& options,
                                  runtime::Device device, DType values, std::int64_t n) {
  runtime::PlanOptions plan;
  plan.n = n;
  const runtime::DenseTypes dense = dense_types(options.request.dense, options.request.result, values);
  plan.dense = dense.operands;
  plan.result = dense.result;
  plan.device = device;
  plan.kernel = options.request.kernel;
  plan.threads = session.common.threads;
  plan.precision = precision_named(options.request.precision);
  plan.choice = options.request.choice();
  plan.stored = false;
  return plan;
}

// Chooses as `run` would, then divides the work again, because a CUDA plan no longer has its schedule on the
// host.
Result<runtime::PlanToStore> make_plan(const runtime::Operation& op,
                                       std::span<const runtime::PlanMatrix> matrices,
                                       runtime::PlanOptions options) {
  const auto chosen = runtime::choose_plan(op, matrices, options);
  if (!chosen) return tl::unexpected(chosen.error());
  const runtime::ProductPlan& plan = *chosen->plan;
  options.kernel = runtime::kernel_name(plan);
  const auto& a = *std::ranges::find_if(
      matrices, [&](const runtime::PlanMatrix& m) { return m.format.layout == plan.matrix.format.layout; });
  const auto device = runtime::check_options(options);
  if (!device) return tl::unexpected(device.error());
  const auto kernel = runtime::choose_kernel(runtime::multiplicand_of(op, a.format), options, *device);
  if (!kernel) return tl::unexpected(kernel.error());
  const auto costs = runtime::find_kernel_costs(*device, *kernel->kernel, plan.precision);
  if (!costs) return tl::unexpected(costs.error());
  return runtime::plan_to_store(op, a, *kernel, options, *device, *costs);
}

// Returns the group of the stored plan with the same key; empty if there is none.
Result<std::string> replaced_by(const runtime::PlanToStore& plan, const runtime::Bundle& bundle,
                                const PlanVerbOptions& options) {
  for (const runtime::StoredPlan& old : bundle.plans()) {
    if (old.key != plan.key) continue;
    if (options.force) return std::string(old.name);
    return fail(Errc::usage,
                fmt::format("{} already contains this plan ({}, N = {}, {}); --force replaces it", old.name,
                            old.field("kernel"), old.field("n"), old.field("dense")),
                options.bundle);
  }
  return std::string();
}

Result<std::vector<NewPlan>> make_plans(Session& session, const PlanVerbOptions& options,
                                        runtime::Device device, const runtime::Bundle& bundle,
                                        std::span<const runtime::PlanMatrix> matrices) {
  const runtime::Operation& op = operation_named(options.request.op);
  const DType values = matrices.front().format.value_dtype();
  std::vector<NewPlan> made;
  begin(&session.progress, "plan", static_cast<std::int64_t>(options.n.size()));
  for (const std::int64_t n : options.n) {
    auto plan = make_plan(op, matrices, plan_options(session, options, device, values, n));
    if (!plan) return tl::unexpected(plan.error());
    auto replaces = replaced_by(*plan, bundle, options);
    if (!replaces) return tl::unexpected(replaces.error());
    made.push_back({std::move(*plan), std::move(*replaces)});
    advance(&session.progress, 1);
  }
  return made;
}

// Writes to the open bundle that the plans belong to, even if its path now refers to another file.
Result<std::uint64_t> store(Session& session, const runtime::Bundle& bundle, const std::string& path,
                            const std::vector<NewPlan>& plans) {
  auto writer = formats::BundleWriter::extend(bundle.descriptor(), path, &session.progress);
  if (!writer) return tl::unexpected(writer.error());
  Status s{};
  for (const NewPlan& made : plans) {
    if (s && !made.replaces.empty()) s = writer->remove_plan(made.replaces);
    if (s) s = writer->add_plan(made.plan.key, made.plan.numbers, made.plan.schedule);
  }
  if (!s) return tl::unexpected(s.error());
  return writer->commit();
}

// Returns the plans as the bundle will present them.
std::vector<runtime::StoredPlan> views_of(const std::vector<NewPlan>& plans) {
  std::vector<runtime::StoredPlan> views;
  for (const NewPlan& made : plans)
    views.push_back(
        {.name = made.replaces, .key = made.plan.key, .schedule = {made.plan.numbers, made.plan.schedule}});
  return views;
}

// Returns the device if none is given: that of a named kernel, otherwise CUDA if usable.
std::string_view default_device(const ProductRequest& request) {
  const auto kernels = runtime::kernels();
  const auto named = std::ranges::find(kernels, request.kernel, &runtime::Kernel::name);
  if (named != kernels.end()) return name_of(named->device);
  return std::find_if(devices().rbegin(), devices().rend(), device_available)->name;
}

Result<runtime::Device> device_for(ProductRequest request) {
  if (request.device.empty()) request.device = default_device(request);
  return resolve_device(request);
}

Status run_plan(Session& session, PlanVerbOptions options) {
  if (Status s = check_transposable(options.request); !s) return s;
  const auto device = device_for(options.request);
  if (!device) return tl::unexpected(device.error());
  std::sort(options.n.begin(), options.n.end());
  options.n.erase(std::unique(options.n.begin(), options.n.end()), options.n.end());
  const auto bundle = open_bundle(session, options.bundle, KeepOpen::yes);
  if (!bundle) return tl::unexpected(bundle.error());
  const auto matrices = held_matrices(*bundle, options.bundle, options.format, options.request.side());
  if (!matrices) return tl::unexpected(matrices.error());
  const Stopwatch watch;
  const auto made = make_plans(session, options, *device, **bundle, *matrices);
  if (!made) return tl::unexpected(made.error());
  const double seconds = watch.seconds();
  const auto bytes = store(session, **bundle, options.bundle, *made);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::vector<runtime::StoredPlan> views = views_of(*made);
  Json json = new_result(session);
  json.update({{"bundle", options.bundle}, {"file_bytes", *bytes}, {"seconds", seconds}});
  json["plans"] = Json::array();
  for (const runtime::StoredPlan& view : views)
    json["plans"].emplace_back(to_json(view))["replaced"] = !view.name.empty();
  print_result(session, json,
               plans_text(views) +
                   fmt::format("stored in {}, planned in {}\n", options.bundle, human_seconds(seconds)));
  return {};
}

Action declare_plan(Options& app) {
  auto options = std::make_shared<PlanVerbOptions>();
  options->request.device.clear();
  app.add_option("BUNDLE", options->bundle, "Bundle to plan for; the plans are stored in it").required();
  app.add_option("--format LIST", options->format, "Stored formats to choose from, separated by commas")
      .names("format", names_with("auto", format_names()));
  declare_choose(app, options->request);
  declare_columns(app, options->n);
  declare_side(app, options->request);
  declare_product(app, options->request);
  app.get_option("--device").default_text("that of --kernel, else cuda if a GPU is usable, else cpu");
  app.add_flag("--force", options->force, "Replace stored plans with the same key");
  return [options](Session& session) { return run_plan(session, *options); };
}
}  // namespace

const Verb kPlan = {
    .name = "plan",
    .summary = "Plan multiplications and store the plans in the bundle",
    .details =
        "Programs that plan the same multiplication load the stored plan: on a CUDA device with the same "
        "compute capability, multiprocessors, L2 cache and shared memory, or on a CPU that has the "
        "kernel's instructions, with the same number of threads (`--threads`). CUDA plans are stored for "
        "`spmm` and `sddmm` only. The bundle is replaced by a copy with the plans; all other contents keep "
        "their positions. An existing plan with the same key is an error (exit code 2) without `--force`. "
        "With `--device cuda` and no CUDA device, the exit code is 6.",
    .json_keys = "`plans[]` (`op`, `format`, `kernel`, `n`, `dtype`, `device`, `replaced`), `file_bytes`.",
    .example = "  sptile plan matrix.h5 --op spmm -n 128 --choose measured",
    .declare = declare_plan};

}  // namespace sptile::tools
