#include "runtime/handle/matrix.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "runtime/core/transpose.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/plan/from_device.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatLayout;

/// Returns the device bytes of a format, its row order and, for refresh, its value_source.
std::size_t upload_bytes(const PlanMatrix& a, bool refreshable) {
  std::int64_t bytes = refreshable ? a.value_source.bytes() : 0;
  for (const ArrayView& array : a.format.arrays) bytes += array.bytes();
  return static_cast<std::size_t>(bytes) + a.row_order.size_bytes();
}

/// Returns whether both formats of a matrix store values in the same order.
bool packed_alike(const HeldFormat& a, const HeldFormat& b) {
  return a.matrix.format.layout == b.matrix.format.layout && a.side == b.side && a.parameter == b.parameter;
}

}  // namespace

std::shared_ptr<Matrix> Matrix::from_bundle(std::shared_ptr<const Bundle> bundle,
                                            const MatrixOptions& options) {
  std::shared_ptr<Matrix> matrix(new Matrix(options));
  matrix->rows_ = bundle->rows();
  matrix->cols_ = bundle->cols();
  matrix->nnz_ = bundle->nnz();
  matrix->dtype_ = bundle->dtype();
  matrix->bundle_ = std::move(bundle);
  return matrix;
}

std::shared_ptr<Matrix> Matrix::from_host(HostCsr csr, const MatrixOptions& options) {
  std::shared_ptr<Matrix> matrix(new Matrix(options));
  matrix->rows_ = csr.view.rows;
  matrix->cols_ = csr.view.cols;
  matrix->nnz_ = csr.view.nnz();
  matrix->dtype_ = csr.view.is_pattern() ? DType::none : csr.view.values.dtype;
  matrix->host_ = std::move(csr);
  return matrix;
}

std::shared_ptr<Matrix> Matrix::from_device(cuda::OwnedCsr csr, const MatrixOptions& options) {
  std::shared_ptr<Matrix> matrix(new Matrix(options));
  matrix->rows_ = csr.csr.rows;
  matrix->cols_ = csr.csr.cols;
  matrix->nnz_ = csr.csr.nnz;
  matrix->dtype_ = csr.csr.value_dtype;
  matrix->device_ = std::move(csr);
  return matrix;
}

std::shared_ptr<Matrix> Matrix::shared(const MatrixOptions& options) const {
  if (bundle_ != nullptr) return from_bundle(bundle_, options);
  return host_ ? from_host(*host_, options) : from_device(*device_, options);
}

std::optional<bool> Matrix::symmetric() const {
  return bundle_ != nullptr ? bundle_->symmetric() : std::nullopt;
}

int Matrix::transposed_count() const {
  return bundle_ != nullptr ? static_cast<int>(bundle_->formats(Side::transpose).size()) : 0;
}

std::vector<const FormatLayout*> Matrix::formats(Side side) const {
  std::vector<const FormatLayout*> all;
  if (bundle_ == nullptr) return {&formats::kCsrLayout};
  for (const formats::FormatView& view : bundle_->formats(side)) all.push_back(view.layout);
  return all;
}

Result<PlanMatrix> Matrix::stored(const FormatLayout& layout, Side side) const {
  if (bundle_ != nullptr) return matrix_of(bundle_, layout.name, side);
  if (host_ && side == Side::matrix && layout.name == formats::kCsrLayout.name)
    return PlanMatrix{formats::as_format(host_->view), {}, {}, host_->owner};
  return fail(Errc::usage, "the matrix has no format " + std::string(layout.name) +
                               "; stored formats: " + (host_ ? "csr" : "CSR arrays in device memory") +
                               "; store it with sptile convert, or sptile.convert(A, formats='" +
                               std::string(layout.name) + "') in Python");
}

Result<formats::CsrView> Matrix::host_csr() const {
  if (device_) return fail(Errc::usage, "the arrays of the matrix are in device memory");
  const formats::CsrView csr = bundle_ != nullptr ? bundle_->csr() : host_->view;
  if (!options_.trusted)
    if (Status s = formats::check_csr(csr, max_threads()); !s) return tl::unexpected(s.error());
  return csr;
}

HoldOptions Matrix::hold_options(const FormatRequest& request) const {
  return {.device = request.device,
          .ordinal = request.ordinal,
          .trusted = options_.trusted,
          .refreshable = options_.refreshable};
}

Status Matrix::check_room(std::size_t bytes) const {
  std::size_t used = 0;
  for (const auto& [key, weak] : held_)
    if (const auto held = weak.lock()) used += held->device_bytes();
  if (used <= options_.most_device_bytes && bytes <= options_.most_device_bytes - used) return {};
  return fail(Errc::device, "plan: a format of " + std::to_string(bytes) +
                                " bytes of device memory exceeds the limit of " +
                                std::to_string(options_.most_device_bytes) + " bytes of the matrix; " +
                                std::to_string(used) + " are in use; destroy plans or raise the limit");
}

/// Converts the CSR matrix on the device, or its transpose.
Result<std::shared_ptr<HeldFormat>> Matrix::convert_csr(const FormatRequest& request,
                                                        const cuda::DeviceCsr& csr) {
  HoldOptions options = hold_options(request);
  options.trusted = true;  // it is checked before the conversion
  if (request.side == Side::matrix)
    return hold_converted(*request.layout, csr, request.parameter, options, request.stream);
  const bool with_positions = options_.refreshable && dtype_ != DType::none;
  const auto transposed = cuda::transpose_on_device(csr, with_positions, request.stream);
  if (!transposed) return tl::unexpected(transposed.error());
  auto held = hold_converted(*request.layout, transposed->csr, request.parameter, options, request.stream);
  if (held && with_positions)
    if (Status s = cuda::follow_positions(*(*held)->on_device, *transposed, request.stream); !s)
      return tl::unexpected(s.error());
  return held;
}

Result<std::shared_ptr<HeldFormat>> Matrix::convert(const FormatRequest& request) {
  if (device_) {
    if (device_->csr.ordinal != request.ordinal)
      return fail(Errc::usage, "plan: the matrix is on CUDA device " + std::to_string(device_->csr.ordinal) +
                                   "; plan for that device");
    return convert_csr(request, device_->csr);
  }
  const auto uploaded = csr_on_device(request.ordinal, request.side);
  if (!uploaded) return tl::unexpected(uploaded.error());
  return convert_csr(request, uploaded->csr);
}

/// Returns the CSR arrays of a host matrix, uploaded, with the row order of the formats of a side.
Result<cuda::UploadedCsr> Matrix::csr_on_device(int ordinal, Side side) const {
  const auto csr = stored(formats::kCsrLayout);
  if (!csr) return tl::unexpected(csr.error());
  const bool ordered = bundle_ != nullptr && side == Side::matrix;
  const auto order = ordered ? bundle_->row_order() : std::span<const std::int32_t>();
  return cuda::upload_csr(formats::as_csr(csr->format), ordinal, order);
}

Status Matrix::give_order(HeldFormat& held, void* stream) {
  if (held.options.device == Device::cpu || held.matrix.format.layout == &formats::kCsrLayout) return {};
  if (held.matrix.value_source.present()) return bring_order(held);
  const std::lock_guard lock(held.uploading);
  cuda::DeviceFormat& format = *held.on_device;
  if (format.value_source.present()) return {};
  const auto uploaded =
      device_ ? cuda::UploadedCsr{device_->csr, nullptr} : csr_on_device(format.ordinal, held.side);
  if (!uploaded) return tl::unexpected(uploaded.error());
  auto made = cuda::make_value_source(format.view, uploaded->csr, {.parameter = held.parameter}, stream);
  if (!made) return tl::unexpected(made.error());
  format.bytes += static_cast<std::size_t>(made->positions.bytes());
  format.value_source = made->positions;
  format.source_memory = std::move(made->memory);
  return {};
}

/// Returns a format in host memory; computes the transpose of CSR arrays.
Result<PlanMatrix> Matrix::on_host(const FormatRequest& request) const {
  if (!host_ || request.side == Side::matrix || request.layout->name != formats::kCsrLayout.name)
    return stored(*request.layout, request.side);
  if (Status s = formats::check_csr(host_->view, max_threads()); !s) return tl::unexpected(s.error());
  const auto transposed = std::make_shared<TransposedCsr>(transpose(host_->view));
  return PlanMatrix{.format = formats::as_format(transposed->view()),
                    .row_order = {},
                    .value_source = ArrayView(transposed->source()),
                    .owner = transposed,
                    .transposed = true};
}

Result<std::shared_ptr<HeldFormat>> Matrix::make(const FormatRequest& request) {
  const bool is_stored = stored(*request.layout, request.side).has_value();
  if (!is_stored && request.device == Device::cuda) {
    auto held = convert(request);
    if (held)
      if (Status s = check_room((*held)->device_bytes()); !s) return tl::unexpected(s.error());
    return held;
  }
  if (device_)
    return fail(Errc::usage,
                "plan: the matrix is in the memory of a CUDA device; plan for CUDA, not the CPU");
  const auto matrix = on_host(request);
  if (!matrix) return tl::unexpected(matrix.error());
  if (request.device == Device::cuda)
    if (Status s = check_room(upload_bytes(*matrix, options_.refreshable)); !s)
      return tl::unexpected(s.error());
  return hold_format(*matrix, hold_options(request));
}

/// A symmetric matrix is its own transpose unless its values can be replaced.
Side Matrix::side_of(Side side) const {
  return symmetric().value_or(false) && !options_.refreshable ? Side::matrix : side;
}

Result<std::shared_ptr<HeldFormat>> Matrix::hold(const FormatRequest& requested) {
  const std::lock_guard lock(mutex_);
  FormatRequest request = requested;
  request.side = side_of(requested.side);
  std::erase_if(held_, [](const auto& entry) { return entry.second.expired(); });
  const Key key{request.layout, request.side, request.parameter, request.device, request.ordinal};
  if (auto held = held_[key].lock()) return held;
  auto made = make(request);
  if (!made) return made;
  (*made)->parameter = request.parameter;
  (*made)->side = request.side;
  held_[key] = *made;
  return made;
}

Status Matrix::catch_up(HeldFormat& held) {
  const std::lock_guard lock(mutex_);
  if (held.version == version_) return {};
  auto values = newest_ != nullptr ? csr_values(*newest_) : Result<std::vector<std::byte>>(fresh_);
  if (!values) return tl::unexpected(values.error());
  if (Status s = refresh_values(held, {fresh_dtype_, values->data(), nnz_}, nullptr); !s) return s;
  held.version = version_;
  return {};
}

std::vector<std::shared_ptr<HeldFormat>> Matrix::live_formats() const {
  std::vector<std::shared_ptr<HeldFormat>> all;
  for (const auto& [key, weak] : held_)
    if (auto held = weak.lock()) all.push_back(std::move(held));
  return all;
}

Status Matrix::check_values(const ArrayView& values) const {
  if (!options_.refreshable) return fail(Errc::usage, "refresh: the matrix was not created as refreshable");
  if (dtype_ == DType::none) return fail(Errc::usage, "refresh: a pattern matrix has no values");
  if (values.size != nnz_ || (values.data == nullptr && nnz_ > 0))
    return fail(Errc::usage, "refresh: got " + std::to_string(values.size) + " values, the matrix has " +
                                 std::to_string(nnz_) + " entries");
  for (const auto& held : live_formats())
    if (held->dtype != values.dtype)
      return fail(Errc::usage, "refresh: got values of " + std::string(name_of(values.dtype)) + ", format " +
                                   std::string(held->matrix.format.layout->name) + " has " +
                                   std::string(name_of(held->dtype)));
  return {};
}

Status Matrix::keep_fresh(ArrayView values, const std::vector<std::shared_ptr<HeldFormat>>& formats) {
  ++version_;
  fresh_dtype_ = values.dtype;
  for (const auto& held : formats) held->version = version_;
  newest_ = formats.empty() ? nullptr : formats.front();
  fresh_.clear();
  if (newest_ != nullptr || values.size == 0) return {};
  fresh_.resize(static_cast<std::size_t>(values.bytes()));
  if (device_ && cuda::is_device_memory(values.data))
    return cuda::download(device_->csr.ordinal, values, fresh_.data());
  std::copy_n(static_cast<const std::byte*>(values.data), fresh_.size(), fresh_.begin());
  return {};
}

/// Converts values from the caller's order of entries to CSR order, on the device of the entries.
Result<ArrayView> Matrix::in_order(ArrayView values, void* stream) {
  if (!device_ || !device_->position.present()) return values;
  if (values.size != device_->position.size || values.dtype != dtype_)
    return fail(Errc::usage, "refresh: got " + std::to_string(values.size) + " values of " +
                                 std::string(name_of(values.dtype)) + ", but the matrix was created from " +
                                 std::to_string(device_->position.size) + " entries of " +
                                 std::string(name_of(dtype_)));
  const int ordinal = device_->csr.ordinal;
  const auto bytes = static_cast<std::size_t>(values.bytes());
  std::shared_ptr<std::byte> uploaded;
  if (!cuda::is_device_memory(values.data)) {
    auto made = cuda::make_scratch(ordinal, {static_cast<const std::byte*>(values.data), bytes}, bytes);
    if (!made) return tl::unexpected(made.error());
    uploaded = std::move(*made);
    values.data = uploaded.get();
  }
  if (sorted_ == nullptr) {
    auto made = cuda::make_scratch(ordinal, std::vector<std::byte>(1),
                                   static_cast<std::size_t>(nnz_) * size_of(dtype_));
    if (!made) return tl::unexpected(made.error());
    sorted_ = std::move(*made);
  }
  if (Status s = cuda::put_values(*device_, values.data, sorted_.get(), stream); !s)
    return tl::unexpected(s.error());
  if (uploaded != nullptr)
    if (Status s = cuda::wait(ordinal, stream); !s) return tl::unexpected(s.error());
  return ArrayView(dtype_, sorted_.get(), nnz_);
}

Status Matrix::refresh(ArrayView given, void* stream) {
  const std::lock_guard lock(mutex_);
  if (!options_.refreshable) return fail(Errc::usage, "refresh: the matrix was not created as refreshable");
  const auto sorted = in_order(given, stream);
  if (!sorted) return tl::unexpected(sorted.error());
  const ArrayView values = *sorted;
  if (Status s = check_values(values); !s) return s;
  const auto formats = live_formats();
  for (const auto& held : formats)
    if (Status s = refresh_values(*held, values, stream); !s) return s;
  return keep_fresh(values, formats);
}

/// Updates formats in other orders with the values that `order` now contains. On a single device the values
/// stay there and the work is enqueued on the stream.
Status Matrix::refresh_others(HeldFormat& order, ArrayView values,
                              const std::vector<std::shared_ptr<HeldFormat>>& others, void* stream) {
  const auto beside = [&](const auto& held) {
    return held->on_device != nullptr && held->options.ordinal == order.options.ordinal;
  };
  if (others.empty()) return {};
  const bool stay = order.on_device != nullptr && std::all_of(others.begin(), others.end(), beside);
  const auto fetched = stay ? Result<std::vector<std::byte>>() : csr_values(order);
  if (!fetched) return tl::unexpected(fetched.error());
  const auto sorted = stay ? cuda::unpack(*order.on_device, values, stream)
                           : Result<ArrayView>(ArrayView(values.dtype, fetched->data(), nnz_));
  if (!sorted) return tl::unexpected(sorted.error());
  for (const auto& held : others)
    if (Status s = refresh_values(*held, *sorted, stay ? stream : nullptr); !s) return s;
  return {};
}

Status Matrix::refresh_packed(HeldFormat& order, ArrayView values, void* stream) {
  const std::lock_guard lock(mutex_);
  if (Status s = check_values(values); !s) return s;
  std::vector<std::shared_ptr<HeldFormat>> alike, others;
  bool is_ours = false;
  for (auto& held : live_formats()) {
    is_ours |= held.get() == &order;
    (packed_alike(order, *held) ? alike : others).push_back(std::move(held));
  }
  if (!is_ours)
    return fail(Errc::usage,
                "refresh: the plan that defines the order of the values belongs to a different matrix");
  for (const auto& held : alike)
    if (Status s = runtime::refresh_packed(*held, values, stream); !s) return s;
  if (Status s = refresh_others(order, values, others, stream); !s) return s;
  alike.insert(alike.end(), others.begin(), others.end());
  return keep_fresh(values, alike);
}

MatrixMemory Matrix::memory() const {
  const std::lock_guard lock(mutex_);
  MatrixMemory all{fresh_.size(), 0};
  for (const auto& held : live_formats()) {
    all.host += held->host_bytes();
    all.device += held->device_bytes();
  }
  return all;
}

}  // namespace sptile::runtime
