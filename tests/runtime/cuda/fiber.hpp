// A function with a separate stack that can be suspended and resumed. Emulated kernels switch about ten
// million times, so a switch must not need a system call, as swapcontext does.
#pragma once

#include <cstddef>
#include <memory>

namespace sptile::test {

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 * 1024;

  /// Represents the stack of the caller.
  Fiber();
  /// Creates a fiber; the first switch to it calls `body`, which must never return.
  explicit Fiber(void (*body)());
  ~Fiber();
  Fiber(Fiber&&) noexcept;

  /// Resumes `to`; returns when another fiber switches back. This fiber must be the running one.
  void switch_to(Fiber& to);

 private:
  struct Context;
  static void enter();
  static void arrive(Context& here);

  std::unique_ptr<Context> context_;
};

}  // namespace sptile::test
