// Times the steps before a program's first product on CUDA device 0, from a bundle in the page cache: CSV on
// stdout, medians in microseconds. One row per bundle and format, and one more if the bundle contains a
// stored plan for this N and device ('sptile plan BUNDLE --format FORMAT -n N').
//
//   start_up_bench ROUNDS N BUNDLE...
//
// `stored` states whether the plan was stored. `pinned` copies the bytes of the format from pinned memory:
// the lower bound. `open` maps the bundle; `check` is the single pass over its arrays; `schedule` divides the
// work on the host, or validates the stored schedule; `upload` copies the format to the device; `plan` is the
// time from the open bundle to a plan, with checks, schedule and upload, `trusted` the same without checks;
// `again` is a second plan of the same matrix, which shares the format; `first_run` is the first product,
// including pending work. `plan_ratio` is plan over pinned, `plan_ratio_less_100us` (plan - 100 us) over
// pinned. Kernels are loaded before timing.
#include <memory>

#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/choice/kernel_costs.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/upload_format.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/spmm.hpp"
#include "runtime/plan/stored.hpp"
#include "tools/bench/bench_device.hpp"

namespace {

using namespace sptile;
using runtime::Bundle;
using runtime::Matrix;
using tools::expect;
using tools::time_us;

struct Setting {
  int rounds = 5;
  std::int64_t n = 128;
};

double pinned_copy_us(std::size_t bytes, int rounds) {
  const tools::DeviceBytes device(bytes);
  void* host = nullptr;
  expect(cudaHostAlloc(&host, bytes, 0));
  const double us = time_us(rounds, [&] {
    cudaMemcpyAsync(device.get(), host, bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  });
  cudaFreeHost(host);
  return us;
}

double upload_us(const runtime::PlanMatrix& a, int rounds) {
  std::shared_ptr<runtime::cuda::DeviceFormat> on_device;
  const auto upload = [&] {
    runtime::cuda::Uploader uploader;
    on_device = expect(runtime::cuda::upload_format(a, false, 0, uploader));
    expect(uploader.finish());
  };
  return time_us(
      rounds, [&] { on_device.reset(); }, upload);
}

/// Returns the microseconds to divide the work or to restore the stored schedule.
double schedule_us(const runtime::PlanMatrix& a, const runtime::PlanOptions& options, int rounds) {
  const auto info = expect(runtime::cuda::find_device(0));
  const auto stored = runtime::find_stored(runtime::kSpmm, {&a, 1}, options, info);
  const auto chosen =
      stored
          ? stored->kernel
          : expect(runtime::choose_kernel(runtime::multiplicand_of(runtime::kSpmm, a.format), options, info));
  const auto& kernel = *chosen.instance;
  const auto costs = expect(runtime::find_kernel_costs(info, *chosen.kernel, kernel.precision));
  const runtime::cuda::ScheduleRequest request{a.format, options.n, info, costs};
  return time_us(rounds, [&] {
    if (stored)
      expect(kernel.store->restore(request, stored->plan->schedule));
    else
      static_cast<void>(kernel.schedule(request));
  });
}

/// Plans of one format of a bundle, and their first runs.
class Planned {
 public:
  Planned(std::shared_ptr<const Bundle> bundle, std::string_view format, const runtime::PlanOptions& options)
      : bundle_(std::move(bundle)),
        format_(format),
        options_(options),
        b_(static_cast<std::size_t>(bundle_->cols() * options.n) * sizeof(float)),
        c_(static_cast<std::size_t>(bundle_->rows() * options.n) * sizeof(float)) {
    renew(false);
    plan();  // loads the kernel
    run();
  }

  /// Drops the matrix and everything derived from it.
  void renew(bool trusted) {
    plan_.reset();
    matrix_ = Matrix::from_bundle(bundle_, {.trusted = trusted});
  }
  void plan() {
    plan_ = expect(runtime::plan_matrix(*matrix_, runtime::kSpmm, {.formats = format_}, options_));
  }
  void run() {
    expect(runtime::run(*plan_, runtime::SpmmOperands{b_.get(), options_.n, c_.get(), options_.n}));
    expect(cudaDeviceSynchronize());
  }
  [[nodiscard]] bool is_stored() const { return runtime::is_stored(*plan_); }
  [[nodiscard]] std::string kernel() const { return std::string(runtime::kernel_name(*plan_)); }
  [[nodiscard]] std::size_t bytes() const { return matrix_->memory().device; }

 private:
  std::shared_ptr<const Bundle> bundle_;
  std::string_view format_;
  runtime::PlanOptions options_;
  tools::DeviceBytes b_, c_;
  std::shared_ptr<Matrix> matrix_;
  std::shared_ptr<runtime::ProductPlan> plan_;
};

void measure(const std::string& path, const std::shared_ptr<const Bundle>& bundle,
             const formats::FormatView& view, const Setting& setting, bool with_stored) {
  const std::string_view format = view.layout->name;
  const runtime::PlanOptions options = {
      .n = setting.n, .device = runtime::Device::cuda, .stored = with_stored};
  Planned made(bundle, format, options);
  if (made.is_stored() != with_stored) return;
  const auto a = expect(runtime::matrix_of(bundle, format));
  const int rounds = setting.rounds;
  const std::size_t bytes = made.bytes();
  const double pinned = pinned_copy_us(bytes, rounds);
  const double open = time_us(rounds, [&] { expect(Bundle::open(path)); });
  const double check = time_us(rounds, [&] { expect(formats::check(view)); });
  const double schedule = schedule_us(a, options, rounds), upload = upload_us(a, rounds);
  const auto plan = [&] { made.plan(); };
  const double again = time_us(rounds, plan);
  const double checked = time_us(
      rounds, [&] { made.renew(false); }, plan);
  const double trusted = time_us(
      rounds, [&] { made.renew(true); }, plan);
  const auto plan_anew = [&] {
    made.renew(true);
    made.plan();
  };
  const double first_run = time_us(rounds, plan_anew, [&] { made.run(); });
  std::printf("%s,%s,%s,%s,%zu,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.2f,%.2f\n",
              tools::file_name(path).c_str(), with_stored ? "yes" : "no", std::string(format).c_str(),
              made.kernel().c_str(), bytes, pinned, open, check, schedule, upload, checked, trusted, again,
              first_run, checked / pinned, (checked - 100) / pinned);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Setting setting{argc > 3 ? std::atoi(argv[1]) : 0, argc > 3 ? std::atoll(argv[2]) : 0};
  if (setting.rounds < 1 || setting.n < 1) {
    std::fprintf(stderr, "usage: start_up_bench ROUNDS N BUNDLE...\n");
    return static_cast<int>(Errc::usage);
  }
  std::puts(
      "bundle,stored,format,kernel,bytes,pinned,open,check,schedule,upload,plan,trusted,again,first_run,"
      "plan_ratio,plan_ratio_less_100us");
  for (int i = 3; i < argc; ++i) {
    const auto bundle = expect(Bundle::open(argv[i]));
    for (const formats::FormatView& view : bundle->formats())
      for (const bool stored : {false, true}) measure(argv[i], bundle, view, setting, stored);
  }
  return 0;
}
