// Times of runs, as CSV.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/plan/plan.hpp"
#include "tests/property/problem.hpp"
#include "tests/property/runner.hpp"

namespace sptile::test {
namespace {

constexpr std::string_view kTimedShapes[] = {"windows", "many", "long"};
constexpr std::int64_t kTimedColumns[] = {1, 32, 128};
constexpr int kWarmup = 3, kRepeat = 11;

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Dense operands in host memory, which timed_run copies.
class HostOperands {
 public:
  HostOperands(const Instance& instance, const runtime::OperandSizes& sizes, Random& random) {
    for (std::size_t i = 0; i < instance.op().operands.size(); ++i) {
      const runtime::OperandSpec& spec = instance.op().operands[i];
      const runtime::OperandShape shape = shape_of(spec, sizes);
      arrays_.push_back(random_values(std::max<std::int64_t>(1, shape.rows * shape.width),
                                      type_of(spec, instance.types), random));
      operands_.dense[i] = {arrays_.back().data(), shape.width, 0};
    }
    operands_.n = sizes.run.n;
  }
  [[nodiscard]] const runtime::Operands& get() const { return operands_; }

 private:
  std::vector<formats::Array> arrays_;
  runtime::Operands operands_;
};

void time_case(const Instance& instance, const Setting& setting, const Matrix& matrix, Machine& machine) {
  Random random(1);
  const Problem problem(instance, setting, matrix, random);
  const auto plan =
      runtime::plan_product(instance.op(), matrix.formatted.matrix(), options_of(instance, setting));
  const HostOperands operands(instance, problem.sizes(), random);
  if (!plan) throw std::runtime_error(plan.error().message);
  const auto times = timed_run(**plan, instance.op(), operands.get(), kWarmup, kRepeat);
  if (!times) throw std::runtime_error(times.error().message);
  std::printf("%s,%s,%s,%s,%lld,%lld,%lld,%lld,%.3f\n", std::string(machine.name()).c_str(),
              std::string(instance.kernel->name).c_str(), describe(instance).c_str(),
              std::string(setting.shape).c_str(), static_cast<long long>(matrix.csr.rows),
              static_cast<long long>(matrix.csr.cols), static_cast<long long>(matrix.csr.nnz()),
              static_cast<long long>(setting.n), median(*times) * 1e6);
}

}  // namespace

int run_perf(const Options& options, Machine& machine) {
  std::printf("backend,kernel,types,shape,rows,cols,nnz,n,median_us\n");
  Matrices matrices;
  for (const runtime::Kernel* kernel : selected_kernels(options, machine.device())) {
    if (!available(*kernel) || kernel->undefined_result) continue;
    const Instance instance = instances_of(*kernel, machine.capability()).front();
    for (const std::string_view shape : kTimedShapes)
      for (const std::int64_t n : kTimedColumns) {
        const Matrix& matrix = matrices.get(shape, instance.values, kernel->format, false, Setting::kFitted);
        const Setting setting = {.shape = shape, .n = n, .m = n, .threads = 0};
        if (supports(instance, matrix.csr.cols, options_of(instance, setting)))
          time_case(instance, setting, matrix, machine);
      }
  }
  return 0;
}

}  // namespace sptile::test
