#include "tools/measurer.hpp"

#include <fmt/format.h>

#include "tools/cuda/device_bench.hpp"
#include "tools/json.hpp"

namespace sptile::tools {
namespace {

class HostMeasurer final : public Measurer {
 public:
  explicit HostMeasurer(Session& session) : session_(session) {}

  Result<Measured> measure(const TypedMatrix& matrix, const runtime::PlanMatrix& a,
                           const ProductRequest& request) override {
    auto measured = measure_product(session_, a, matrix.source, request);
    if (!measured) return tl::unexpected(std::move(measured.error()));
    return Measured{std::move(*measured)};
  }

 private:
  Session& session_;
};

class CudaMeasurer final : public Measurer {
 public:
  CudaMeasurer(Session& session, const DeviceBenchOptions& options) : session_(session), options_(options) {}

  Result<Measured> measure(const TypedMatrix& matrix, const runtime::PlanMatrix& a,
                           const ProductRequest& request) override {
    if (Status s = prepare(matrix, request.op, request.n); !s) return tl::unexpected(std::move(s.error()));
    begin(&session_.progress, "run", 0);
    auto measured = device_->measure(a, request);
    if (!measured) return tl::unexpected(std::move(measured.error()));
    return with_columns(matrix, std::move(*measured), gathered_rows(a.format));
  }

  [[nodiscard]] std::span<const std::string_view> yardsticks(std::string_view op) const override {
    return cusparse_yardsticks(op);
  }

  Result<Measured> measure_yardstick(const TypedMatrix& matrix, std::string_view op, std::string_view kernel,
                                     std::int64_t n) override {
    if (Status s = prepare(matrix, op, n); !s) return tl::unexpected(std::move(s.error()));
    begin(&session_.progress, "run", 0);
    auto measured = device_->measure_cusparse(kernel);
    if (!measured) return tl::unexpected(std::move(measured.error()));
    return with_columns(matrix, std::move(*measured), matrix.source.nnz());
  }

  void forget() override { on_device_.clear(); }

  [[nodiscard]] Json facts() const override {
    if (device_ == nullptr) return nullptr;
    const Ceilings& c = device_->ceilings();
    return {{"name", device_->device()},
            {"copy_gbps", c.copy * 1e-9},
            {"l2_gbps", c.l2 * 1e-9},
            {"pinned_gbps", c.pinned * 1e-9}};
  }

 private:
  Status prepare(const TypedMatrix& matrix, std::string_view op, std::int64_t n) {
    if (device_ == nullptr) {
      auto opened = open_device_bench(options_);
      if (!opened) return tl::unexpected(std::move(opened.error()));
      device_ = std::move(*opened);
      const Ceilings& c = device_->ceilings();
      session_.note(fmt::format("{}: copies at {:.0f} GB/s, L2 cache at {:.0f} GB/s", device_->device(),
                                c.copy * 1e-9, c.l2 * 1e-9));
    }
    if (on_device_ != matrix.label()) {
      on_device_.clear();
      if (Status s = device_->set_matrix(matrix.source, matrix.dense_dtype()); !s) return s;
      on_device_ = matrix.label();
    }
    begin(&session_.progress, "reference", 0);
    return device_->set_operands(op, n);
  }

  [[nodiscard]] Measured with_columns(const TypedMatrix& matrix, DeviceMeasurement measured,
                                      std::int64_t gathered) const {
    const formats::CsrView& a = matrix.source;
    // SDDMM writes one number per entry where SpMM reads one.
    const DType values = measured.product.op == "sddmm" ? matrix.dense_dtype() : a.values.dtype;
    const auto value_bytes = values == DType::none ? 0 : static_cast<std::int64_t>(size_of(values));
    const ProductShape shape = {a.rows,
                                a.cols,
                                a.nnz(),
                                measured.product.n,
                                static_cast<std::int64_t>(size_of(matrix.dense_dtype())),
                                value_bytes};
    const std::int64_t compulsory = compulsory_bytes(shape), l2_bytes = gathered * shape.n * shape.element;
    const Roofline roof =
        roofline(compulsory, l2_bytes, device_->ceilings(), measured.product.median_us * 1e-6);
    Measured result{std::move(measured.product)};
    result.columns = {{"floor_us", roof.floor_us},      {"hbm_bytes", compulsory},
                      {"hbm_ratio", roof.hbm_ratio},    {"l2_bytes", l2_bytes},
                      {"l2_gbps", roof.l2_rate * 1e-9}, {"l2_ratio", roof.l2_ratio}};
    if (result.product.checked) result.columns["frobenius"] = measured.frobenius;
    if (measured.pinned_us > 0) result.columns["pinned_us"] = measured.pinned_us;
    return result;
  }

  Session& session_;
  DeviceBenchOptions options_;
  std::unique_ptr<DeviceBench> device_;
  std::string on_device_;  // label of the types whose matrix is there
};

}  // namespace

std::span<const std::string_view> Measurer::yardsticks(std::string_view) const { return {}; }

Result<Measured> Measurer::measure_yardstick(const TypedMatrix&, std::string_view, std::string_view kernel,
                                             std::int64_t) {
  return fail(Errc::unsupported, fmt::format("no {} here", kernel));
}

std::unique_ptr<Measurer> make_host_measurer(Session& session) {
  return std::make_unique<HostMeasurer>(session);
}

std::unique_ptr<Measurer> make_cuda_measurer(Session& session, bool flush_l2, bool check) {
  return std::make_unique<CudaMeasurer>(
      session, DeviceBenchOptions{.flush_l2 = flush_l2, .check = check, .seed = session.common.seed});
}

}  // namespace sptile::tools
