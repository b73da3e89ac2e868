#include "tools/gen/kinds.hpp"

namespace sptile::tools::gen {

std::span<const Generator> generators() {
  static const Generator kTable[] = {kRmat,      kGrid2d,    kStencil27, kPlanted,
                                     kCommunity, kMolecules, kRandom,    kWindows};
  return kTable;
}

}  // namespace sptile::tools::gen
