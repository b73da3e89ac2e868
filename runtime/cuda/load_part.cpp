// The CUDA interface in programs and libraries without CUDA kernels. libsptile, which is compiled with the
// name of libsptile-cuda as SPTILE_CUDA_LIBRARY, loads that library; other programs return errors.
#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <type_traits>
#include <utility>

#include "runtime/cuda/part.hpp"

namespace sptile::runtime::cuda {
namespace {

#ifdef SPTILE_CUDA_LIBRARY
struct Loaded {
  const Part* part = nullptr;
  std::string reason = {};  ///< why no library is loaded
};

/// Returns the path next to the library that contains this code if the file exists; otherwise the loader
/// searches.
std::string place() {
  static const char here = 0;
  Dl_info info;
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return SPTILE_CUDA_LIBRARY;
  const std::string self(info.dli_fname);
  const std::string adjacent = self.substr(0, self.rfind('/') + 1) + SPTILE_CUDA_LIBRARY;
  return ::access(adjacent.c_str(), F_OK) == 0 ? adjacent : SPTILE_CUDA_LIBRARY;
}

/// Never unloads the library, as CUDA requires.
Loaded load() {
  void* const library = ::dlopen(place().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : ::dlsym(library, kPartFunction);
  if (function == nullptr) return {nullptr, ::dlerror()};
  return {reinterpret_cast<const Part* (*)()>(function)()};
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

const Part* part() { return loaded().part; }

tl::unexpected<Error> refusal() {
  return fail(Errc::unsupported, "cannot load the CUDA kernels (" + loaded().reason + "); install " +
                                     SPTILE_CUDA_LIBRARY + " next to libsptile, or use the CPU");
}
#else
const Part* part() { return nullptr; }

tl::unexpected<Error> refusal() {
  return fail(Errc::unsupported, "this build has no CUDA kernels; use the CPU, or build with nvcc");
}
#endif

/// Returns an error, or an empty value for functions that do not return a Result.
template <class R>
R nothing() {
  using Value = std::remove_cvref_t<R>;
  if constexpr (std::is_constructible_v<R, tl::unexpected<Error>>) {
    return refusal();
  } else if constexpr (std::is_reference_v<R>) {
    static const Value none{};
    return none;
  } else {
    return Value{};
  }
}

template <auto Function, class... Arguments>
auto call(Arguments&&... arguments) -> decltype((std::declval<Part>().*Function)(arguments...)) {
  if (const Part* const there = part()) return (there->*Function)(std::forward<Arguments>(arguments)...);
  return nothing<decltype((std::declval<Part>().*Function)(arguments...))>();
}

}  // namespace

bool built() { return call<&Part::built>(); }
Versions versions() { return call<&Part::versions>(); }
std::span<const int> built_capabilities() { return call<&Part::built_capabilities>(); }
Result<DeviceInfo> find_device(int ordinal) { return call<&Part::find_device>(ordinal); }
int device_count() { return call<&Part::device_count>(); }

std::span<const DeviceKernel> instances_named(std::string_view kernel) {
  return call<&Part::instances_named>(kernel);
}

Result<std::shared_ptr<Plan>> make_plan(const PlanRequest& request) {
  return call<&Part::make_plan>(request);
}

const std::shared_ptr<DeviceFormat>& matrix_of(const Plan& plan) { return call<&Part::matrix_of>(plan); }

Status run(const Plan& plan, const Operands& operands, void* stream) {
  return call<&Part::run>(plan, operands, stream);
}

Result<std::vector<double>> run_from_host(const Plan& plan, const Operands& host, int warmup, int repeat) {
  return call<&Part::run_from_host>(plan, host, warmup, repeat);
}

Result<std::shared_ptr<std::byte>> make_scratch(int ordinal, std::span<const std::byte> pattern,
                                                std::size_t bytes) {
  return call<&Part::make_scratch>(ordinal, pattern, bytes);
}

Result<std::vector<double>> time_groups(const Plan& plan, const Operands& operands, int groups, int runs) {
  return call<&Part::time_groups>(plan, operands, groups, runs);
}

Status wait(int ordinal, void* stream) { return call<&Part::wait>(ordinal, stream); }

bool is_device_memory(const void* pointer) { return call<&Part::is_device_memory>(pointer); }

Status refresh(DeviceFormat& matrix, ArrayView values, void* stream) {
  return call<&Part::refresh>(matrix, values, stream);
}

Status refresh_packed(DeviceFormat& matrix, const void* values, void* stream) {
  return call<&Part::refresh_packed>(matrix, values, stream);
}

Status upload_source(DeviceFormat& matrix, ArrayView source) {
  return call<&Part::upload_source>(matrix, source);
}

Result<ArrayView> unpack(DeviceFormat& order, ArrayView packed, void* stream) {
  return call<&Part::unpack>(order, packed, stream);
}

std::size_t workspace_bytes(const Plan& plan) { return call<&Part::workspace_bytes>(plan); }
std::int64_t least_n(const Plan& plan) { return call<&Part::least_n>(plan); }

const ScheduleHeader& schedule_header(const Plan& plan) { return call<&Part::schedule_header>(plan); }

bool has_device_check(const formats::FormatLayout& layout) { return call<&Part::has_device_check>(layout); }

Status start_check(const DeviceFormat& format, std::uint32_t* fault, void* stream) {
  return call<&Part::start_check>(format, fault, stream);
}

Result<DeviceFormat> convert_on_device(const formats::FormatLayout& layout, const DeviceCsr& csr,
                                       const ConvertParameters& parameters, void* stream) {
  return call<&Part::convert_on_device>(layout, csr, parameters, stream);
}

Result<OwnedCsr> canonical_csr(const DeviceEntries& entries, const EntryOptions& options, void* stream) {
  return call<&Part::canonical_csr>(entries, options, stream);
}

Result<OwnedCsr> join_csr(std::span<const DeviceEntries> parts, Arrangement arrangement,
                          const EntryOptions& options, void* stream) {
  return call<&Part::join_csr>(parts, arrangement, options, stream);
}

Status put_values(const OwnedCsr& a, const void* from, void* to, void* stream) {
  return call<&Part::put_values>(a, from, to, stream);
}

Result<UploadedCsr> upload_csr(const formats::CsrView& a, int ordinal,
                               std::span<const std::int32_t> row_order) {
  return call<&Part::upload_csr>(a, ordinal, row_order);
}

Status download(int ordinal, const ArrayView& array, void* to) {
  return call<&Part::download>(ordinal, array, to);
}

Result<OwnedCsr> transpose_on_device(const DeviceCsr& a, bool with_positions, void* stream) {
  return call<&Part::transpose_on_device>(a, with_positions, stream);
}

Status follow_positions(DeviceFormat& format, const OwnedCsr& transposed, void* stream) {
  return call<&Part::follow_positions>(format, transposed, stream);
}

Result<bool> equal_on_device(const DeviceCsr& a, const DeviceCsr& b, void* stream) {
  return call<&Part::equal_on_device>(a, b, stream);
}

Result<ValueSource> make_value_source(const formats::FormatView& format, const DeviceCsr& a,
                                      const ConvertParameters& parameters, void* stream) {
  return call<&Part::make_value_source>(format, a, parameters, stream);
}

Status exchange_rows(const RowExchange& exchange, void* stream) {
  return call<&Part::exchange_rows>(exchange, stream);
}

Status order_streams(int ordinal, void* first, void* second, void* event) {
  return call<&Part::order_streams>(ordinal, first, second, event);
}

Result<DeviceOrder> rabbit_on_device(const DeviceCsr& a, void* stream) {
  return call<&Part::rabbit_on_device>(a, stream);
}

Result<DeviceOrder> pack_on_device(const DeviceCsr& a, const PackParameters& parameters, void* stream) {
  return call<&Part::pack_on_device>(a, parameters, stream);
}

}  // namespace sptile::runtime::cuda
