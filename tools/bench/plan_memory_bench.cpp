// Prints the memory of CUDA device 0 that four plans of a matrix use: SpMM for N = 32 and 128, SDDMM for 128,
// and SpMM for 128 with fp16 products. CSV on stdout, one row per bundle and format.
//
//   plan_memory_bench BUNDLE...
//
// `plans` is the number of them that have a kernel; `format_bytes` is the size of the format, `shared_bytes`
// the device memory of the plans of one handle, `apart_bytes` that of the same plans with a separate matrix
// each; `ratio` is shared over apart. Small reserves for the next plan are not counted. The device allocates
// in units of up to 2 MiB.
#include <memory>

#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/cuda/device/small_pool.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "runtime/plan/spmm.hpp"
#include "tools/bench/bench_device.hpp"

namespace {

using namespace sptile;
using runtime::Bundle;
using runtime::Matrix;
using tools::expect;
using Plan = Result<std::shared_ptr<runtime::ProductPlan>>;

/// Arguments of a plan.
struct Wanted {
  const runtime::Operation& op;
  std::int64_t n;
  std::optional<runtime::Precision> precision = {};

  [[nodiscard]] runtime::PlanOptions options() const {
    return {.n = n, .device = runtime::Device::cuda, .precision = precision};
  }
};
const Wanted kPlans[] = {{runtime::kSpmm, 32},
                         {runtime::kSpmm, 128},
                         {runtime::kSddmm, 128},
                         {runtime::kSpmm, 128, runtime::Precision::fp16}};

/// Plans, and the device memory that they use.
struct Made {
  std::vector<std::shared_ptr<runtime::ProductPlan>> plans;
  std::int64_t bytes = 0;
};

/// Free memory in a pool is not counted.
std::int64_t bytes_in_use() {
  const std::int64_t device = tools::device_bytes_in_use();
  const auto* const small = runtime::cuda::small_pool(0);
  if (small == nullptr) return device;
  return device - tools::pool_bytes(small->pool, cudaMemPoolAttrReservedMemCurrent) +
         tools::pool_bytes(small->pool, cudaMemPoolAttrUsedMemCurrent);
}

Made make_all(const std::function<Plan(const Wanted&)>& plan) {
  Made made;
  const std::int64_t before = bytes_in_use();
  for (const Wanted& wanted : kPlans) {
    Plan one = plan(wanted);
    if (one)
      made.plans.push_back(std::move(*one));
    else if (one.error().code != Errc::unsupported)
      expect(std::move(one));
  }
  made.bytes = bytes_in_use() - before;
  return made;
}

void measure(const std::string& path, const std::shared_ptr<const Bundle>& bundle,
             const formats::FormatLayout& layout) {
  const auto a = expect(runtime::matrix_of(bundle, layout.name));
  const auto plan_apart = [&](const Wanted& one) { return runtime::plan_product(one.op, a, one.options()); };
  make_all(plan_apart);  // loads the kernels
  const std::int64_t apart = make_all(plan_apart).bytes;
  const auto matrix = Matrix::from_bundle(bundle, {});
  const Made shared = make_all([&](const Wanted& one) {
    return runtime::plan_matrix(*matrix, one.op, {.formats = layout.name}, one.options());
  });
  std::printf("%s,%s,%zu,%zu,%lld,%lld,%.2f\n", tools::file_name(path).c_str(),
              std::string(layout.name).c_str(), shared.plans.size(), matrix->memory().device,
              static_cast<long long>(shared.bytes), static_cast<long long>(apart),
              static_cast<double>(shared.bytes) / static_cast<double>(apart));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: plan_memory_bench BUNDLE...\n");
    return static_cast<int>(Errc::usage);
  }
  std::puts("bundle,format,plans,format_bytes,shared_bytes,apart_bytes,ratio");
  for (int i = 1; i < argc; ++i) {
    const auto bundle = expect(Bundle::open(argv[i]));
    for (const formats::FormatView& view : bundle->formats()) measure(argv[i], bundle, *view.layout);
  }
  return 0;
}
