// Output of `calibrate`: its measurements, and the quality of the fitted constants.
#pragma once

#include <span>
#include <string>

#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/linear_cost.hpp"
#include "tools/calibrate/selector.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// Returns the --samples file: one line per sample, with its features.
std::string samples_csv(std::span<const Sample> samples);

std::string quality_text(std::span<const FitQuality> fits, const ChoiceQuality& choice);
Json quality_json(std::span<const FitQuality> fits, const ChoiceQuality& choice);

/// Returns one line with the coefficients of equation 4 and their R2.
std::string linear_cost_text(const LinearCost& fit);
Json linear_costs_json(std::span<const LinearCost> fits);

/// Returns one line with the weights and the selector's accuracy.
std::string selector_text(const SelectorFit& fit);
Json selectors_json(std::span<const SelectorFit> fits);

}  // namespace sptile::tools
