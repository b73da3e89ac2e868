#include "formats/layout/registry.hpp"

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/hc_window.hpp"
#include "formats/layout/libra.hpp"
#include "formats/layout/me_tcf.hpp"
#include "formats/layout/rs_tile.hpp"
#include "formats/layout/tall.hpp"

namespace sptile::formats {
namespace {
constexpr const FormatLayout* kLayouts[] = {
    &kCsrLayout,  &kMeTcfLayout,     &kBitTcfLayout,     &kBmatLayout,     &kRsTileLayout,
    &kTallLayout, &kLibraSpmmLayout, &kLibraSddmmLayout, &kHcWindowLayout,
};
}

std::span<const FormatLayout* const> layouts() { return kLayouts; }

const FormatLayout* find_layout(std::string_view name) {
  for (const FormatLayout* layout : kLayouts)
    if (layout->name == name) return layout;
  return nullptr;
}

}  // namespace sptile::formats
