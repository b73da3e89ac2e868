// Stands in for the header of NCCL where there is no device: what products over processes call, which
// emulated_nccl.cpp defines.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"

#define NCCL_VERSION(x, y, z) ((x)*10000 + (y)*100 + (z))
#define NCCL_VERSION_CODE NCCL_VERSION(2, 28, 9)
#define NCCL_CONFIG_INITIALIZER \
  { -1, -1 }

enum ncclResult_t : int { ncclSuccess = 0, ncclInternalError = 3, ncclRemoteError = 6, ncclInProgress = 7 };
enum ncclDataType_t { ncclUint8 };
struct ncclUniqueId {
  char internal[128];
};
struct ncclConfig_t {
  int blocking, maxCTAs;
};
using ncclComm_t = struct ncclComm*;

const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t communicator);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config);
ncclResult_t ncclCommFinalize(ncclComm_t communicator);
ncclResult_t ncclCommDestroy(ncclComm_t communicator);
ncclResult_t ncclCommAbort(ncclComm_t communicator);
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* state);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream);
