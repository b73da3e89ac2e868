// The table of CUDA kernels: every family's rows, one after the other.
#include <initializer_list>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/csr/csr.hpp"
#include "runtime/cuda/sddmm/sddmm.hpp"
#include "runtime/cuda/tall/tall.hpp"
#include "runtime/cuda/tile/tile16.hpp"
#include "runtime/cuda/tile/tile8.hpp"

namespace sptile::runtime::cuda {
namespace {

using Rows = std::span<const DeviceKernel> (*)();

/// A family of kernels adds its function here, and its kernels to runtime/kernels.cpp.
constexpr std::initializer_list<Rows> kFamilies = {csr_kernels,
                                                   bittcf_kernels,
                                                   bittcf_staged_kernels,
                                                   rs_tile_kernels,
                                                   me_tcf_kernels,
                                                   bmat_kernels,
                                                   bmat_staged_kernels,
                                                   bmat_bulk_kernels,
                                                   tall_kernels,
                                                   libra_streams_kernels,
                                                   libra_spmm_kernels,
                                                   libra_sddmm_kernels,
                                                   csr_sddmm_kernels,
                                                   bittcf_sddmm_kernels,
                                                   rs_tile_sddmm_kernels,
                                                   libra_spmm_sddmm_kernels,
                                                   libra_sddmm_sddmm_kernels,
                                                   me_tcf_sddmm_kernels,
                                                   bmat_sddmm_kernels};

std::vector<DeviceKernel> gather_rows() {
  std::vector<DeviceKernel> rows;
  for (const Rows family : kFamilies)
    for (const DeviceKernel& row : family()) rows.push_back(row);
  return rows;
}

}  // namespace

std::span<const DeviceKernel> device_kernels() {
  static const std::vector<DeviceKernel> rows = gather_rows();
  return rows;
}

}  // namespace sptile::runtime::cuda
