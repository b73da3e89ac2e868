#include "runtime/bundle/bundle_matrix.hpp"

#include <algorithm>
#include <string>

namespace sptile::runtime {

namespace {

Status no_format(const Bundle& bundle, std::string_view format, Side side) {
  std::string names;
  for (const formats::FormatView& held : bundle.formats(side))
    names += (names.empty() ? "" : ", ") + std::string(held.layout->name);
  return fail(Errc::usage, "the bundle has no format " + std::string(format) +
                               (side == Side::transpose ? " of the transpose" : "") +
                               "; stored formats: " + names + "; store it with 'sptile convert --format " +
                               std::string(format) + "'");
}

}  // namespace

Status check_side(const Bundle& bundle, Side side) {
  if (!bundle.formats(side).empty()) return {};
  return fail(Errc::usage, "the bundle has no transpose; convert with `sptile convert --transpose`");
}

Result<PlanMatrix> matrix_of(const std::shared_ptr<const Bundle>& bundle, std::string_view format,
                             Side side) {
  if (Status s = check_side(*bundle, side); !s) return tl::unexpected(s.error());
  const formats::FormatView* view = bundle->format(format, side);
  if (view == nullptr) return tl::unexpected(no_format(*bundle, format, side).error());
  const auto order = format == "csr" ? std::span<const std::int32_t>() : bundle->row_order(side);
  const bool transposed = side == Side::transpose;
  const bool shared = bundle->symmetric().value_or(false);
  return PlanMatrix{.format = *view,
                    .row_order = order,
                    .value_source = bundle->value_source(format, side),
                    .owner = bundle,
                    .transposed = transposed,
                    .own_transpose = transposed && !shared,
                    .stored = bundle->plans()};
}

Result<std::vector<PlanMatrix>> matrices_of(const std::shared_ptr<const Bundle>& bundle,
                                            std::string_view formats, Side side) {
  if (Status s = check_side(*bundle, side); !s) return tl::unexpected(s.error());
  std::vector<std::string_view> names;
  if (formats.empty() || formats == "auto") {
    for (const formats::FormatView& held : bundle->formats(side)) names.push_back(held.layout->name);
  } else {
    for (std::size_t at = 0, comma = 0; comma < formats.size(); at = comma + 1) {
      comma = std::min(formats.find(',', at), formats.size());
      names.push_back(formats.substr(at, comma - at));
    }
  }
  std::vector<PlanMatrix> matrices;
  for (const std::string_view name : names) {
    Result<PlanMatrix> matrix = matrix_of(bundle, name, side);
    if (!matrix) return tl::unexpected(matrix.error());
    matrices.push_back(std::move(*matrix));
  }
  return matrices;
}

}  // namespace sptile::runtime
