// What `calibrate` tells: its measurements, and how good the fitted constants are.
#pragma once

#include <span>
#include <string>

#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/selector.hpp"
#include "tools/cli/result.hpp"

namespace sptile::tools {

/// The file of --samples: a line for each, with its features.
std::string samples_csv(std::span<const Sample> samples);

std::string quality_text(std::span<const FitQuality> fits, const ChoiceQuality& choice);
Json quality_json(std::span<const FitQuality> fits, const ChoiceQuality& choice);

/// One line: the weights, and how often the selector is right.
std::string selector_text(const SelectorFit& fit);
Json selectors_json(std::span<const SelectorFit> fits);

}  // namespace sptile::tools
