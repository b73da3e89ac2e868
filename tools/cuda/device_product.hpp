// A matrix, the operands of an operation and the expected result, all on the current device.
#pragma once

#include <array>
#include <cstdint>

#include "formats/core/csr_view.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "runtime/operation/operation.hpp"
#include "tools/cuda/device_math.hpp"

namespace sptile::tools::cuda {

struct OperandOptions {
  std::uint64_t seed = 1;
  bool reference = true;  ///< results are compared
};

class DeviceProduct {
 public:
  /// Uploads the matrix with values converted to the type of the dense operands, 1 for a pattern.
  /// Errc::unsupported for 2^31 entries or more.
  Status set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense);

  /// Creates random operands in (-1, 1) with n columns, and the expected result. Errc::unsupported if the
  /// operation has no reference.
  Status set_operands(const runtime::Operation& op, std::int64_t n, const OperandOptions& options);

  /// Sets the entry of each number of a list; absent: they are in CSR order. Input lists are permuted
  /// accordingly.
  Status set_value_source(const ArrayView& source);

  /// Fills the result with NaN.
  Status clear_result();

  /// Compares the result with the reference.
  Result<Errors> compare() const;

  [[nodiscard]] const DeviceCsr& csr() const { return csr_; }
  [[nodiscard]] runtime::DenseTypes types() const { return {csr_.dtype, csr_.result}; }
  [[nodiscard]] const runtime::Operation& op() const { return *op_; }
  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] bool has(const runtime::Operation& op, std::int64_t n) const { return &op == op_ && n == n_; }
  [[nodiscard]] const runtime::Operands& operands() const { return operands_; }

 private:
  using Buffer = runtime::cuda::DeviceBuffer;

  [[nodiscard]] std::int64_t size_of_operand(const runtime::OperandSpec& spec) const;
  [[nodiscard]] std::int64_t result_size() const { return size_of_operand(op_->result()); }
  Status order_list(std::size_t i);
  [[nodiscard]] Buffer& result() { return buffers_[op_->operands.size() - 1]; }
  Status make_operand(std::size_t i, std::uint64_t seed);
  Status make_operands(std::uint64_t seed);
  Status make_reference();

  DeviceCsr csr_;
  Buffer row_ptr_, columns_, values_;
  const runtime::Operation* op_ = nullptr;
  std::int64_t n_ = 0;
  runtime::Operands operands_;
  // ordered_: lists in the order of value_source_
  std::array<Buffer, runtime::kMaxOperands> buffers_, ordered_;
  ReferenceSums reference_;
  Buffer sums_, absolute_sums_;
  Buffer value_source_;  // empty: lists are in CSR order
};

}  // namespace sptile::tools::cuda
