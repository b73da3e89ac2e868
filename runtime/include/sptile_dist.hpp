// Distributed products with a matrix that `sptile partition` divided among processes. Header only, based on
// sptile.hpp.
//   #define SPTILE_DIST_MPI
//   #include <sptile_dist.hpp>
//
//   sptile::dist::MpiExchange exchange(MPI_COMM_WORLD);
//   sptile::dist::Product<float, sptile::dist::MpiExchange> product("parts", exchange, {.n = 128});
//   product.run(b, c);  // std::vector<float> b(product.owned() * 128), c of the same size
//
// Macros defined before the include select the classes:
//
//   SPTILE_DIST_MPI   MpiExchange; requires the MPI compiler wrapper
//   SPTILE_DIST_CUDA  operands in device memory (CudaMemory), PeerExchange and StagedExchange; requires the
//                     CUDA runtime
//   SPTILE_DIST_NCCL  NcclExchange, DeviceExchange and everything of SPTILE_DIST_CUDA; requires NCCL
#pragma once

#include "sptile_dist/product.hpp"

#ifdef SPTILE_DIST_MPI
#include "sptile_dist/mpi.hpp"
#endif
#if defined(SPTILE_DIST_CUDA) || defined(SPTILE_DIST_NCCL)
#include "sptile_dist/cuda.hpp"
#include "sptile_dist/peers.hpp"
#include "sptile_dist/staged.hpp"
#endif
#ifdef SPTILE_DIST_NCCL
#include "sptile_dist/device.hpp"
#include "sptile_dist/nccl.hpp"
#endif
