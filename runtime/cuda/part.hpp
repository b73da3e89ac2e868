// The seam as data. libsptile has no kernels for CUDA: it loads libsptile-cuda, which has them, when a plan
// or a matrix first asks for a device. Programs that are linked with the runtime statically call the seam's
// functions directly.
#pragma once

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/cuda/format_check.hpp"

/// Every function of the seam.
#define SPTILE_CUDA_SEAM(F) \
  F(built)                  \
  F(versions)               \
  F(find_device)            \
  F(device_count)           \
  F(instances_named)        \
  F(make_plan)              \
  F(matrix_of)              \
  F(run)                    \
  F(run_from_host)          \
  F(make_scratch)           \
  F(time_groups)            \
  F(wait)                   \
  F(is_device_memory)       \
  F(refresh)                \
  F(refresh_packed)         \
  F(upload_source)          \
  F(unpack)                 \
  F(workspace_bytes)        \
  F(least_n)                \
  F(schedule_header)        \
  F(has_device_check)       \
  F(start_check)            \
  F(convert_on_device)      \
  F(canonical_csr)          \
  F(join_csr)               \
  F(put_values)             \
  F(upload_csr)             \
  F(download)               \
  F(transpose_on_device)    \
  F(follow_positions)       \
  F(equal_on_device)        \
  F(make_value_source)

namespace sptile::runtime::cuda {

struct Part {
#define SPTILE_MEMBER(function) decltype(&cuda::function) function;
  SPTILE_CUDA_SEAM(SPTILE_MEMBER)
#undef SPTILE_MEMBER
};

/// The name of the one function that libsptile-cuda exports, which gives its Part.
inline constexpr char kPartFunction[] = "sptile_cuda_part";

}  // namespace sptile::runtime::cuda
