// Handles that come and go leave nothing behind, on the host or on the device.
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "runtime/cuda/device/small_pool.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/sddmm.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/transposed_bundle.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Matrix;
using runtime::Side;

namespace {

/// Bytes that are taken now.
struct Taken {
  std::size_t host = 0;    ///< resident
  std::size_t device = 0;  ///< of its memory, by anyone
  std::uint64_t pool = 0;  ///< of pools
};

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  REQUIRE(resident > 0);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t used_bytes(cudaMemPool_t pool) {
  std::uint64_t bytes = 0;
  require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
  return bytes;
}

Taken taken() {
  require(cudaDeviceSynchronize());
  malloc_trim(0);
  Taken now;
  std::size_t free = 0, total = 0;
  cudaMemPool_t pool = nullptr;
  require(cudaMemGetInfo(&free, &total));
  require(cudaDeviceGetMemPool(&pool, 0));
  const auto* const small = runtime::cuda::small_pool(0);
  now.pool = used_bytes(pool) + (small != nullptr ? used_bytes(small->pool) : 0);
  now.device = total - free;
  now.host = resident_bytes();
  return now;
}

constexpr std::int64_t kColumns = 8, kLongest = 64;
constexpr const char* kFormats[] = {"csr", "bittcf", "bmat", "me_tcf"};  // some are stored, some are made
constexpr int kSources = 3, kWays = kSources * 4 * 4;

/// One life of a handle after the other, each in another way.
class Lives {
 public:
  Lives() : a_(rectangular()), device_(a_) {
    REQUIRE(write(path_, a_.view(), {}));
    REQUIRE(a_.nnz() <= kLongest * kLongest);
  }

  void live(int way) {
    auto matrix = make(way % kSources);
    const char* const format = kFormats[way / kSources % 4];
    const auto spmm = plan(*matrix, runtime::kSpmm, format, Side::matrix),
               sddmm = plan(*matrix, runtime::kSddmm, format, Side::matrix),
               transposed = plan(*matrix, runtime::kSpmm, format, Side::transpose);
    run(*spmm);
    refresh(*matrix, way / kSources / 4 % 2 != 0);
    if (way / kSources / 8 % 2 != 0) matrix.reset();  // plans may stay behind it
    run(*spmm);
    run(*transposed);
    REQUIRE(runtime::run(*sddmm, runtime::SddmmOperands{x_.get(), kColumns, x_.get(), kColumns, out_.get()},
                         stream_.get()));
    require(cudaStreamSynchronize(stream_.get()));
  }

 private:
  std::shared_ptr<Matrix> make(int source) {
    const runtime::MatrixOptions options = {.refreshable = true};
    if (source == 1) return Matrix::from_host({a_.view(), nullptr}, options);
    if (source == 2) {
      const auto& a = device_.csr;
      auto csr = runtime::cuda::canonical_csr({a.rows, a.cols, a.nnz, a.row_ptr, DType::i64, true, a.col_idx,
                                               DType::i32, a.values, a.value_dtype, 0},
                                              {}, stream_.get());
      REQUIRE(csr);
      return Matrix::from_device(std::move(*csr), options);
    }
    auto bundle = runtime::Bundle::open(path_);
    REQUIRE(bundle);
    return Matrix::from_bundle(std::move(*bundle), options);
  }
  std::shared_ptr<runtime::ProductPlan> plan(Matrix& matrix, const runtime::Operation& op, const char* format,
                                             Side side) {
    auto made = runtime::plan_matrix(matrix, op, {.formats = format, .side = side, .stream = stream_.get()},
                                     {.n = kColumns, .device = runtime::Device::cuda});
    REQUIRE_MESSAGE(made.has_value(), made.error().text());
    return std::move(*made);
  }
  void run(const runtime::ProductPlan& plan) {
    REQUIRE(
        runtime::run(plan, runtime::SpmmOperands{x_.get(), kColumns, out_.get(), kColumns}, stream_.get()));
  }
  void refresh(Matrix& matrix, bool from_host) {
    const void* const values = from_host ? a_.values.data() : device_.csr.values;
    REQUIRE(matrix.refresh({DType::f32, values, a_.nnz()}, stream_.get()));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.h5";
  formats::Csr a_;
  CsrOnDevice device_;
  Stream stream_;
  DeviceBytes x_{kLongest * kColumns * sizeof(float)}, out_{kLongest * kLongest * sizeof(float)};
};

}  // namespace

// SPTILE_SOAK=100000 in the environment makes it longer.
TEST_CASE("cuda soak: making, planning, running, refreshing and destroying again and again takes no memory") {
  const char* const wanted = std::getenv("SPTILE_SOAK");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 2000;
  Lives lives;
  for (int i = 0; i < 2 * kWays; ++i) lives.live(i);  // kernels are loaded, threads begin
  const Taken before = taken();
  for (int i = 0; i < rounds; ++i) lives.live(i);
  const Taken after = taken();
  MESSAGE(rounds << " rounds; host " << before.host << " to " << after.host << " bytes, device "
                 << before.device << " to " << after.device << ", pool " << before.pool << " to "
                 << after.pool);
  CHECK(after.host <= before.host + (std::size_t{8} << 20));
  CHECK(after.device <= before.device + (std::size_t{4} << 20));
  CHECK(after.pool <= before.pool);
}
