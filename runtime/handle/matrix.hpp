// A matrix handle: a matrix from anywhere, with each format that plans want made once and shared by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/plan/held_format.hpp"

namespace sptile::runtime {

struct MatrixOptions {
  bool trusted = false;                      ///< arrays are not checked
  bool refreshable = false;                  ///< formats have values of their own, so that refresh works
  std::size_t most_device_bytes = SIZE_MAX;  ///< of all formats, on all devices
};

/// A CSR matrix in host memory; `owner` keeps the arrays, null: the caller does.
struct HostCsr {
  formats::CsrView view;
  std::shared_ptr<const void> owner;
};

/// A format that a plan wants.
struct FormatRequest {
  const formats::FormatLayout* layout = nullptr;
  Side side = Side::matrix;           ///< A or A^T
  std::optional<int> parameter = {};  ///< where it is made on a device
  Device device = Device::cpu;
  int ordinal = 0;
  void* stream = nullptr;  ///< of the device, for conversions
};

/// Bytes that a handle and its formats take now; files that are mapped and arrays that are borrowed do not
/// count.
struct MatrixMemory {
  std::size_t host = 0, device = 0;
};

/// Thread-safe but for refresh, which must not meet plans being made or run. Plans keep what they need: the
/// handle may go before them.
class Matrix {
 public:
  static std::shared_ptr<Matrix> from_bundle(std::shared_ptr<const Bundle> bundle,
                                             const MatrixOptions& options);
  static std::shared_ptr<Matrix> from_host(HostCsr csr, const MatrixOptions& options);
  static std::shared_ptr<Matrix> from_device(cuda::OwnedCsr csr, const MatrixOptions& options);
  /// Makes another handle of the same data, which it shares: no file is opened and no array is copied. Values
  /// of refresh stay with the handle that took them.
  [[nodiscard]] std::shared_ptr<Matrix> shared(const MatrixOptions& options) const;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  /// Type of the source's values; none for a pattern.
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const MatrixOptions& options() const { return options_; }
  /// Whether it equals its transpose; not known of most.
  [[nodiscard]] std::optional<bool> symmetric() const;
  /// Formats of the transpose that are stored.
  [[nodiscard]] int transposed_count() const;
  /// Formats that need no conversion: those of the bundle, else csr.
  [[nodiscard]] std::vector<const formats::FormatLayout*> formats(Side side = Side::matrix) const;
  /// The matrix in its original row order, in host memory. Checked here in one pass, unless it is trusted;
  /// Errc::usage for one in device memory, see device_csr.
  [[nodiscard]] Result<formats::CsrView> host_csr() const;
  /// The same in device memory, where it was given there; else null.
  [[nodiscard]] const cuda::DeviceCsr* device_csr() const { return device_ ? &device_->csr : nullptr; }
  /// The same with the order in which its entries were given.
  [[nodiscard]] const cuda::OwnedCsr* device_entries() const { return device_ ? &*device_ : nullptr; }
  /// Hash of the content of a bundle; 0 for arrays. See Bundle::content.
  [[nodiscard]] std::uint64_t content() const { return bundle_ != nullptr ? bundle_->content() : 0; }
  /// One of them; Errc::usage, naming those that are there, for another.
  [[nodiscard]] Result<PlanMatrix> stored(const formats::FormatLayout& layout,
                                          Side side = Side::matrix) const;

  /// Finds or makes a format. One that is not stored is made on the device, from the CSR arrays. Errors as of
  /// hold_format and hold_converted; Errc::unsupported for one that is not stored on the CPU; Errc::device,
  /// naming the bytes, where it would take more than the bound.
  Result<std::shared_ptr<HeldFormat>> hold(const FormatRequest& wanted);

  /// Makes value_source of a format on a device that has none, for lists in CSR order. Errors as of
  /// cuda::make_value_source.
  Status give_order(HeldFormat& held, void* stream);

  /// Brings a format that a plan just uploaded up to the values of the last refresh.
  Status catch_up(HeldFormat& held);

  /// Replaces the values in every format: one for each entry, in the order of the source CSR. They may be in
  /// host memory, or in the memory of a device whose formats alone are in use; then it is enqueued on
  /// `stream`.
  Status refresh(ArrayView given, void* stream);
  /// The same in the order in which a format of this matrix stores them.
  Status refresh_packed(HeldFormat& order, ArrayView values, void* stream);

  [[nodiscard]] MatrixMemory memory() const;

 private:
  using Key = std::tuple<const formats::FormatLayout*, Side, std::optional<int>, Device, int>;

  explicit Matrix(const MatrixOptions& options) : options_(options) {}
  Result<std::shared_ptr<HeldFormat>> make(const FormatRequest& request);
  Result<std::shared_ptr<HeldFormat>> convert(const FormatRequest& request);
  Result<std::shared_ptr<HeldFormat>> convert_csr(const FormatRequest& request, const cuda::DeviceCsr& csr);
  Result<PlanMatrix> on_host(const FormatRequest& request) const;
  [[nodiscard]] Side side_of(Side side) const;
  Result<ArrayView> in_order(ArrayView values, void* stream);
  Status check_room(std::size_t bytes) const;
  [[nodiscard]] HoldOptions hold_options(const FormatRequest& request) const;
  [[nodiscard]] std::vector<std::shared_ptr<HeldFormat>> living() const;
  Status check_values(const ArrayView& values) const;
  Result<cuda::UploadedCsr> csr_on_device(int ordinal, Side side) const;
  Status refresh_others(HeldFormat& order, ArrayView values,
                        const std::vector<std::shared_ptr<HeldFormat>>& others, void* stream);
  Status keep_fresh(ArrayView values, const std::vector<std::shared_ptr<HeldFormat>>& formats);

  MatrixOptions options_;
  std::int64_t rows_ = 0, cols_ = 0, nnz_ = 0;
  DType dtype_ = DType::none;
  std::shared_ptr<const Bundle> bundle_;
  std::optional<HostCsr> host_;
  std::optional<cuda::OwnedCsr> device_;

  mutable std::mutex mutex_;  ///< of what follows
  std::map<Key, std::weak_ptr<HeldFormat>> held_;
  std::uint64_t version_ = 0;           ///< of the values: how often they were refreshed
  std::shared_ptr<HeldFormat> newest_;  ///< a format that has those of the last refresh; null: see fresh_
  std::shared_ptr<std::byte> sorted_;   ///< room for values of entries that were given in another order
  std::vector<std::byte> fresh_;     ///< those of the last refresh, in CSR order, where no format was there
  DType fresh_dtype_ = DType::none;  ///< of the values of the last refresh
};

}  // namespace sptile::runtime
