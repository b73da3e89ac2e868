// GATv2 attention with features of entries: gatv2 with e_ij = W f_ij, which no array contains. Its gradients
// for rows (X, a and scores), for columns (Y, with a plan of the transpose) and, from the gradients of the
// scores, for W.
#pragma once

#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

extern const Operation kGatv2WithFeatures;
extern const Operation kGatv2WithFeaturesGradient;
extern const Operation kGatv2WithFeaturesGradientT;
extern const Operation kGatv2WithFeaturesWeights;

}  // namespace sptile::runtime
