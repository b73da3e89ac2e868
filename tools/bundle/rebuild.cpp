#include "tools/bundle/rebuild.hpp"

#include "formats/convert/converters.hpp"
#include "formats/core/row_order.hpp"

namespace sptile::tools {

Result<formats::Csr> rebuild_matrix(const runtime::Bundle& bundle, const formats::FormatView& view,
                                    formats::Side side) {
  if (const Status s = formats::check(view); !s) return tl::unexpected(s.error());
  auto csr = formats::find_converter(view.layout->name)->to_csr(view);
  const auto order = bundle.row_order(side);
  if (!csr || view.layout->name == "csr" || order.empty()) return csr;
  if (const Status s = formats::check_permutation(order, view.rows); !s)
    return fail(s.error().code, "row_order: " + s.error().message);
  return formats::permute_rows(csr->view(), formats::invert_order(order));
}

}  // namespace sptile::tools
