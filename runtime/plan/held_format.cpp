#include "runtime/plan/held_format.hpp"

#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/format_check.hpp"
#include "runtime/threads/count.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatView;

/// Returns whether an array contains each of its positions once.
template <class T>
bool is_permutation(std::span<const T> ids) {
  const auto count = static_cast<std::int64_t>(ids.size());
  std::vector<std::uint64_t> seen((ids.size() + 63) / 64);
  bool good = true;
#pragma omp parallel for schedule(static) num_threads(max_threads()) reduction(&& : good) if (count > 1 << 15)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(ids[static_cast<std::size_t>(i)]);  // negative ids become large
    const std::uint64_t bit = std::uint64_t{1} << id % 64;
    good = good && id < ids.size() &&
           (std::atomic_ref(seen[id / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  return good;
}

/// Errc::bad_input, with the first invalid position, unless an array contains each of its positions once.
template <class T>
Status check_permutation(std::span<const T> ids, const char* array, const char* what) {
  if (is_permutation(ids)) return {};
  std::vector<bool> seen(ids.size());
  std::size_t i = 0;
  for (; i + 1 < ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(ids[i]);
    if (id >= ids.size() || seen[id]) break;
    seen[id] = true;
  }
  return fail(Errc::bad_input, std::string(array) + "[" + std::to_string(i) +
                                   "] = " + std::to_string(ids[i]) + "; expected each " + what + " of 0 to " +
                                   std::to_string(ids.size() - 1) + " once");
}

/// Extent of the checks on the host.
enum class Checks {
  lengths,
  offsets,  ///< lengths and the offsets that the division of work reads
  all,
};

/// Returns the checks before planning; a device checks the rest after the upload.
Checks first_checks(const PlanMatrix& a, const HoldOptions& options) {
  if (options.trusted) return Checks::lengths;
  const bool later = options.device == Device::cuda && cuda::has_device_check(*a.format.layout);
  return later ? Checks::offsets : Checks::all;
}

Status check_arrays(const FormatView& view, Checks checks) {
  if (checks == Checks::all) return formats::check(view, max_threads());
  Status s = view.layout->check_lengths(view);
  return s && checks == Checks::offsets ? view.layout->check_offsets(view, max_threads()) : s;
}

Status check_row_order(const PlanMatrix& a, Checks checks) {
  if (a.row_order.empty()) return {};
  if (std::ssize(a.row_order) != a.format.rows)
    return fail(Errc::bad_input, "row_order has " + std::to_string(a.row_order.size()) +
                                     " rows, the matrix " + std::to_string(a.format.rows));
  return checks == Checks::all ? check_permutation(a.row_order, "row_order", "row") : Status{};
}

/// Returns whether values are in the order of the source CSR.
bool in_csr_order(const PlanMatrix& a) {
  return a.format.layout->name == "csr" && !a.transposed && a.row_order.empty() && !a.value_source.present();
}

Status no_value_source() {
  return fail(Errc::usage,
              "plan: refreshable plans and results in CSR order need value_source, one i64 position per "
              "entry; convert with --refreshable");
}

Status check_value_source(const PlanMatrix& a, Checks checks) {
  if (in_csr_order(a)) return {};
  if (a.value_source.dtype != DType::i64 || a.value_source.size != a.format.nnz) return no_value_source();
  return checks == Checks::all ? check_permutation(a.value_source.as<std::int64_t>(), "value_source", "entry")
                               : Status{};
}

/// Returns whether the values can be replaced.
bool has_fresh_values(const PlanMatrix& a, const HoldOptions& options) {
  return options.refreshable && a.format.value_dtype() != DType::none;
}

Status check_matrix(const PlanMatrix& a, const HoldOptions& options, Checks checks) {
  if (Status s = check_arrays(a.format, checks); !s) return s;
  if (Status s = check_row_order(a, checks); !s) return s;
  return has_fresh_values(a, options) ? check_value_source(a, checks) : Status{};
}

/// Calls f for each value array of a format, in order.
template <class F>
void for_each_values(FormatView& view, F f) {
  for (std::size_t i = 0; i < view.layout->arrays.size(); ++i)
    if (view.layout->arrays[i].holds_values && view.arrays[i].present()) f(view.arrays[i]);
}

/// Copies the values and redirects the format's arrays to the copy.
void own_values(HeldFormat& held) {
  FormatView& view = held.matrix.format;
  std::size_t bytes = 0;
  for_each_values(view, [&](const ArrayView& v) { bytes += static_cast<std::size_t>(v.bytes()); });
  held.values.resize(bytes);
  std::byte* next = held.values.data();
  for_each_values(view, [&](ArrayView& v) {
    if (v.size > 0) std::memcpy(next, v.data, static_cast<std::size_t>(v.bytes()));
    v.data = next;
    next += v.bytes();
  });
}

std::shared_ptr<HeldFormat> make_held(const PlanMatrix& a, const HoldOptions& options) {
  auto held = std::make_shared<HeldFormat>();
  held->matrix = a;
  held->options = options;
  held->dtype = a.format.value_dtype();
  return held;
}

/// Checks new values.
Status check_values(const HeldFormat& held, const ArrayView& values, void* stream) {
  if (!held.options.refreshable) return fail(Errc::usage, "refresh: the plan was not created as refreshable");
  if (held.dtype == DType::none) return fail(Errc::usage, "refresh: a pattern matrix has no values");
  const std::int64_t nnz = held.matrix.format.nnz;
  if (values.dtype != held.dtype || values.size != nnz || (values.data == nullptr && nnz > 0))
    return fail(Errc::usage, "refresh: got " + std::to_string(values.size) + " values of " +
                                 std::string(name_of(values.dtype)) + ", the plan needs " +
                                 std::to_string(nnz) + " of " + std::string(name_of(held.dtype)));
  if (stream != nullptr && held.options.device == Device::cpu)
    return fail(Errc::usage, "refresh: a CPU plan does not accept a stream");
  return {};
}

}  // namespace

std::size_t HeldFormat::host_bytes() const {
  std::size_t bytes = values.size();
  for (const std::vector<std::byte>& array : index) bytes += array.size();
  return bytes;
}

std::size_t HeldFormat::device_bytes() {
  const std::lock_guard lock(uploading);
  return on_device == nullptr ? 0 : on_device->bytes;
}

Result<std::shared_ptr<HeldFormat>> hold_format(const PlanMatrix& a, const HoldOptions& options) {
  if (a.format.layout == nullptr) return fail(Errc::usage, "plan: the matrix has no format");
  const Checks checks = first_checks(a, options);
  if (Status s = check_matrix(a, options, checks); !s) return tl::unexpected(s.error());
  auto held = make_held(a, options);
  held->proven = checks != Checks::offsets;
  held->ordered = has_fresh_values(a, options);  // validated now, or below with the other arrays
  if (options.device == Device::cpu && has_fresh_values(a, options)) own_values(*held);
  return held;
}

Status check_held(const HeldFormat& held) { return check_matrix(held.matrix, held.options, Checks::all); }

Result<std::shared_ptr<HeldFormat>> hold_device_format(cuda::DeviceFormat&& format,
                                                       const HoldOptions& options) {
  auto held = make_held({format.view, {}, {}, nullptr}, options);
  for (std::size_t i = 0; i < format.view.layout->arrays.size(); ++i) {
    const formats::ArraySpec& spec = format.view.layout->arrays[i];
    ArrayView& array = held->matrix.format.arrays[i];
    if (!spec.holds_values && !spec.holds_columns) {
      held->index[i].resize(static_cast<std::size_t>(array.bytes()));
      if (Status s = cuda::download(options.ordinal, array, held->index[i].data()); !s)
        return tl::unexpected(s.error());
    }
    array.data = held->index[i].data();
  }
  held->on_device = std::make_shared<cuda::DeviceFormat>(std::move(format));
  return held;
}

Status prove_order(HeldFormat& held) {
  const std::lock_guard lock(held.uploading);
  const bool missing = !held.matrix.value_source.present() && held.options.device == Device::cuda;
  if (held.ordered || missing) return {};  // can be computed on the device
  if (Status s = check_value_source(held.matrix, held.options.trusted ? Checks::lengths : Checks::all); !s)
    return s;
  held.ordered = true;
  return {};
}

Status bring_order(HeldFormat& held) {
  const std::lock_guard lock(held.uploading);
  if (in_csr_order(held.matrix) || held.on_device->value_source.present()) return {};
  if (!held.matrix.value_source.present()) return no_value_source();
  return cuda::upload_source(*held.on_device, held.matrix.value_source);
}

namespace {

/// Returns value_source in host memory; empty if values are in CSR order.
Result<std::vector<std::int64_t>> source_of(const HeldFormat& held) {
  const ArrayView source =
      held.on_device != nullptr ? held.on_device->value_source : held.matrix.value_source;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(source.size));
  if (positions.empty()) return positions;
  if (held.on_device == nullptr) {
    std::memcpy(positions.data(), source.data, static_cast<std::size_t>(source.bytes()));
  } else if (Status s = cuda::download(held.options.ordinal, source, positions.data()); !s) {
    return tl::unexpected(s.error());
  }
  return positions;
}

}  // namespace

Result<std::vector<std::byte>> to_csr_order(const HeldFormat& order, ArrayView packed) {
  const auto source = source_of(order);
  if (!source) return tl::unexpected(source.error());
  const auto* from = static_cast<const std::byte*>(packed.data);
  std::vector<std::byte> values(from, from + packed.bytes());
  const std::size_t width = size_of(packed.dtype);
  for (const std::int64_t position : *source) {
    std::memcpy(values.data() + static_cast<std::size_t>(position) * width, from, width);
    from += width;
  }
  return values;
}

Result<std::vector<std::byte>> csr_values(const HeldFormat& held) {
  std::vector<std::byte> packed = held.values;
  if (held.on_device != nullptr) {
    const FormatView& view = held.on_device->view;
    packed.resize(static_cast<std::size_t>(view.nnz) * size_of(held.dtype));
    std::byte* to = packed.data();
    for (std::size_t i = 0; i < view.layout->arrays.size(); ++i) {
      if (!view.layout->arrays[i].holds_values) continue;
      if (Status s = cuda::download(held.options.ordinal, view.arrays[i], to); !s)
        return tl::unexpected(s.error());
      to += view.arrays[i].bytes();
    }
  }
  return to_csr_order(held, {held.dtype, packed.data(), held.matrix.format.nnz});
}

Status refresh_packed(HeldFormat& held, ArrayView values, void* stream) {
  if (Status s = check_values(held, values, stream); !s || values.size == 0) return s;
  if (held.on_device != nullptr) return cuda::refresh_packed(*held.on_device, values.data, stream);
  std::memcpy(held.values.data(), values.data, held.values.size());
  return {};
}

Status refresh_values(HeldFormat& held, ArrayView values, void* stream) {
  if (Status s = check_values(held, values, stream); !s || values.size == 0) return s;
  if (held.on_device != nullptr) return cuda::refresh(*held.on_device, values, stream);
  const auto* from = static_cast<const std::byte*>(values.data);
  if (!held.matrix.value_source.present()) {
    std::memcpy(held.values.data(), from, held.values.size());
    return {};
  }
  const std::size_t width = size_of(held.dtype);
  std::byte* to = held.values.data();
  for (const std::int64_t position : held.matrix.value_source.as<std::int64_t>()) {
    std::memcpy(to, from + static_cast<std::size_t>(position) * width, width);
    to += width;
  }
  return {};
}

}  // namespace sptile::runtime
