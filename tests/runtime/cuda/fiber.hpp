// A function with a stack of its own, which can be left in the middle and gone back to. Emulated kernels
// switch some ten million times, so switching must not cost a system call, as swapcontext does.
#pragma once

#include <cstddef>
#include <memory>

namespace sptile::test {

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 * 1024;

  /// Stands for the stack of the caller.
  Fiber();
  /// The first switch to this fiber calls `body`, which must never return.
  explicit Fiber(void (*body)());
  ~Fiber();
  Fiber(Fiber&&) noexcept;

  /// Goes on with `to`; returns when somebody switches back. This fiber must be the running one.
  void switch_to(Fiber& to);

 private:
  struct Context;
  static void enter();
  static void arrive(Context& here);

  std::unique_ptr<Context> context_;
};

}  // namespace sptile::test
