// One format of a matrix, checked once, uploaded once, and shared by all its plans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/core/options.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime {

/// Device and checks of a format.
struct HoldOptions {
  Device device = Device::cpu;
  int ordinal = 0;           ///< CUDA device number
  bool trusted = false;      ///< skip the checks of the arrays
  bool refreshable = false;  ///< copy the values, so that refresh works
};

/// Owned by plans through std::shared_ptr and freed with the last one.
struct HeldFormat {
  PlanMatrix
      /// in host memory; for formats converted on a device only the arrays that schedules read. Values may be
      /// `values`.
      matrix;
  HoldOptions options;
  DType dtype = DType::none;     ///< value type; DType::none: a pattern
  std::optional<int> parameter;  ///< conversion parameter of a format that was converted on a device
  formats::Side side = formats::Side::matrix;  ///< A or A^T
  std::vector<std::byte> values;  ///< value arrays of a refreshable format on the CPU, concatenated
  std::array<std::vector<std::byte>, formats::kMaxArrays> index;  ///< arrays copied from a device
  std::mutex uploading;                                           ///< protects on_device until the upload
  bool proven = true;  ///< false: only offsets were checked; the device checks the rest after the upload
  std::shared_ptr<cuda::DeviceFormat> on_device;  ///< set by the first plan for a device
  bool ordered = false;                           ///< value_source was validated; protected by `uploading`
  std::uint64_t version = 0;                      ///< version of the values, as counted by the matrix

  [[nodiscard]] std::size_t host_bytes() const;
  [[nodiscard]] std::size_t device_bytes();
};

/// Checks a format and copies what refresh needs. For a CUDA device it may check only the arrays that the
/// division of work reads; the first plan checks the rest on the device. Errc::bad_input if a check fails;
/// Errc::usage for a refreshable format without value_source.
Result<std::shared_ptr<HeldFormat>> hold_format(const PlanMatrix& a, const HoldOptions& options);

/// Checks all arrays of a format in host memory. Errors as for hold_format.
Status check_held(const HeldFormat& held);

/// Holds a format that is on a device. Copies the arrays that schedules read to the host, about one byte per
/// entry.
Result<std::shared_ptr<HeldFormat>> hold_device_format(cuda::DeviceFormat&& format,
                                                       const HoldOptions& options);

/// Validates value_source once, if the order of entries is not that of the CSR matrix. Errc::bad_input if it
/// is invalid; Errc::usage for a CPU format without one.
Status prove_order(HeldFormat& held);

/// Uploads value_source to the device of the format, unless it is there. Errc::usage if there is none.
Status bring_order(HeldFormat& held);

/// Returns the values in the order of the source CSR, in host memory. Synchronizes with the device.
Result<std::vector<std::byte>> csr_values(const HeldFormat& held);

/// Converts values in host memory from the packed order of a format to the order of the source CSR.
Result<std::vector<std::byte>> to_csr_order(const HeldFormat& order, ArrayView packed);

/// Replaces the values: one per entry of the source CSR, in its order. For a CUDA device, values in host
/// memory are in place when this returns, after all earlier work; values in device memory are copied on
/// `stream`. Not concurrent with runs on the CPU. Errc::usage unless the format is refreshable.
Status refresh_values(HeldFormat& held, ArrayView values, void* stream);

/// Replaces the values by values in packed order, for CUDA in device memory.
Status refresh_packed(HeldFormat& held, ArrayView values, void* stream);

}  // namespace sptile::runtime
