#include "tools/measure/bench_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/layout/bundle_layout.hpp"
#include "reorder/quality/quality.hpp"
#include "tools/measure/product_request.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {
namespace {
formats::CsrView rounded_view(formats::CsrView a, DType values, formats::Array& storage) {
  if (a.is_pattern() || a.values.dtype == values) return a;
  storage = formats::convert_values(a.values, values);
  a.values = storage.view();
  return a;
}

std::string content_hash(const formats::CsrView& a) {
  formats::BundleHasher hasher;
  hasher.add(a.row_ptr.data(), a.row_ptr.size_bytes());
  hasher.add(a.col_idx.data(), a.col_idx.size_bytes());
  if (!a.is_pattern()) hasher.add(a.values.data, static_cast<std::uint64_t>(a.values.bytes()));
  return fmt::format("{:016x}", hasher.hash());
}
}  // namespace

runtime::DenseTypes TypedMatrix::dense_types() const {
  return tools::dense_types(dense, result, source.values.dtype);
}

std::string TypedMatrix::label() const {
  const auto [operands, of_result] = dense_types();
  return fmt::format("{} x {}{}", dtype_label(source.values.dtype), name_of(operands),
                     of_result == operands ? "" : fmt::format(" to {}", name_of(of_result)));
}

DType common_type(const std::vector<PrecisionChoice>& precisions) {
  DType type = precisions.front().values;
  for (const PrecisionChoice& p : precisions)
    if (p.values != type) type = type == DType::f64 || p.values == DType::f64 ? DType::f64 : DType::f32;
  return type;
}

std::vector<TypedMatrix> with_types(const std::string& name, const formats::CsrView& a,
                                    const std::vector<PrecisionChoice>& precisions) {
  std::vector<TypedMatrix> groups;
  for (const PrecisionChoice& p : precisions) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const TypedMatrix& g) {
      return g.values == p.values && g.dense == p.dense && g.result == p.result;
    });
    if (known != groups.end()) {
      known->precisions.push_back(p);
      continue;
    }
    TypedMatrix group{name, p.values, p.dense, p.result, {p}, a, {}, {}};
    group.source = rounded_view(a, p.values, group.rounded);
    group.content = content_hash(group.source);
    groups.push_back(std::move(group));
  }
  return groups;
}

Status OrderedMatrix::compute(Session& session) {
  if (ready_) return {};
  const Stopwatch watch;
  auto computed = compute_order(session, ordering_, source_);
  if (!computed) return tl::unexpected(std::move(computed.error()));
  facts_["reorder_us"] = watch.seconds() * 1e6;
  order_ = std::move(*computed);
  const reorder::WindowQuality quality = reorder::measure_windows(source_, order_, ordering_.window_rows);
  facts_.update({{"tc_blocks", quality.tc_blocks}, {"mean_nnz_tc", quality.mean_nnz_tc}});
  if (!order_.empty()) permuted_ = formats::permute_rows(source_, order_);
  ready_ = true;
  return {};
}

formats::CsrView OrderedMatrix::view(DType values, formats::Array& storage) const {
  return rounded_view(order_.empty() ? source_ : permuted_.view(), values, storage);
}

}  // namespace sptile::tools
