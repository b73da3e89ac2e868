// Parts of a partition in the C interface.
#include <string>
#include <string_view>
#include <utility>

#include "runtime/capi/arguments.hpp"
#include "runtime/capi/error.hpp"
#include "runtime/capi/handles.hpp"
#include "runtime/capi/matrix_arguments.hpp"
#include "runtime/handle/whole.hpp"

namespace sptile::runtime {
namespace {

Status open_part_handle(const char* path, const sptile_matrix_options* options, sptile_part** out) {
  constexpr const char* kCall = "sptile_part_open";
  if (out == nullptr) return null_argument(kCall, "part");
  *out = nullptr;
  if (path == nullptr) return null_argument(kCall, "path");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  if (!arguments->matrix.empty())
    return fail(Errc::usage, std::string(kCall) + ": options.matrix must be 0; a part has all its matrices");
  auto part = open_part(path, {.copy = arguments->copy});
  if (!part) return tl::unexpected(part.error());
  *out = new sptile_part{std::move(*part)};
  return {};
}

Status create_matrix(const sptile_part* part, const char* name, const sptile_matrix_options* options,
                     sptile_matrix** out) {
  constexpr const char* kCall = "sptile_part_matrix";
  if (out == nullptr) return null_argument(kCall, "matrix");
  *out = nullptr;
  if (part == nullptr) return null_argument(kCall, "part");
  const bool is_halo = name != nullptr && std::string_view(name) == formats::kHaloMatrix;
  if (name != nullptr && *name != '\0' && !is_halo)
    return fail(Errc::usage, std::string(kCall) + ": name = " + name + "; use NULL for local, or halo");
  const auto arguments = matrix_arguments(options);
  if (!arguments) return tl::unexpected(arguments.error());
  if (Status s = check_shared(kCall, *arguments); !s) return s;
  const Part& both = part->part;
  *out = new sptile_matrix{Matrix::from_bundle(is_halo ? both.halo : both.local, arguments->options)};
  return {};
}

Status give_whole(const sptile_part* own, const char* folder, sptile_matrix** out) {
  constexpr const char* kCall = "sptile_part_whole";
  if (out == nullptr) return null_argument(kCall, "matrix");
  *out = nullptr;
  if (own == nullptr) return null_argument(kCall, "part");
  if (folder == nullptr) return null_argument(kCall, "folder");
  auto whole = join_parts(own->part, folder);
  if (!whole) return tl::unexpected(whole.error());
  *out = new sptile_matrix{Matrix::from_host(std::move(*whole), {.trusted = true})};
  return {};
}

Status describe_part(const sptile_part* handle, sptile_part_info* info) {
  if (handle == nullptr) return null_argument("sptile_part_describe", "part");
  if (info == nullptr) return null_argument("sptile_part_describe", "info");
  const Part& part = handle->part;
  return write_struct<sptile_part_info>(info,
                                        {.size = sizeof(sptile_part_info),
                                         .id = part.id,
                                         .rank = part.numbers.rank,
                                         .parts = part.numbers.parts,
                                         .rows = part.numbers.rows,
                                         .entries = part.numbers.entries,
                                         .owned = part.local->rows(),
                                         .needed = part.halo->cols(),
                                         .interior = part.interior,
                                         .old_ids = part.old_ids.data(),
                                         .halo_ids = part.halo_ids.data(),
                                         .send_offset = part.send_offset.data(),
                                         .receive_offset = part.receive_offset.data(),
                                         .send_rows = part.send_rows.data(),
                                         .symmetric = static_cast<std::int32_t>(part.numbers.symmetric),
                                         .reserved = 0},
                                        SPTILE_SIZE_WITH(sptile_part_info, reserved), "info");
}

}  // namespace
}  // namespace sptile::runtime

using namespace sptile::runtime;

sptile_status sptile_part_open(const char* path, const sptile_matrix_options* options, sptile_part** part) {
  return guarded([&] { return open_part_handle(path, options, part); });
}

void sptile_part_destroy(sptile_part* part) { delete part; }

sptile_status sptile_part_describe(const sptile_part* part, sptile_part_info* info) {
  return guarded([&] { return describe_part(part, info); });
}

sptile_status sptile_part_matrix(const sptile_part* part, const char* name,
                                 const sptile_matrix_options* options, sptile_matrix** matrix) {
  return guarded([&] { return create_matrix(part, name, options, matrix); });
}

sptile_status sptile_part_whole(const sptile_part* part, const char* folder, sptile_matrix** matrix) {
  return guarded([&] { return give_whole(part, folder, matrix); });
}
