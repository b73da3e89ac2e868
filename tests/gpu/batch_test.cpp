// Batches of matrices in device memory give what they give on the CPU; one run multiplies them all.
#include <memory>

#include "runtime/cuda/device_input.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/joined_matrix.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Arrangement;
using runtime::cuda::DeviceEntries;
using runtime::cuda::OwnedCsr;

namespace {

constexpr Arrangement kArrangements[] = {Arrangement::block_diagonal, Arrangement::stacked};

/// Matrices in device memory.
class PartsOnDevice {
 public:
  explicit PartsOnDevice(const std::vector<formats::Csr>& parts) {
    for (const formats::Csr& part : parts) {
      const auto& csr = parts_.emplace_back(std::make_unique<CsrOnDevice>(part))->csr;
      entries.push_back({csr.rows, csr.cols, csr.nnz, csr.row_ptr, DType::i64, true, csr.col_idx, DType::i32,
                         csr.values, csr.value_dtype, 0});
    }
  }

 private:
  std::vector<std::unique_ptr<CsrOnDevice>> parts_;

 public:
  std::vector<DeviceEntries> entries;
};

/// The matrix that parts become; the parts are gone when it is there.
OwnedCsr joined_on_device(const std::vector<formats::Csr>& parts, Arrangement arrangement,
                          cudaStream_t stream) {
  const PartsOnDevice device(parts);
  auto joined = runtime::cuda::join_csr(device.entries, arrangement, {}, stream);
  REQUIRE_MESSAGE(joined.has_value(), joined.error().text());
  return std::move(*joined);
}

template <class T>
void check_array(const void* on_device, const T* expected, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
  std::vector<std::byte> host(bytes);
  require(cudaMemcpy(host.data(), on_device, bytes, cudaMemcpyDeviceToHost));
  CHECK((bytes == 0 || std::memcmp(host.data(), expected, bytes) == 0));
}

std::vector<formats::Csr> molecules(int count, Random& random) {
  std::vector<formats::Csr> parts;
  for (int i = 0; i < count; ++i) parts.push_back(random_matrix(40, 40, 0.06, DType::f32, random));
  return parts;
}

}  // namespace

TEST_CASE("cuda batches: matrices of every shape and type become one") {
  Random random(81);
  const Stream stream;
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const Arrangement arrangement : kArrangements)
      for (const std::vector<formats::Csr>& parts : batches_of_parts(dtype, arrangement, random)) {
        CAPTURE(name_of(dtype));
        CAPTURE(parts.size());
        const formats::Csr expected = joined_by_entries(parts, arrangement);
        const OwnedCsr joined = joined_on_device(parts, arrangement, stream.get());
        CHECK(!joined.borrows);
        CHECK(joined.csr.rows == expected.rows);
        CHECK(joined.csr.cols == expected.cols);
        REQUIRE(joined.csr.nnz == expected.nnz());
        check_array(joined.csr.row_ptr, expected.row_ptr.data(), expected.rows + 1);
        check_array(joined.csr.col_idx, expected.col_idx.data(), expected.nnz());
        check_array(joined.csr.values, static_cast<const std::byte*>(expected.values.data()),
                    expected.values.view().bytes());
      }
}

TEST_CASE("cuda batches: a bad matrix is named") {
  Random random(82);
  std::vector<formats::Csr> parts = molecules(200, random);
  parts[137].col_idx[3] = 40;
  parts[180].row_ptr[40] -= 1;
  const PartsOnDevice device(parts);
  for (const Arrangement arrangement : kArrangements) {
    const auto joined = runtime::cuda::join_csr(device.entries, arrangement, {}, nullptr);
    REQUIRE(!joined);
    CHECK(joined.error().code == Errc::bad_input);
    CHECK_MESSAGE(joined.error().message.starts_with("matrix 137 of the batch: csr: col_idx[3] = 40"),
                  joined.error().message);
  }
}

TEST_CASE("cuda batches: a captured run multiplies all matrices, in every format") {
  Random random(83);
  const std::vector<formats::Csr> parts = molecules(300, random);
  const Stream stream;
  for (const Arrangement arrangement : kArrangements) {
    const formats::Csr expected = joined_by_entries(parts, arrangement);
    const auto matrix = runtime::Matrix::from_device(joined_on_device(parts, arrangement, stream.get()), {});
    constexpr std::int64_t kColumns = 64;
    const Dense dense(expected, kColumns, DType::f32, random);
    for (const std::string_view format : {"auto", "csr", "bittcf", "tall"}) {
      CAPTURE(format);
      const auto plan = runtime::plan_matrix(
          *matrix, runtime::kSpmm, {.formats = format},
          {.n = kColumns, .device = runtime::Device::cuda, .precision = runtime::Precision::fp32});
      REQUIRE_MESSAGE(plan.has_value(), plan.error().text());
      const DeviceBytes b(dense.b.data(), static_cast<std::size_t>(dense.b.view().bytes()));
      const DeviceBytes c(static_cast<std::size_t>(dense.c.view().bytes()));
      require(cudaMemset(c.get(), 0xFF, static_cast<std::size_t>(dense.c.view().bytes())));
      require(cudaDeviceSynchronize());
      Graph graph;
      require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
      REQUIRE(
          runtime::run(**plan, runtime::SpmmOperands{b.get(), dense.ldb, c.get(), dense.ldc}, stream.get()));
      require(cudaStreamEndCapture(stream.get(), &graph.graph));
      require(cudaGraphInstantiate(&graph.executable, graph.graph, 0));
      require(cudaGraphLaunch(graph.executable, stream.get()));
      require(cudaStreamSynchronize(stream.get()));
      CHECK(frobenius_error(expected, dense, c.to_host().data(), 1, 0) <=
            frobenius_bound(runtime::Precision::fp32, DType::f32));
    }
  }
}
