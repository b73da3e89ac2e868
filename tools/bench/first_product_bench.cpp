// Times the first product of CSR matrices in the memory of CUDA device 0: CSV on stdout, microseconds.
//
//   first_product_bench [--keep] matrices ROUNDS N MATRIX...
//
// Matrices are bundles, raw CSR files (see formats/io/binary/raw_csr.hpp) or Matrix Market files; one row per
// matrix and format, medians. `create` checks the borrowed arrays; `plan` converts and plans; `run` is the
// first product; `first` is the total. `product` is one of many consecutive products; `products` is first
// over product.
//
//   first_product_bench [--keep] batches ROUNDS N
//
// Random matrices of about 10^5 entries, for format csr: one row per kind of arrays, medians. `form` is the
// type of the row offsets; `trusted` skips the checks. `plan_and_run` and its 90th percentile `p90` are the
// latency of a mini-batch; `all` is create, plan, run and destroy. The following columns count CUDA calls in
// one round: allocations outside pools, allocations from pools, synchronizations, created streams; and the
// growth of the pools and of the device's used memory in bytes from the first timed round to the last. --keep
// makes the device's default pool keep freed memory, as applications can. Kernels are loaded before timing.
#include <memory>
#include <numeric>
#include <random>

#include "formats/convert/converters.hpp"
#include "runtime/cuda/device/small_pool.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/spmm.hpp"
#include "tools/bench/bench_device.hpp"
#include "tools/bench/bench_input.hpp"
#include "tools/bench/cuda_calls.hpp"

namespace {

using namespace sptile;
using runtime::Matrix;
using runtime::cuda::DeviceEntries;
using tools::call_us;
using tools::expect;

struct Setting {
  int rounds = 0;
  std::int64_t n = 0;
  bool keep = false;
};

/// A CSR matrix on the device, as an application has it.
class Arrays {
 public:
  Arrays(const formats::Csr& a, DType row_type)
      : row_(row_bytes(a, row_type)),
        col_(a.col_idx.data(), static_cast<std::size_t>(a.nnz()) * sizeof(std::int32_t)),
        values_(a.values.data(), static_cast<std::size_t>(a.values.view().bytes())),
        entries{a.rows,     a.cols,     a.nnz(),       row_.get(),       row_type, true,
                col_.get(), DType::i32, values_.get(), a.values.dtype(), 0} {}

 private:
  static tools::DeviceBytes row_bytes(const formats::Csr& a, DType type) {
    const auto count = static_cast<std::size_t>(a.row_ptr.size());
    if (type == DType::i64) return {a.row_ptr.data(), count * sizeof(std::int64_t)};
    const std::vector<std::int32_t> narrow(a.row_ptr.begin(), a.row_ptr.end());
    return {narrow.data(), count * sizeof(std::int32_t)};
  }
  tools::DeviceBytes row_, col_, values_;

 public:
  DeviceEntries entries;
};

/// Equals sptile_matrix_create with borrowed arrays.
std::shared_ptr<Matrix> create(const DeviceEntries& e, bool trusted) {
  return Matrix::from_device(expect(canonical_csr(e, {.borrow = true, .trusted = trusted}, nullptr)),
                             {.trusted = trusted});
}

/// Microseconds of the steps from arrays to a product.
struct Times {
  double create = 0, plan = 0, run = 0, destroy = 0;
};

/// Dense operands of matrices of one shape.
class Operands {
 public:
  Operands(std::int64_t rows, std::int64_t cols, std::int64_t n)
      : n_(n),
        b_(static_cast<std::size_t>(cols * n) * sizeof(float)),
        c_(static_cast<std::size_t>(rows * n) * sizeof(float)) {}

  void run(const runtime::ProductPlan& plan) const {
    expect(runtime::run(plan, runtime::SpmmOperands{b_.get(), n_, c_.get(), n_}));
  }
  [[nodiscard]] Times first_product(const DeviceEntries& entries, std::string_view format,
                                    bool trusted) const {
    Times us;
    std::shared_ptr<Matrix> matrix;
    std::shared_ptr<runtime::ProductPlan> plan;
    us.create = call_us([&] { matrix = create(entries, trusted); });
    us.plan = call_us([&] { plan = plan_of(*matrix, format); });
    us.run = call_us([&] {
      run(*plan);
      expect(cudaStreamSynchronize(nullptr));
    });
    us.destroy = call_us([&] {
      plan.reset();
      matrix.reset();
    });
    return us;
  }
  [[nodiscard]] std::shared_ptr<runtime::ProductPlan> plan_of(Matrix& matrix, std::string_view format) const {
    return expect(
        plan_matrix(matrix, runtime::kSpmm, {.formats = format}, {.n = n_, .device = runtime::Device::cuda}));
  }
  /// Returns the microseconds of one of `count` consecutive products.
  [[nodiscard]] double product_us(const DeviceEntries& entries, std::string_view format, int count) const {
    const auto matrix = create(entries, false);
    const auto plan = plan_of(*matrix, format);
    run(*plan);
    expect(cudaDeviceSynchronize());
    const double us = call_us([&] {
      for (int i = 0; i < count; ++i) run(*plan);
      expect(cudaDeviceSynchronize());
    });
    return us / count;
  }

 private:
  std::int64_t n_;
  tools::DeviceBytes b_, c_;
};

double median_of(const std::vector<Times>& all, const std::function<double(const Times&)>& of,
                 double share = 0.5) {
  std::vector<double> us;
  for (const Times& one : all) us.push_back(of(one));
  return tools::quantile(std::move(us), share);
}

double create_us(const Times& us) { return us.create; }
double plan_us(const Times& us) { return us.plan; }
double run_us(const Times& us) { return us.run; }
double destroy_us(const Times& us) { return us.destroy; }
double first_us(const Times& us) { return us.create + us.plan + us.run; }
double plan_and_run_us(const Times& us) { return us.plan + us.run; }
double all_us(const Times& us) { return us.create + us.plan + us.run + us.destroy; }

constexpr int kProducts = 20;

void measure_matrix(const std::string& path, const Setting& setting) {
  const formats::Csr a = expect(tools::read_bench_matrix(path, DType::f32));
  const Arrays arrays(a, DType::i64);
  const Operands operands(a.rows, a.cols, setting.n);
  for (const formats::Converter& converter : formats::converters()) {
    const double product = operands.product_us(arrays.entries, converter.format, kProducts);
    std::vector<Times> us;
    for (int i = 0; i < setting.rounds; ++i)
      us.push_back(operands.first_product(arrays.entries, converter.format, false));
    const double first = median_of(us, first_us);
    std::printf("%s,%s,%lld,%lld,%s,%.0f,%.0f,%.0f,%.0f,%.1f,%.1f\n", tools::file_name(path).c_str(),
                std::string(converter.format).c_str(), static_cast<long long>(a.nnz()),
                static_cast<long long>(setting.n), setting.keep ? "yes" : "no", median_of(us, create_us),
                median_of(us, plan_us), median_of(us, run_us), first, product, first / product);
    std::fflush(stdout);
  }
}

void measure_matrices(const std::vector<std::string>& paths, const Setting& setting) {
  std::puts("matrix,format,entries,n,kept,create,plan,run,first,product,products");
  for (const std::string& path : paths) measure_matrix(path, setting);
}

constexpr std::int64_t kBatchRows = 4096, kBatchCols = 16384, kBatchRowEntries = 24;

formats::Csr random_batch(std::mt19937_64& random) {
  formats::Csr a;
  a.rows = kBatchRows;
  a.cols = kBatchCols;
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  a.col_idx = formats::Buffer<std::int32_t>(a.rows * kBatchRowEntries);
  a.values = formats::Array(DType::f32, a.rows * kBatchRowEntries);
  constexpr std::int64_t kApart = kBatchCols / kBatchRowEntries;  // one column in each part of a row
  for (std::int64_t r = 0; r <= a.rows; ++r) a.row_ptr.data()[r] = r * kBatchRowEntries;
  for (std::int64_t i = 0; i < a.rows * kBatchRowEntries; ++i)
    a.col_idx.data()[i] = static_cast<std::int32_t>(i % kBatchRowEntries * kApart +
                                                    static_cast<std::int64_t>(random() % kApart));
  std::fill(a.values.as<float>().begin(), a.values.as<float>().end(), 1.0F);
  return a;
}

/// Kinds of arrays.
struct Form {
  const char* name;
  DType row_type;
  bool trusted;
};
constexpr Form kForms[] = {
    {"i64", DType::i64, false}, {"i32", DType::i32, false}, {"trusted", DType::i64, true}};

/// Currently used memory in bytes.
struct Held {
  std::int64_t device = tools::device_bytes_in_use();
  std::int64_t pool = pool_bytes();

  static std::int64_t pool_bytes() {
    cudaMemPool_t pool = nullptr;
    expect(cudaDeviceGetDefaultMemPool(&pool, 0));
    const auto* const small = runtime::cuda::small_pool(0);
    const auto held = [](cudaMemPool_t one) {
      return tools::pool_bytes(one, cudaMemPoolAttrReservedMemCurrent);
    };
    return held(pool) + (small != nullptr ? held(small->pool) : 0);
  }
};

constexpr int kWarmups = 20, kBatches = 4;

void measure_batches(const Form& form, const Setting& setting) {
  std::mt19937_64 random(1);
  std::vector<Arrays> batches;
  for (int i = 0; i < kBatches; ++i) batches.emplace_back(random_batch(random), form.row_type);
  const Operands operands(kBatchRows, kBatchCols, setting.n);
  const auto round = [&](int i) {
    return operands.first_product(batches[static_cast<std::size_t>(i % kBatches)].entries, "csr",
                                  form.trusted);
  };
  for (int i = 0; i < kWarmups; ++i) static_cast<void>(round(i));
  const Held before;
  const tools::CudaCalls calls = tools::cuda_calls();
  static_cast<void>(round(0));
  const tools::CudaCalls then = tools::cuda_calls();
  std::vector<Times> us;
  for (int i = 0; i < setting.rounds; ++i) us.push_back(round(i));
  const Held after;
  std::printf("%s,%lld,%lld,%lld,%lld,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%d,%d,%d,%d,%lld,%lld\n",
              form.name, static_cast<long long>(kBatchRows), static_cast<long long>(kBatchCols),
              static_cast<long long>(kBatchRows * kBatchRowEntries), static_cast<long long>(setting.n),
              setting.keep ? "yes" : "no", median_of(us, create_us), median_of(us, plan_us),
              median_of(us, run_us), median_of(us, destroy_us), median_of(us, plan_and_run_us),
              median_of(us, plan_and_run_us, 0.9), median_of(us, all_us),
              then.plain_allocations - calls.plain_allocations,
              then.pool_allocations - calls.pool_allocations,
              then.waits - calls.waits - 1,  // the benchmark itself synchronizes once
              then.streams - calls.streams, static_cast<long long>(after.pool - before.pool),
              static_cast<long long>(after.device - before.device));
  std::fflush(stdout);
}

void measure_batches(const Setting& setting) {
  std::puts(
      "form,rows,cols,entries,n,kept,create,plan,run,destroy,plan_and_run,p90,all,plain_allocations,"
      "pool_allocations,waits,streams,pool_growth,device_growth");
  for (const Form& form : kForms) measure_batches(form, setting);
}

}  // namespace

int main(int argc, char** argv) {
  const bool keep = argc > 1 && std::string(argv[1]) == "--keep";
  const std::vector<std::string> words(argv + (keep ? 2 : 1), argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  const bool matrices = what == "matrices" && words.size() > 3,
             batches = what == "batches" && words.size() == 3;
  const Setting setting{matrices || batches ? std::atoi(words[1].c_str()) : 0,
                        matrices || batches ? std::atoll(words[2].c_str()) : 0, keep};
  if (setting.rounds < 1 || setting.n < 1) {
    std::fprintf(stderr,
                 "usage: first_product_bench [--keep] matrices ROUNDS N MATRIX...\n"
                 "       first_product_bench [--keep] batches ROUNDS N\n");
    return static_cast<int>(Errc::usage);
  }
  if (keep) expect(tools::keep_pool_memory());
  if (matrices)
    measure_matrices({words.begin() + 3, words.end()}, setting);
  else
    measure_batches(setting);
  return 0;
}
