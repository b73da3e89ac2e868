// Matrix handle: a matrix from any source, whose formats are created once and shared by plans.
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
  bool trusted = false;                      ///< skip the checks of arrays
  bool refreshable = false;                  ///< formats own their values, so that refresh works
  std::size_t most_device_bytes = SIZE_MAX;  ///< limit for all formats on all devices
};

/// A CSR matrix in host memory; `owner` keeps the arrays alive, null: the caller does.
struct HostCsr {
  formats::CsrView view;
  std::shared_ptr<const void> owner;
};

/// A format that a plan requests.
struct FormatRequest {
  const formats::FormatLayout* layout = nullptr;
  Side side = Side::matrix;           ///< A or A^T
  std::optional<int> parameter = {};  ///< conversion parameter for a device
  Device device = Device::cpu;
  int ordinal = 0;
  void* stream = nullptr;  ///< stream for conversions
};

/// Bytes in use by a handle and its formats, excluding mapped files and borrowed arrays.
struct MatrixMemory {
  std::size_t host = 0, device = 0;
};

/// Thread-safe except for refresh, which must not run concurrently with planning or runs. Plans share
/// ownership of what they need and may outlive the handle.
class Matrix {
 public:
  static std::shared_ptr<Matrix> from_bundle(std::shared_ptr<const Bundle> bundle,
                                             const MatrixOptions& options);
  static std::shared_ptr<Matrix> from_host(HostCsr csr, const MatrixOptions& options);
  static std::shared_ptr<Matrix> from_device(cuda::OwnedCsr csr, const MatrixOptions& options);
  /// Creates another handle of the same data, which it shares: no file is opened and no array is copied.
  /// Values set by refresh are not shared.
  [[nodiscard]] std::shared_ptr<Matrix> shared(const MatrixOptions& options) const;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  /// Returns the type of the source's values; none for a pattern.
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const MatrixOptions& options() const { return options_; }
  /// Returns whether the matrix equals its transpose; nullopt if unknown.
  [[nodiscard]] std::optional<bool> symmetric() const;
  /// Returns the number of stored formats of the transpose.
  [[nodiscard]] int transposed_count() const;
  /// Returns the formats that need no conversion: those of the bundle, otherwise csr.
  [[nodiscard]] std::vector<const formats::FormatLayout*> formats(Side side = Side::matrix) const;
  /// Returns the matrix in original row order in host memory. Checks it in one pass unless it is trusted.
  /// Errc::usage for a matrix in device memory, see device_csr.
  [[nodiscard]] Result<formats::CsrView> host_csr() const;
  /// Returns the matrix in device memory if it was created there; otherwise null.
  [[nodiscard]] const cuda::DeviceCsr* device_csr() const { return device_ ? &device_->csr : nullptr; }
  /// Returns the matrix in device memory with the order in which its entries were given; otherwise null.
  [[nodiscard]] const cuda::OwnedCsr* device_entries() const { return device_ ? &*device_ : nullptr; }
  /// Returns the content hash of a bundle; 0 for arrays. See Bundle::content.
  [[nodiscard]] std::uint64_t content() const { return bundle_ != nullptr ? bundle_->content() : 0; }
  /// Returns a stored format. Errc::usage, listing the stored ones, if it is not stored.
  [[nodiscard]] Result<PlanMatrix> stored(const formats::FormatLayout& layout,
                                          Side side = Side::matrix) const;

  /// Returns a format, which is created on first use. Formats that are not stored are converted on the device
  /// from the CSR arrays. Errors as for hold_format and hold_converted; Errc::unsupported for a format that
  /// is not stored, on the CPU; Errc::device, with the size in bytes, if the limit would be exceeded.
  Result<std::shared_ptr<HeldFormat>> hold(const FormatRequest& requested);

  /// Computes value_source of a format on a device, if it has none, for lists in CSR order. Errors as for
  /// cuda::make_value_source.
  Status give_order(HeldFormat& held, void* stream);

  /// Updates a format that was just uploaded to the values of the last refresh.
  Status catch_up(HeldFormat& held);

  /// Replaces the values in every format: one per entry, in the order of the source CSR. They may be in host
  /// memory, or in device memory if only formats on that device are in use; the work is then enqueued on
  /// `stream`.
  Status refresh(ArrayView given, void* stream);
  /// Replaces the values by values in the packed order of a format of this matrix.
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
  [[nodiscard]] std::vector<std::shared_ptr<HeldFormat>> live_formats() const;
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

  mutable std::mutex mutex_;  ///< protects the members below
  std::map<Key, std::weak_ptr<HeldFormat>> held_;
  std::uint64_t version_ = 0;           ///< number of refreshes
  std::shared_ptr<HeldFormat> newest_;  ///< a format with the values of the last refresh; null: see fresh_
  /// buffer for sorting values of entries that were given in another order
  std::shared_ptr<std::byte> sorted_;
  std::vector<std::byte> fresh_;     ///< values of the last refresh in CSR order, if there was no format
  DType fresh_dtype_ = DType::none;  ///< type of the values of the last refresh
};

}  // namespace sptile::runtime
