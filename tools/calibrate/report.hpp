// What `calibrate` tells: its measurements, and how good the fitted constants are.
#pragma once

#include <span>
#include <string>

#include "tools/calibrate/fit.hpp"
#include "tools/result.hpp"

namespace sptile::tools {

/// The file of --samples: a line for each, with its features.
std::string samples_csv(std::span<const Sample> samples);

std::string quality_text(std::span<const FitQuality> fits, const ChoiceQuality& choice);
Json quality_json(std::span<const FitQuality> fits, const ChoiceQuality& choice);

}  // namespace sptile::tools
