// Makes runs of small matrices use all threads of their plans.
#pragma once

#include "runtime/plan/run_threads.hpp"

namespace sptile::test {

struct AllThreads {
  AllThreads() { runtime::set_threads_follow_work(false); }
  ~AllThreads() { runtime::set_threads_follow_work(true); }
  AllThreads(const AllThreads&) = delete;
  AllThreads& operator=(const AllThreads&) = delete;
};

}  // namespace sptile::test
