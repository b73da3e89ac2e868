// Predicted times of all formats and kernels, and the choice of the fastest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/choice/cost_features.hpp"
#include "runtime/choice/device_profile.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// A format and a kernel for it.
struct Candidate {
  std::size_t matrix = 0;          ///< index in the list of matrices
  std::string_view format;         ///< format of that matrix
  const Kernel* kernel = nullptr;  ///< null: the device has no kernel for the format
  Precision precision = Precision::fp32;
  std::optional<double> predicted_us;  ///< nullopt: the profile has no model of the kernel
  std::optional<double> measured_us;   ///< set if it was run, see plan/choice.hpp
  std::string refused;                 ///< the reason why it cannot run; empty if it can
  CostFeatures features = {};
  bool chosen = false;
};

/// Returns whether plans without a kernel name may choose a kernel, of which `row` is the instance. Kernels
/// by name are candidates if the profile has their own times in the precision of the instance and their plans
/// can be stored.
bool may_be_chosen(const Kernel& kernel, const cuda::DeviceKernel& row,
                   const std::optional<DeviceProfile>& profile);

/// Extent of the predictions.
enum class Detail {
  choice,       ///< the fastest; others may lack a prediction
  predictions,  ///< all candidates with a model
  features,     ///< features of candidates without a model, too
};

/// Returns the view of a format with column lists that can be read: at least the ranges of kSampledLoads in
/// sampled_ranges. Nullopt if they cannot be had, and every load is then taken for a miss.
using ReadLists = std::function<std::optional<formats::FormatView>(const formats::FormatView&)>;

/// Returns the candidates of several formats of one matrix for an operation: every kernel of the device for
/// each format that may be chosen, with the reason for those that cannot run. The chosen one has the lowest
/// predicted time; without predictions it is csr, or else the first usable one. options.kernel restricts
/// candidates by name, options.precision by precision. Checks lengths, not contents. With Detail::choice,
/// miss_share samples only formats that may be the fastest by bounds of their features, in O(units);
/// otherwise it samples every format. `read` provides lists that are not in host memory; empty: all are.
/// Errc::usage for invalid options or an empty list, Errc::device as for plan_product, Errc::bad_input for
/// inconsistent lengths or an invalid profile.
Result<std::vector<Candidate>> predict_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                               const PlanOptions& options,
                                               Detail detail = Detail::predictions,
                                               const ReadLists& read = {});

/// Returns the chosen candidate; null if none can run.
const Candidate* chosen_of(std::span<const Candidate> list);

}  // namespace sptile::runtime
