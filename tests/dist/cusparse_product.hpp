// Distributed products by cuSPARSE, for comparison.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sptile_dist.hpp"
#include "tests/dist/device_product.hpp"

namespace sptile::test {

/// Some rows of a matrix with renumbered columns.
struct CsrRows {
  std::int64_t cols = 0;
  std::vector<std::int32_t> row_ptr = {0}, col_idx;
  std::vector<float> values;

  /// Copies rows `ids` of a; column j becomes place[j].
  CsrRows(const CsrMatrix& a, std::span<const std::int32_t> ids, const std::vector<std::int32_t>& place,
          std::int64_t columns)
      : cols(columns) {
    for (const std::int32_t id : ids) {
      const auto row = static_cast<std::size_t>(id);
      row_ptr.push_back(row_ptr.back() + static_cast<std::int32_t>(a.row_ptr[row + 1] - a.row_ptr[row]));
    }
    col_idx.resize(static_cast<std::size_t>(row_ptr.back()));
    values.resize(col_idx.size());
#pragma omp parallel for schedule(dynamic, 256)
    for (std::size_t i = 0; i < ids.size(); ++i)
      copy_row(a, static_cast<std::size_t>(ids[i]), place, static_cast<std::size_t>(row_ptr[i]));
  }

 private:
  /// Copies a row to col_idx and values from `at` on, sorted by new columns.
  void copy_row(const CsrMatrix& a, std::size_t row, const std::vector<std::int32_t>& place, std::size_t at) {
    const auto* of_a = static_cast<const float*>(a.values.data);
    std::vector<std::pair<std::int32_t, float>> entries;
    for (auto e = static_cast<std::size_t>(a.row_ptr[row]); e < static_cast<std::size_t>(a.row_ptr[row + 1]);
         ++e)
      entries.emplace_back(place[static_cast<std::size_t>(a.col_idx[e])], of_a == nullptr ? 1.0F : of_a[e]);
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, value] : entries) {
      col_idx[at] = column;
      values[at++] = value;
    }
  }
};

/// Computes C = A B, row-major, of float, on the current device.
class CusparseProduct {
 public:
  CusparseProduct(const CsrRows& a, std::int64_t n, float* b, float* c, cudaStream_t stream)
      : row_ptr_(a.row_ptr), col_idx_(a.col_idx), values_(a.values) {
    const auto rows = static_cast<std::int64_t>(a.row_ptr.size()) - 1;
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, stream), "cusparseSetStream");
    check(cusparseCreateCsr(&a_, rows, a.cols, std::ssize(a.col_idx), row_ptr_.data(), col_idx_.data(),
                            values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_32F),
          "cusparseCreateCsr");
    check(cusparseCreateDnMat(&b_, a.cols, n, n, b, CUDA_R_32F, CUSPARSE_ORDER_ROW), "cusparseCreateDnMat");
    check(cusparseCreateDnMat(&c_, rows, n, n, c, CUDA_R_32F, CUSPARSE_ORDER_ROW), "cusparseCreateDnMat");
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  &one_, a_, b_, &zero_, c_, CUDA_R_32F, algorithm, &bytes),
          "cusparseSpMM_bufferSize");
    buffer_ = dist::CudaMemory::Buffer<std::byte>(bytes);
    check(cusparseSpMM_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  &one_, a_, b_, &zero_, c_, CUDA_R_32F, algorithm, buffer_.data()),
          "cusparseSpMM_preprocess");
  }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;
  ~CusparseProduct() {
    cusparseDestroyDnMat(c_);
    cusparseDestroyDnMat(b_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  void run() {
    check(cusparseSpMM(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, a_,
                       b_, &zero_, c_, CUDA_R_32F, algorithm, buffer_.data()),
          "cusparseSpMM");
  }

 private:
  // the algorithm for row-major B and C
  static constexpr cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG2;

  static void check(cusparseStatus_t status, const char* call) {
    if (status != CUSPARSE_STATUS_SUCCESS)
      throw Exception(SPTILE_STATUS_DEVICE, std::string(call) + ": " + cusparseGetErrorString(status));
  }

  float one_ = 1, zero_ = 0;
  DeviceArray<std::int32_t> row_ptr_, col_idx_;
  DeviceArray<float> values_;
  dist::CudaMemory::Buffer<std::byte> buffer_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnMatDescr_t b_ = nullptr, c_ = nullptr;
};

}  // namespace sptile::test
