#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {

std::span<const Generator> generators() {
  static const Generator kTable[] = {kRmat,
                                     kGrid2d,
                                     kStencil27,
                                     kPlanted,
                                     kCommunity,
                                     kMolecules,
                                     kRandom,
                                     kWindows,
                                     kRedditLike,
                                     kRedditLikeOrdered,
                                     kProteinLike,
                                     kDdiLike,
                                     kYeasthLike,
                                     kOvcarLike,
                                     kDdLike,
                                     kAmazonLike,
                                     kWebBerkstanLike,
                                     kRoadnetLike,
                                     kFemLike,
                                     kRmat20,
                                     kIgbSmallLike,
                                     kGrid,
                                     kFem27,
                                     kMol,
                                     kSbm,
                                     kCopy,
                                     kRmat18};
  return kTable;
}

}  // namespace sptile::tools::gen
