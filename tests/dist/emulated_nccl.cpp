// What products over processes need of NCCL, between emulated devices: threads of one process. Calls that a
// communicator is given are on their way until it is asked how it is.
#include <nccl.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/dist/emulated_device.hpp"

using sptile::test::enqueue;
using sptile::test::look;

namespace {

/// Bytes that are offered, until they were taken.
struct Offer {
  const void* from;
  std::size_t bytes;
  bool taken = false;
};

/// Communicators of one id.
struct World {
  int size = 0, joined = 0, finalized = 0;
  bool broken = false;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Offer>>> offers;  // (sender, receiver)
};

std::map<std::string, std::weak_ptr<World>> worlds;
int ids = 0;

/// A send or a receive.
struct Transfer {
  ncclComm_t communicator;
  cudaStream_t stream;
  int peer;
  const void* from;
  void* to;
  std::size_t bytes;
};

thread_local std::vector<Transfer> group;
thread_local bool grouped = false;

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank;
  std::vector<Transfer> posted;  // that are not on their streams yet
  std::shared_ptr<bool> aborted = std::make_shared<bool>(false);
  bool finalized = false;
};

namespace {

/// All offers are made before anything is taken, so that no order of processes blocks.
void put_on_stream(ncclComm& own, const std::vector<Transfer>& transfers) {
  const auto world = own.world;
  const auto aborted = own.aborted;
  std::vector<std::shared_ptr<Offer>> offered;
  for (const Transfer& one : transfers)
    if (one.from != nullptr) {
      const auto offer = offered.emplace_back(std::make_shared<Offer>(Offer{one.from, one.bytes}));
      enqueue(one.stream, {[world, offer, key = std::pair(own.rank, one.peer)] {
                offer->taken = false;  // in a graph, it is offered again
                world->offers[key].push_back(offer);
              }});
    }
  for (const Transfer& one : transfers)
    if (one.to != nullptr) {
      const std::pair key(one.peer, own.rank);
      enqueue(one.stream, {[world, aborted, key, one] {
                             if (*aborted) return;
                             auto& queue = world->offers[key];
                             world->broken = world->broken || queue.front()->bytes != one.bytes;
                             if (!world->broken) std::memcpy(one.to, queue.front()->from, one.bytes);
                             queue.front()->taken = true;
                             queue.pop_front();
                           },
                           [world, aborted, key] { return *aborted || !world->offers[key].empty(); }});
    }
  if (!transfers.empty())
    enqueue(transfers.front().stream, {[] {},
                                       [offered, aborted] {
                                         bool all = true;
                                         for (const auto& one : offered) all = all && one->taken;
                                         return all || *aborted;
                                       }});
}

ncclResult_t post(const Transfer& transfer) {
  if (grouped)
    group.push_back(transfer);
  else
    transfer.communicator->posted.push_back(transfer);
  return grouped ? ncclSuccess : ncclInProgress;
}

}  // namespace

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited or there was a network error" : "internal error";
}
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  look([&] { std::strncpy(id->internal, std::to_string(++ids).c_str(), sizeof id->internal - 1); });
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->blocking != 0 || config->maxCTAs == 0) return ncclInternalError;
  look([&] {
    auto world = worlds[id.internal].lock();
    if (world == nullptr) worlds[id.internal] = world = std::make_shared<World>();
    world->size = size;
    ++world->joined;
    *communicator = new ncclComm{world, rank, {}};
  });
  return ncclInProgress;
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  look([&] {
    communicator->finalized = true;
    ++communicator->world->finalized;
  });
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  look([&] { *communicator->aborted = communicator->world->broken = true; });
  return ncclCommDestroy(communicator);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* state) {
  put_on_stream(*communicator, std::exchange(communicator->posted, {}));
  look([&] {
    const World& world = *communicator->world;
    const bool waits = world.joined < world.size || (communicator->finalized && world.finalized < world.size);
    *state = world.broken ? ncclRemoteError : waits ? ncclInProgress : ncclSuccess;
  });
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  grouped = true;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  grouped = false;
  if (group.empty()) return ncclSuccess;
  for (const Transfer& one : group) post(one);
  group.clear();
  return ncclInProgress;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return post({communicator, stream, peer, from, nullptr, count});
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return post({communicator, stream, peer, nullptr, to, count});
}
