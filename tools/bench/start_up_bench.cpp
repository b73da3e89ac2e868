// Times what a program waits for before its first product on CUDA device 0, from a bundle whose pages are in
// memory: CSV on stdout, one row per bundle and format, medians in microseconds.
//   start_up_bench ROUNDS N BUNDLE...
// `pinned` copies the bytes that the format takes on the device from pinned memory: the floor. `open` maps
// the bundle; `check` is the one pass over its arrays; `schedule` divides the work, on the host; `plan` is
// everything from the open bundle to a plan, with checks, schedule and upload, `trusted` the same without
// checks; `again` is a second plan of the same matrix, which shares the format; `first_run` is the first
// product, with what waits for it. Kernels are loaded before.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/spmm.hpp"
#include "tools/stopwatch.hpp"

namespace {

using namespace sptile;
using runtime::Bundle;
using runtime::Matrix;

struct Setting {
  int rounds = 5;
  std::int64_t n = 128;
};

void expect(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "start_up_bench: %s\n", what.c_str());
  std::exit(1);
}

template <class T>
T expect(Result<T> result) {
  if (!result) expect(false, result.error().text());
  return std::move(*result);
}

/// Median microseconds of f, which may do something untimed first.
double time_us(int rounds, const std::function<void()>& prepare, const std::function<void()>& f) {
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i) {
    prepare();
    cudaDeviceSynchronize();
    const tools::Stopwatch watch;
    f();
    us.push_back(1e6 * watch.seconds());
  }
  std::nth_element(us.begin(), us.begin() + rounds / 2, us.end());
  return us[static_cast<std::size_t>(rounds / 2)];
}

void nothing() {}

double pinned_copy_us(std::size_t bytes, int rounds) {
  void *host = nullptr, *device = nullptr;
  expect(cudaHostAlloc(&host, bytes, 0) == cudaSuccess && cudaMalloc(&device, bytes) == cudaSuccess,
         "no memory to copy");
  const double us = time_us(rounds, nothing, [&] {
    cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  });
  cudaFreeHost(host);
  cudaFree(device);
  return us;
}

/// Operands in device memory.
struct Operands {
  void *b = nullptr, *c = nullptr;

  Operands(const Bundle& bundle, std::int64_t n) {
    const auto bytes = [&](std::int64_t rows) { return static_cast<std::size_t>(rows * n) * sizeof(float); };
    expect(cudaMalloc(&b, bytes(bundle.cols())) == cudaSuccess &&
               cudaMalloc(&c, bytes(bundle.rows())) == cudaSuccess,
           "no memory for operands");
    cudaMemset(b, 0, bytes(bundle.cols()));
  }
  ~Operands() {
    cudaFree(b);
    cudaFree(c);
  }
};

void measure(const std::string& path, const std::shared_ptr<const Bundle>& bundle,
             const formats::FormatView& view, const Setting& setting) {
  const std::string_view format = view.layout->name;
  const runtime::PlanOptions options = {.n = setting.n, .device = runtime::Device::cuda};
  const Operands operands(*bundle, setting.n);
  std::shared_ptr<Matrix> matrix;
  std::shared_ptr<runtime::ProductPlan> plan;
  const auto make_plan = [&] {
    plan = expect(runtime::plan_matrix(*matrix, runtime::kSpmm, {.formats = format}, options));
  };
  const auto run = [&] {
    expect(
        runtime::run(*plan, runtime::SpmmOperands{operands.b, setting.n, operands.c, setting.n}).has_value(),
        "a run failed");
    cudaDeviceSynchronize();
  };
  const auto renew = [&](bool trusted) {
    return [&, trusted] {
      plan.reset();
      matrix = Matrix::from_bundle(bundle, {.trusted = trusted});
    };
  };
  renew(false)();
  make_plan();  // loads the kernel
  run();
  const std::size_t bytes = matrix->memory().device;
  const auto info = expect(runtime::cuda::find_device(0));
  const auto kernel =
      expect(runtime::choose_kernel({&runtime::kSpmm, format, view.value_dtype()}, options, info));

  const double open = time_us(setting.rounds, nothing, [&] { expect(Bundle::open(path)); });
  const double check =
      time_us(setting.rounds, nothing, [&] { expect(formats::check(view).has_value(), "bad arrays"); });
  const double schedule = time_us(setting.rounds, nothing, [&] {
    static_cast<void>(kernel.instance->schedule({view, setting.n, info}));
  });
  const double again = time_us(setting.rounds, nothing, make_plan);
  const double checked = time_us(setting.rounds, renew(false), make_plan);
  const double trusted = time_us(setting.rounds, renew(true), make_plan);
  const auto renewed = renew(true);
  const double first_run = time_us(
      setting.rounds,
      [&] {
        renewed();
        make_plan();
      },
      run);
  std::printf("%s,%s,%s,%zu,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n",
              path.substr(path.rfind('/') + 1).c_str(), std::string(format).c_str(),
              std::string(runtime::kernel_name(*plan)).c_str(), bytes, pinned_copy_us(bytes, setting.rounds),
              open, check, schedule, checked, trusted, again, first_run);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Setting setting{argc > 3 ? std::atoi(argv[1]) : 0, argc > 3 ? std::atoll(argv[2]) : 0};
  if (setting.rounds < 1 || setting.n < 1) {
    std::fprintf(stderr, "usage: start_up_bench ROUNDS N BUNDLE...\n");
    return 2;
  }
  std::puts("bundle,format,kernel,bytes,pinned,open,check,schedule,plan,trusted,again,first_run");
  for (int i = 3; i < argc; ++i) {
    const auto bundle = expect(Bundle::open(argv[i]));
    for (const formats::FormatView& view : bundle->formats()) measure(argv[i], bundle, view, setting);
  }
  return 0;
}
