#include "runtime/bundle/bundle_matrix.hpp"

#include <algorithm>
#include <string>

namespace sptile::runtime {

Result<PlanMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format) {
  const formats::FormatView* view = bundle->format(format);
  if (view == nullptr) {
    std::string names;
    for (const formats::FormatView& held : bundle->formats())
      names += (names.empty() ? "" : ", ") + std::string(held.layout->name);
    return fail(Errc::usage, "the bundle holds no format " + std::string(format) + "; it holds " + names);
  }
  const bool original_order = format == "csr";
  return PlanMatrix{*view, original_order ? std::span<const std::int32_t>{} : bundle->row_order(),
                    original_order ? ArrayView{} : bundle->value_source(format), bundle, bundle->plans()};
}

Result<std::vector<PlanMatrix>> matrices_of(const std::shared_ptr<const Bundle>& bundle,
                                            std::string_view formats) {
  std::vector<std::string_view> names;
  if (formats.empty() || formats == "auto") {
    for (const formats::FormatView& held : bundle->formats()) names.push_back(held.layout->name);
  } else {
    for (std::size_t at = 0, comma = 0; comma < formats.size(); at = comma + 1) {
      comma = std::min(formats.find(',', at), formats.size());
      names.push_back(formats.substr(at, comma - at));
    }
  }
  std::vector<PlanMatrix> matrices;
  for (const std::string_view name : names) {
    Result<PlanMatrix> matrix = matrix_of(bundle, name);
    if (!matrix) return tl::unexpected(matrix.error());
    matrices.push_back(std::move(*matrix));
  }
  return matrices;
}

}  // namespace sptile::runtime
