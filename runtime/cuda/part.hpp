// The CUDA interface as a table of functions. libsptile contains no CUDA kernels: it loads libsptile-cuda
// when a plan or a matrix first uses a device, and calls its functions through this table. Programs that link
// the runtime statically call them directly.
#pragma once

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device_input.hpp"
#include "runtime/cuda/device_order.hpp"
#include "runtime/cuda/format_check.hpp"
#include "runtime/cuda/row_exchange.hpp"

/// Every function of the interface.
#define SPTILE_CUDA_SEAM(F) \
  F(built)                  \
  F(versions)               \
  F(built_capabilities)     \
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
  F(make_value_source)      \
  F(exchange_rows)          \
  F(order_streams)          \
  F(rabbit_on_device)       \
  F(pack_on_device)

namespace sptile::runtime::cuda {

struct Part {
#define SPTILE_MEMBER(function) decltype(&cuda::function) function;
  SPTILE_CUDA_SEAM(SPTILE_MEMBER)
#undef SPTILE_MEMBER
};

/// The only function that libsptile-cuda exports; it returns its Part.
inline constexpr char kPartFunction[] = "sptile_cuda_part";

}  // namespace sptile::runtime::cuda
