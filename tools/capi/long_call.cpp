#include "tools/capi/long_call.hpp"

#include <omp.h>
#include <tbb/global_control.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <typeinfo>

#include "formats/core/buffer.hpp"
#include "formats/core/fork.hpp"
#include "runtime/capi/error.hpp"

namespace sptile::tools {
namespace {

using runtime::report;

constexpr std::chrono::milliseconds kBetweenCalls{50};

using Step = std::function<Status(CallWork&)>;

// OpenMP's number of threads is a setting of the thread. It is restored, because the thread may be the
// caller's.
class Threads {
 public:
  explicit Threads(int requested) : before_(omp_get_max_threads()) {
    const int max = forks() > 0 ? 1 : requested;
    if (max == 0) return;
    omp_set_num_threads(max);
    // After a fork oneTBB is not called, see formats/core/parallel_loop.hpp.
    if (forks() == 0)
      limit_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(max));
  }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
  std::optional<tbb::global_control> limit_;
};

Status limited(const sptile_tools_options& options, const Step& step, CallWork& work) {
  const Threads threads(options.threads);
  return step(work);
}

// Runs on a separate thread; `finished` ends the progress reports.
struct Background {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::exception_ptr thrown;
  Status status;

  void run(const sptile_tools_options& options, const Step& step, CallWork& work) {
    try {
      status = limited(options, step, work);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    finished.notify_one();
  }
};

Status reporting(const sptile_tools_options& options, const Step& step, CallWork& work) {
  Background background;
  std::thread thread([&] { background.run(options, step, work); });
  std::unique_lock lock(background.mutex);
  while (!background.finished.wait_for(lock, kBetweenCalls, [&] { return background.done; })) {
    lock.unlock();
    if (options.progress(options.user, work.progress.phase.load(), work.progress.done.load(),
                         work.progress.total.load()) != 0)
      work.progress.cancelled.store(true);
    lock.lock();
  }
  lock.unlock();
  thread.join();
  if (background.thrown) std::rethrow_exception(background.thrown);
  return background.status;
}

}  // namespace

sptile_status long_call(const sptile_tools_options& options, const Step& step) noexcept {
  try {
    CallWork work;
    work.seed = options.seed == 0 ? 1 : options.seed;
    const Status status =
        options.progress == nullptr ? limited(options, step, work) : reporting(options, step, work);
    return status ? SPTILE_STATUS_OK : report(status.error());
  } catch (const std::bad_alloc& error) {
    return report(Errc::io, formats::out_of_memory(error));
  } catch (const std::system_error& error) {
    return report(Errc::io, "system error: ", error.what());
  } catch (const std::exception& error) {
    // oneTBB throws a bare std::runtime_error if it cannot start a thread.
    if (typeid(error) == typeid(std::runtime_error)) return report(Errc::io, "system error: ", error.what());
    return report(Errc::internal, "internal error, please report it: ", error.what());
  } catch (...) {
    return report(Errc::internal, "unexpected exception; please report this as a bug");
  }
}

}  // namespace sptile::tools
