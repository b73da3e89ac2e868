#include "tools/calibrate/selector_sampling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/convert/hc_window.hpp"
#include "runtime/operation/spmm.hpp"
#include "tools/calibrate/window_matrices.hpp"
#include "tools/measure/random_operands.hpp"

namespace sptile::tools {
namespace {

// A matrix with all windows on either kind of core.
struct BothCores {
  formats::FormatData tensor, cuda;
};

Result<BothCores> convert_both(const formats::CsrView& a) {
  auto tensor = formats::hc_window_from_csr_at(a, formats::hc_parameter(formats::kHcAllTensor), nullptr);
  if (!tensor) return tl::unexpected(tensor.error());
  auto cuda = formats::hc_window_from_csr_at(a, formats::hc_parameter(formats::kHcAllCuda), nullptr);
  if (!cuda) return tl::unexpected(cuda.error());
  return BothCores{std::move(*tensor), std::move(*cuda)};
}

Result<Measurement> measure_one(const SelectorSampling& sampling, const formats::FormatData& data) {
  auto measured = sampling.bench->measure({data.view(), {}, {}, nullptr}, {sampling.kernel, {}});
  if (!measured) return measured;
  if (Status s = check_outcome(*measured); !s) return tl::unexpected(s.error());
  measured->median_us = std::max(measured->median_us, 0.01);
  return measured;
}

Result<SelectorSample> compare(Session& session, const SelectorSampling& sampling, const WindowShape& shape,
                               const BothCores& matrix) {
  const auto tensor = measure_one(sampling, matrix.tensor);
  if (!tensor) return tl::unexpected(tensor.error());
  const auto cuda = measure_one(sampling, matrix.cuda);
  if (!cuda) return tl::unexpected(cuda.error());
  session.detail(fmt::format(
      "windows of {} columns and {} entries, N={} {}: {:.1f} us on tensor cores, "
      "{:.1f} us on CUDA cores",
      shape.columns, shape.entries, tensor->n, tensor->precision, tensor->median_us, cuda->median_us));
  return SelectorSample{tensor->kernel, tensor->precision, tensor->n,
                        shape,          tensor->median_us, cuda->median_us};
}

// Measures one shape with every N and one value type.
Status sample_shape(Session& session, const SelectorSampling& sampling, const WindowShape& shape,
                    const formats::CsrView& a, std::vector<SelectorSample>& found) {
  const auto matrix = convert_both(a);
  if (!matrix) return tl::unexpected(matrix.error());
  if (Status s = sampling.bench->set_matrix(a, a.values.dtype); !s) return s;
  for (const std::int64_t n : sampling.columns) {
    if (Status s = sampling.bench->set_operands(runtime::kSpmm, n); !s) return s;
    auto sample = compare(session, sampling, shape, *matrix);
    if (!sample) return tl::unexpected(std::move(sample.error()));
    found.push_back(std::move(*sample));
  }
  return {};
}

}  // namespace

Result<std::vector<SelectorSample>> sample_selectors(Session& session, const SelectorSampling& sampling) {
  std::vector<SelectorSample> found;
  begin(&session.progress, "measure windows", std::ssize(sampling.shapes));
  for (const WindowShape& shape : sampling.shapes) {
    formats::Csr a = make_windows(shape, sampling.windows, sampling.matrix_cols, session.seed);
    for (const DType dtype : {DType::f32, DType::f16}) {
      a.values = random_values(a.view(), dtype, session.seed);
      if (Status s = sample_shape(session, sampling, shape, a.view(), found); !s)
        return tl::unexpected(std::move(s.error()));
    }
    if (cancelled(&session.progress)) return fail(Errc::io, "cancelled");
    advance(&session.progress, 1);
  }
  return found;
}

}  // namespace sptile::tools
