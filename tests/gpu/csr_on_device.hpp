// A CSR matrix in device memory for the tests.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/cuda/device_format.hpp"
#include "tests/gpu/device_problem.hpp"

namespace sptile::test {

/// A CSR matrix in device memory.
class CsrOnDevice {
 public:
  explicit CsrOnDevice(const formats::Csr& a, const std::vector<std::int32_t>& order = {})
      : row_ptr_(a.row_ptr.data(), static_cast<std::size_t>(a.row_ptr.size()) * sizeof(std::int64_t)),
        col_idx_(a.col_idx.data(), static_cast<std::size_t>(a.nnz()) * sizeof(std::int32_t)),
        values_(a.values.data(), static_cast<std::size_t>(a.values.view().bytes())),
        order_(order.data(), order.size() * sizeof(std::int32_t)) {
    csr.rows = a.rows;
    csr.cols = a.cols;
    csr.nnz = a.nnz();
    csr.row_ptr = reinterpret_cast<const std::int64_t*>(row_ptr_.get());
    csr.col_idx = reinterpret_cast<const std::int32_t*>(col_idx_.get());
    csr.value_dtype = a.values.dtype();
    if (a.values.present()) csr.values = values_.get();
    if (!order.empty()) csr.row_order = reinterpret_cast<const std::int32_t*>(order_.get());
  }

  runtime::cuda::DeviceCsr csr;

 private:
  DeviceBytes row_ptr_, col_idx_, values_, order_;
};

}  // namespace sptile::test
