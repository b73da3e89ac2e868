// Chooses by running: what each candidate takes on this machine.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/choice/choice.hpp"

namespace sptile::runtime {

/// Fills in measured_us of the candidates that are worth it and moves `chosen` to the fastest; leaves a list
/// with fewer than two of them as it is. See choose_product.
Status measure_candidates(std::string_view op, std::span<const PlanMatrix> matrices,
                          const PlanOptions& options, std::vector<Candidate>& list);

}  // namespace sptile::runtime
