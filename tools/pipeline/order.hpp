// Row orders of verbs: check the request, then compute.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/parameters.hpp"
#include "reorder/registry.hpp"
#include "runtime/core/options.hpp"
#include "tools/pipeline/device_orderings.hpp"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// Range and default of the window height for which rows are ordered.
inline constexpr int kMinWindowRows = 1, kMaxWindowRows = 1024;
inline constexpr int kUsualWindowRows = 8;  ///< default

/// Requested row order, as typed.
struct OrderRequest {
  std::string method = "identity", preset;
  std::vector<std::string> settings;   ///< for example "name=value"
  int window_rows = kUsualWindowRows;  ///< 0: not given
};

/// A method with checked settings. Names are valid as long as the table of methods.
struct Ordering {
  const reorder::Reorderer* method = nullptr;
  const reorder::Preset* preset = nullptr;  ///< nullptr: no preset
  std::vector<reorder::Setting> given;      ///< by --set; they override those of the preset
  int window_rows = kUsualWindowRows;
  std::string typed;                              ///< as options: "pack --preset fast --set swaps=2"
  runtime::Device device = runtime::Device::cpu;  ///< computes the order; bits are the same for all devices

  /// Returns a label such as "pack", "pack:fast" or "pack:fast(swaps=2)".
  [[nodiscard]] std::string label() const;
};

/// Checks a request, whose method may contain its preset, as in "pack:fast". Errc::usage names the part that
/// is unknown or out of range, and the alternatives.
Result<Ordering> resolve_order(const OrderRequest& typed);

/// Checks "METHOD[:PRESET],..." or "all" in request.method. --preset and --set apply to the methods that have
/// them; at least one must.
Result<std::vector<Ordering>> resolve_orders(const OrderRequest& request);

/// Selects the device that computes an order. Errc::usage, naming the methods for CUDA devices, if the method
/// is for the CPU only.
Status set_device(Ordering& ordering, runtime::Device device);

/// Returns the ordering on devices with the method and settings of an ordering, or nullptr.
const DeviceOrdering* find_device_ordering(const Ordering& ordering);

/// Order that a method chose by comparison, and the reason; empty for other methods.
struct OrderChoice {
  std::string chosen;  ///< for example "degree order"
  std::string why;     ///< for example "24 blocks of 8 rows and 8 columns; the original order 30"
};

/// Computes an order on its device. The result is empty if the order of rows does not change.
Result<std::vector<std::int32_t>> compute_order(Work& work, const Ordering& ordering,
                                                const formats::CsrView& a, OrderChoice* choice = nullptr);

/// Computes an order on the device of a matrix, for an ordering with device cuda. The result is empty if the
/// order of rows does not change. Errors as in the function of runtime::cuda for the method.
Result<DeviceAndHostOrder> compute_order(Work& work, const Ordering& ordering,
                                         const runtime::cuda::DeviceCsr& a);

/// Returns the attributes that a bundle records: method, preset, all parameter values, window height.
Parameters order_attributes(const Ordering& ordering);

}  // namespace sptile::tools
