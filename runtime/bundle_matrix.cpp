#include "runtime/bundle_matrix.hpp"

#include <string>

namespace sptile::runtime {

Result<SpmmMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format) {
  const formats::FormatView* view = bundle->format(format);
  if (view == nullptr) {
    std::string names;
    for (const formats::FormatView& held : bundle->formats())
      names += (names.empty() ? "" : ", ") + std::string(held.layout->name);
    return fail(Errc::usage, "the bundle holds no format " + std::string(format) + "; it holds " + names);
  }
  const bool original_order = format == "csr";
  return SpmmMatrix{*view, original_order ? std::span<const std::int32_t>{} : bundle->row_order(),
                    original_order ? ArrayView{} : bundle->value_source(format), bundle};
}

}  // namespace sptile::runtime
