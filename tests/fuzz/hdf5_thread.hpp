// Runs the HDF5 helper on a thread of this process, so that fuzzers instrument it and start no processes.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "formats/hdf5_helper/serve.hpp"
#include "formats/io/hdf5/hdf5_helper.hpp"

namespace sptile {

/// Serves the file open as `fd` while `use` has the helper, which it must release.
inline void with_hdf5_thread(int fd, const std::function<void(formats::Hdf5Helper)>& use) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
  std::thread thread([=, served = pair[1]] {
    formats::Hdf5Surroundings none;
    formats::serve_hdf5(served, fd, none);
    ::close(served);
  });
  use(formats::Hdf5Helper::connected_to(pair[0]));
  thread.join();
}

}  // namespace sptile
