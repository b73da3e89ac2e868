// Generators, one file each. All are deterministic for a seed.
#pragma once

#include "tools/gen/generator.hpp"

namespace sptile::tools::gen {

extern const Generator kRmat;       ///< R-MAT graph: skewed degrees, no locality
extern const Generator kGrid2d;     ///< L x L grid, 4 neighbours
extern const Generator kStencil27;  ///< L x L x L grid, 27 points, D unknowns each (finite elements)
extern const Generator kPlanted;    ///< planted communities of power-law sizes
extern const Generator kCommunity;  ///< planted classes of equal size, with features and labels
extern const Generator kMolecules;  ///< many small graphs: block-diagonal batches
extern const Generator kRandom;     ///< rectangular, with equal row lengths and uniform columns
extern const Generator kWindows;    ///< windows of 16 rows with Gamma-distributed numbers of 16x8 tiles

// Replicas of data sets; see replicas/replica.hpp.
extern const Generator kRedditLike, kRedditLikeOrdered, kProteinLike, kDdiLike, kYeasthLike, kOvcarLike,
    kDdLike;
extern const Generator kAmazonLike, kWebBerkstanLike, kRoadnetLike, kFemLike, kRmat20, kIgbSmallLike;

// Shuffled graphs of the tables of orderings; see replicas/shuffled_graph.hpp.
extern const Generator kGrid, kFem27, kMol, kSbm, kCopy, kRmat18;

}  // namespace sptile::tools::gen
