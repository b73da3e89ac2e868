// One format of a matrix where plans find it: checked once, uploaded once, shared by all plans that multiply
// with it.
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

/// How a format is held.
struct HoldOptions {
  Device device = Device::cpu;
  int ordinal = 0;           ///< of a CUDA device
  bool trusted = false;      ///< its arrays are not checked
  bool refreshable = false;  ///< with values of its own, so that refresh works
};

/// Plans have it by std::shared_ptr; it goes with the last one.
struct HeldFormat {
  PlanMatrix
      matrix;  ///< in host memory; of one made on a device what schedules read. Values may be `values`.
  HoldOptions options;
  DType dtype = DType::none;                   ///< of the values; none for a pattern
  std::optional<int> parameter;                ///< of the format, where it was made with one on a device
  formats::Side side = formats::Side::matrix;  ///< A or A^T
  std::vector<std::byte>
      values;  ///< of a refreshable format for the CPU: its value arrays, one after the other
  std::array<std::vector<std::byte>, formats::kMaxArrays> index;  ///< what was fetched from a device
  std::mutex uploading;                                           ///< held while `on_device` may be null
  bool proven = true;  ///< false: offsets are good, the device checks the rest when it has it
  std::shared_ptr<cuda::DeviceFormat> on_device;  ///< there with the first plan for a device
  bool ordered = false;                           ///< value_source was proven; held with `uploading`
  std::uint64_t version = 0;                      ///< of the values, as their matrix counts

  [[nodiscard]] std::size_t host_bytes() const;
  [[nodiscard]] std::size_t device_bytes();
};

/// Verifies a format, once, and makes what is kept of it; for a CUDA device maybe only what is needed to
/// divide the work, and the first plan has the device verify the rest. Errc::bad_input when a check fails,
/// Errc::usage when it is to be refreshable and has no value_source.
Result<std::shared_ptr<HeldFormat>> hold_format(const PlanMatrix& a, const HoldOptions& options);

/// Verifies all of a format whose arrays are in host memory. Errors as hold_format.
Status check_held(const HeldFormat& held);

/// Holds a format that is on a device. Fetches what schedules read: about a byte per entry.
Result<std::shared_ptr<HeldFormat>> hold_device_format(cuda::DeviceFormat&& format,
                                                       const HoldOptions& options);

/// Verifies value_source, once, of a format whose order of entries is not that of the CSR matrix, where it
/// has one. Errc::bad_input when it is wrong; Errc::usage for a format on the CPU that has none.
Status prove_order(HeldFormat& held);

/// Brings value_source to the device where the format is, unless it is there. Errc::usage when there is none.
Status bring_order(HeldFormat& held);

/// The values in the order of the source CSR, in host memory. Waits for a device.
Result<std::vector<std::byte>> csr_values(const HeldFormat& held);

/// Puts values that are packed in the order of a format, in host memory, into that of the source CSR.
Result<std::vector<std::byte>> to_csr_order(const HeldFormat& order, ArrayView packed);

/// Replaces the values: one for each entry of the source CSR, in its order. On a CUDA device they may be in
/// host memory, then this waits until all earlier work and the new values are done; or in device memory, then
/// it is enqueued on `stream`. Not concurrent with runs on the CPU. Errc::usage unless the format is
/// refreshable.
Status refresh_values(HeldFormat& held, ArrayView values, void* stream);

/// The same with values packed in the order in which the format stores them; on a CUDA device in device
/// memory.
Status refresh_packed(HeldFormat& held, ArrayView values, void* stream);

}  // namespace sptile::runtime
