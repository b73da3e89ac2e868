#include "tools/cuda/device_product.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "formats/core/csr.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/upload.hpp"
#include "tools/measure/operations.hpp"

namespace sptile::tools::cuda {
namespace {

using runtime::cuda::check;
using runtime::cuda::DeviceBuffer;
using runtime::cuda::Uploader;

Status check_code(int code, const char* what) { return check(static_cast<cudaError_t>(code), what); }

Status allocate(DeviceBuffer& to, std::size_t bytes, const char* what) {
  to = DeviceBuffer();  // frees the old buffer first
  auto made = DeviceBuffer::allocate(std::max<std::size_t>(bytes, 1), what);
  if (!made) return tl::unexpected(made.error());
  to = std::move(*made);
  return {};
}

template <class T>
Status upload(DeviceBuffer& to, std::span<const T> items, const char* what) {
  if (Status s = allocate(to, items.size_bytes(), what); !s) return s;
  Uploader uploader;
  if (Status s = uploader.copy(to.data(), items.data(), items.size_bytes()); !s) return s;
  return uploader.finish();
}

std::span<const std::byte> bytes_of(const ArrayView& array) {
  return {static_cast<const std::byte*>(array.data), static_cast<std::size_t>(array.bytes())};
}

// Returns the values converted to a type, or ones.
formats::Array values_as(const formats::CsrView& source, DType dense) {
  if (!source.is_pattern()) return formats::convert_values(source.values, dense);
  formats::Buffer<float> ones(source.nnz());
  std::fill(ones.begin(), ones.end(), 1.0F);
  formats::Array floats(std::move(ones));
  return dense == DType::f32 ? std::move(floats) : formats::convert_values(floats.view(), dense);
}

}  // namespace

Status DeviceProduct::set_matrix(const formats::CsrView& source, const runtime::DenseTypes& dense) {
  op_ = nullptr;
  source_ = source;
  if (source.nnz() > INT32_MAX)
    return fail(Errc::unsupported, "the device reference supports fewer than 2^31 entries");
  const std::vector<std::int32_t> offsets(source.row_ptr.begin(), source.row_ptr.end());
  formats::Array converted;
  if (source.values.dtype != dense.operands) converted = values_as(source, dense.operands);
  const ArrayView values = converted.present() ? converted.view() : source.values;
  Status s = upload(row_ptr_, std::span<const std::int32_t>(offsets), "row pointers");
  if (s) s = upload(columns_, source.col_idx, "columns");
  if (s) s = upload(values_, bytes_of(values), "values");
  csr_ = {source.rows,
          source.cols,
          source.nnz(),
          reinterpret_cast<const std::int32_t*>(row_ptr_.data()),
          reinterpret_cast<const std::int32_t*>(columns_.data()),
          values_.data(),
          dense.operands,
          dense.result};
  return s;
}

std::int64_t DeviceProduct::size_of_operand(const runtime::OperandSpec& spec) const {
  return *elements_of(spec, host_->sizes());
}

Status DeviceProduct::make_operand(std::size_t i, std::uint64_t seed) {
  const runtime::OperandSpec& spec = op_->operands[i];
  const std::string name(spec.name);
  operands_.dense[i] = {nullptr, shape_of(spec, host_->sizes()).width};
  if (is_left_out(spec)) return {};
  const std::int64_t size = size_of_operand(spec);
  const std::size_t bytes = static_cast<std::size_t>(size) * size_of(type_of(spec, types()));
  if (Status s = allocate(buffers_[i], bytes, name.c_str()); !s) return s;
  operands_.dense[i].data = buffers_[i].data();
  if (spec.result || size == 0) return {};
  if (spec.element == runtime::Element::index)
    return check(cudaMemset(buffers_[i].data(), 0, bytes), ("filling " + name).c_str());
  return check_code(fill_uniform(buffers_[i].data(), csr_.dtype, size, -1, 1, seed + i),
                    ("filling " + name).c_str());
}

Status DeviceProduct::make_operands(std::uint64_t seed) {
  for (std::size_t i = 0; i < op_->operands.size(); ++i)
    if (Status s = make_operand(i, seed); !s) return s;
  return {};
}

Status DeviceProduct::set_operands(const runtime::Operation& op, std::int64_t n,
                                   const OperandOptions& options) {
  for (auto* const buffers : {&buffers_, &ordered_})
    for (Buffer& buffer : *buffers) buffer = Buffer();
  sums_ = Buffer();
  absolute_sums_ = Buffer();
  op_ = &op;
  n_ = n;
  host_.emplace(HostProductOptions{options.attributes, options.seed});
  host_->set_matrix(source_, types());
  host_->set_operands(op, n);
  operands_ = options.attributes.run;
  on_host_ =
      options.reference && (reference_of(op) == nullptr || !attributes_text(options.attributes).empty());
  Status s = on_host_ ? make_host_operands() : make_operands(options.seed);
  if (s && options.reference && !on_host_) s = make_reference();
  if (!s) op_ = nullptr;
  return s;
}

Status DeviceProduct::make_host_operands() {
  host_->make_operands();
  operands_ = host_->operands();
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    if (operands_.dense[i].data == nullptr) continue;
    const ArrayView array = host_->array(i).view();
    if (Status s = upload(buffers_[i], bytes_of(array), std::string(op_->operands[i].name).c_str()); !s)
      return s;
    operands_.dense[i].data = buffers_[i].data();
  }
  return {};
}

Status DeviceProduct::make_reference() {
  const Reference reference = reference_of(*op_);
  const auto size = static_cast<std::size_t>(result_size());
  Status s = allocate(sums_, size * sizeof(double), "the reference");
  if (s) s = allocate(absolute_sums_, size * sizeof(float), "the reference");
  if (!s) return s;
  reference_ = {reinterpret_cast<double*>(sums_.data()), reinterpret_cast<float*>(absolute_sums_.data())};
  return check_code(reference(csr_, operands_, n_, reference_), "computing the reference");
}

Status DeviceProduct::order_list(std::size_t i) {
  ordered_[i] = Buffer();
  operands_.dense[i].data = buffers_[i].data();
  if (value_source_.size() == 0) return {};
  const std::string name(op_->operands[i].name);
  if (Status s = allocate(ordered_[i], buffers_[i].size(), name.c_str()); !s) return s;
  operands_.dense[i].data = ordered_[i].data();
  const auto* const source = reinterpret_cast<const std::int64_t*>(value_source_.data());
  const std::size_t width = size_of(type_of(op_->operands[i], types()));
  return check(
      runtime::cuda::gather(ordered_[i].data(), buffers_[i].data(), source, csr_.nnz, width, nullptr),
      ("ordering " + name).c_str());
}

Status DeviceProduct::set_value_source(const ArrayView& source) {
  value_source_ = Buffer();
  if (on_host_) return {};  // lists are random in any order
  Status s;
  if (source.present()) s = upload(value_source_, bytes_of(source), "the order of lists");
  for (std::size_t i = 0; s && i < op_->operands.size(); ++i) {
    const runtime::OperandSpec& spec = op_->operands[i];
    if (spec.extent == runtime::Extent::entries && !spec.result) s = order_list(i);
  }
  return s;
}

Status DeviceProduct::clear_results() {
  for (std::size_t i = 0; i < op_->operands.size(); ++i)
    if (op_->operands[i].result && buffers_[i].size() > 0)
      if (Status s =
              check(cudaMemset(buffers_[i].data(), 0xFF, buffers_[i].size()), "filling a result with NaN");
          !s)
        return s;
  return {};
}

Result<Errors> DeviceProduct::compare_on_host(const runtime::PlanMatrix& a) {
  for (std::size_t i = 0; i < op_->operands.size(); ++i) {
    if (!op_->operands[i].result || operands_.dense[i].data == nullptr) continue;
    const auto bytes = static_cast<std::size_t>(host_->array(i).view().bytes());
    if (Status s =
            check(cudaMemcpy(host_->array(i).data(), buffers_[i].data(), bytes, cudaMemcpyDeviceToHost),
                  "running a kernel");
        !s)
      return tl::unexpected(s.error());
  }
  const auto relative = host_->error(a, {}, nullptr);
  if (!relative) return tl::unexpected(relative.error());
  return Errors{*relative, std::numeric_limits<double>::quiet_NaN()};
}

Result<Errors> DeviceProduct::compare(const runtime::PlanMatrix* a) {
  if (on_host_ && a != nullptr) return compare_on_host(*a);
  Errors errors;
  const std::size_t last = op_->operands.size() - 1;
  const void* const result = operands_.dense[last].data;
  // Inputs may be lists of entries although the result is none.
  const bool is_list = op_->operands[last].extent == runtime::Extent::entries;
  const auto* const source = is_list ? reinterpret_cast<const std::int64_t*>(value_source_.data()) : nullptr;
  const Status s = check_code(measure_errors(result, csr_.result, reference_, source, result_size(), errors),
                              "running a kernel");
  if (!s) return tl::unexpected(s.error());
  return errors;
}

}  // namespace sptile::tools::cuda
