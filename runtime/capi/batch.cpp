// Batches of the C interface.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/capi/matrix_arguments.hpp"
#include "runtime/handle/host_batch.hpp"

namespace sptile::runtime {
namespace {

constexpr const char* kCall = "sptile_matrix_create_batch";

/// Errc::usage for a matrix whose memory, types or disorder differ from the first one.
Status check_alike(const ArraysArgument& first, const ArraysArgument& one) {
  const sptile_arrays &a = first.arrays, &b = one.arrays;
  if (one.device != first.device || (one.device == Device::cuda && a.ordinal != b.ordinal))
    return fail(Errc::usage, "it is in different memory from the first; all must be on one device");
  if (a.disorder != b.disorder)
    return fail(Errc::usage, "arrays.disorder = " + std::to_string(b.disorder) +
                                 ", but that of the first is " + std::to_string(a.disorder));
  return {};
}

/// Errc::usage for a struct size that is invalid as an array element.
Status check_size(std::size_t size, std::size_t first) {
  constexpr std::size_t kStep = alignof(sptile_arrays);
  if (size == first && size % kStep == 0) return {};
  return fail(Errc::usage, "arrays.size = " + std::to_string(size) +
                               "; it must equal that of the first and be a multiple of " +
                               std::to_string(kStep));
}

/// Returns the matrices of a batch, an array of structs of equal size.
Result<std::vector<ArraysArgument>> members_of(const sptile_arrays* parts, std::int64_t count) {
  std::vector<ArraysArgument> members;
  const auto* next = reinterpret_cast<const std::byte*>(parts);
  for (std::int64_t i = 0; i < count; ++i, next += parts->size) {
    const auto member = static_cast<std::size_t>(i);
    const auto* part = reinterpret_cast<const sptile_arrays*>(next);
    if (Status s = check_size(part->size, parts->size); !s) return in_batch(member, s.error());
    auto one = arrays_argument(kCall, part);
    if (!one) return in_batch(member, one.error());
    members.push_back(*one);
    if (Status s = check_alike(members.front(), members.back()); !s) return in_batch(member, s.error());
  }
  return members;
}

/// Applies `turn` to all members; errors name the member.
template <class T>
Result<std::vector<T>> turned(const std::vector<ArraysArgument>& members,
                              Result<T> (*turn)(const ArraysArgument&)) {
  std::vector<T> all;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto one = turn(members[i]);
    if (!one) return in_batch(i, one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

Result<std::shared_ptr<Matrix>> batch_on_host(const std::vector<ArraysArgument>& members,
                                              Arrangement arrangement, MatrixOptions options, void* stream) {
  if (stream != nullptr) return fail(Errc::usage, "matrices in host memory do not accept a stream");
  const auto parts = turned(members, host_view);
  if (!parts) return tl::unexpected(parts.error());
  auto joined = join_on_host(*parts, arrangement, options.trusted);
  if (!joined) return tl::unexpected(joined.error());
  options.trusted = true;  // already checked if requested
  return Matrix::from_host(std::move(*joined), options);
}

Result<std::shared_ptr<Matrix>> batch_on_device(const std::vector<ArraysArgument>& members,
                                                Arrangement arrangement, const MatrixOptions& options,
                                                void* stream) {
  const auto parts = turned(members, device_entries);
  if (!parts) return tl::unexpected(parts.error());
  auto joined = cuda::join_csr(*parts, arrangement,
                               {.disorder = members.front().disorder(), .trusted = options.trusted}, stream);
  if (!joined) return tl::unexpected(joined.error());
  return Matrix::from_device(std::move(*joined), options);
}

/// Checks the sizes of the result before arrays are read.
Status check_sizes(const std::vector<ArraysArgument>& members, Arrangement arrangement) {
  std::vector<BatchMember> sizes;
  for (const ArraysArgument& one : members)
    sizes.push_back({one.arrays.rows, one.arrays.cols, one.arrays.nnz, one.dtype});
  const auto layout = arrange(sizes, arrangement);
  return layout ? Status() : tl::unexpected(layout.error());
}

Status create_batch(const sptile_arrays* parts, std::int64_t count, std::int32_t code,
                    const sptile_matrix_options* options, void* stream, sptile_matrix** out) {
  if (out == nullptr) return null_argument(kCall, "matrix");
  *out = nullptr;
  if (parts == nullptr && count > 0) return null_argument(kCall, "parts");
  if (code != SPTILE_ARRANGEMENT_BLOCK_DIAGONAL && code != SPTILE_ARRANGEMENT_STACKED)
    return fail(Errc::usage, "arrangement = " + std::to_string(code) +
                                 "; use SPTILE_ARRANGEMENT_BLOCK_DIAGONAL or SPTILE_ARRANGEMENT_STACKED");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  if (!arguments->matrix.empty()) return names_a_bundles_matrix();
  const auto members = members_of(parts, count);
  if (!members) return tl::unexpected(members.error());
  const Arrangement arrangement =
      code == SPTILE_ARRANGEMENT_STACKED ? Arrangement::stacked : Arrangement::block_diagonal;
  if (Status s = check_sizes(*members, arrangement); !s) return s;
  auto matrix = members->front().device == Device::cpu
                    ? batch_on_host(*members, arrangement, arguments->options, stream)
                    : batch_on_device(*members, arrangement, arguments->options, stream);
  if (!matrix) return tl::unexpected(matrix.error());
  *out = new sptile_matrix{std::move(*matrix)};
  return {};
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_matrix_create_batch(const sptile_arrays* parts, int64_t count, int32_t arrangement,
                                         const sptile_matrix_options* options, void* stream,
                                         sptile_matrix** matrix) {
  return guarded([&] { return create_batch(parts, count, arrangement, options, stream, matrix); });
}
