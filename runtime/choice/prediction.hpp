// Predicts what each format and kernel would take, and says which is the fastest.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/choice/cost_features.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/kernels/kernels.hpp"

namespace sptile::runtime {

/// One way to do a product: a format and a kernel for it.
struct Candidate {
  std::size_t matrix = 0;          ///< position in the list that was given
  std::string_view format;         ///< of that matrix
  const Kernel* kernel = nullptr;  ///< null: the device has none for the format
  Precision precision = Precision::fp32;
  std::optional<double> predicted_us;  ///< not there without a model of the kernel
  std::optional<double> measured_us;   ///< where it was run, see plan/choice.hpp
  std::string refused;                 ///< why it cannot run; empty when it can
  CostFeatures features = {};
  bool chosen = false;
};

/// How much of the candidates is worked out.
enum class Detail {
  choice,       ///< which is the fastest: others may lack a prediction
  predictions,  ///< of every candidate that the profile has a model of
  features,     ///< those of candidates without a model, too
};

/// Lists the candidates of several formats of one matrix for an operation of kernels(): every kernel of the
/// device for each format, those that cannot run with the reason. The chosen one is the fastest predicted;
/// without any prediction, csr, and the first that can run where that is not there. options.kernel leaves
/// only kernels of that name; options.precision only those that satisfy it. Checks lengths, not contents.
/// Detail::choice reads what miss_share reads of the column lists only for candidates that may be the fastest
/// by bounds of their features, in O(units); the others read it for every format. Errc::usage for bad options
/// or an empty list, Errc::device as plan_spmm, Errc::bad_input for lengths that disagree or a profile that
/// is none.
Result<std::vector<Candidate>> predict_product(const Operation& op, std::span<const PlanMatrix> matrices,
                                               const PlanOptions& options,
                                               Detail detail = Detail::predictions);

/// The chosen one of a list; null when none can run.
const Candidate* chosen_of(std::span<const Candidate> list);

}  // namespace sptile::runtime
