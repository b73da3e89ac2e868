#include "tests/runtime/cuda/fiber.hpp"

#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define SPTILE_HAS_ASAN 1
#elif defined(__has_feature)
#define SPTILE_HAS_ASAN __has_feature(address_sanitizer)
#else
#define SPTILE_HAS_ASAN 0
#endif

#if SPTILE_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#else  // the sanitizer must know which stack is in use; nobody else does
namespace {
void __sanitizer_start_switch_fiber(void**, const void*, std::size_t) {}
void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*) {}
}  // namespace
#endif

#ifdef __x86_64__
// sptile_switch_stack keeps on the stack what a function must not change, stores where that is in *from, and
// takes up `to`. A new stack begins in sptile_begin_stack, which calls the function that %rbx holds.
extern "C" void sptile_switch_stack(void** from, void* to);
extern "C" void sptile_begin_stack();
asm(R"(
.text
.type sptile_switch_stack, @function
sptile_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sptile_switch_stack, . - sptile_switch_stack
.type sptile_begin_stack, @function
sptile_begin_stack:
  callq *%rbx
  ud2
.size sptile_begin_stack, . - sptile_begin_stack
)");
#else
#include <ucontext.h>
#endif

namespace sptile::test {

struct Fiber::Context {
  std::unique_ptr<char[]> memory;
  void (*body)() = nullptr;
  // As the address sanitizer knows the stack. That of the caller is told when it is left for the first time.
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;

#ifdef __x86_64__
  void* top = nullptr;  ///< of the stack, while others run

  void prepare(void (*entry)()) {
    constexpr std::size_t kRbx = 4, kReturn = 6, kWords = 9;  // two words over: calls want 16 bytes
    std::uintptr_t words[kWords] = {};
    words[kRbx] = reinterpret_cast<std::uintptr_t>(entry);
    words[kReturn] = reinterpret_cast<std::uintptr_t>(sptile_begin_stack);
    top = memory.get() + kStackBytes - sizeof words;
    std::memcpy(top, words, sizeof words);
  }
  void switch_to(Context& to) { sptile_switch_stack(&top, to.top); }
#else
  ucontext_t state;

  void prepare(void (*entry)()) {
    getcontext(&state);
    state.uc_stack.ss_sp = memory.get();
    state.uc_stack.ss_size = kStackBytes;
    makecontext(&state, entry, 0);
  }
  void switch_to(Context& to) { swapcontext(&state, &to.state); }
#endif
};

namespace {

// For who arrives: where from, and, on a new stack, at what.
constinit void* left_context = nullptr;
constinit void* entered_context = nullptr;

}  // namespace

Fiber::Fiber() : context_(std::make_unique<Context>()) {}
Fiber::Fiber(void (*body)()) : context_(std::make_unique<Context>()) {
  Context& c = *context_;
  c.memory.reset(new char[kStackBytes]);
  c.body = body;
  c.bottom = c.memory.get();
  c.bytes = kStackBytes;
  c.prepare(enter);
}
Fiber::~Fiber() = default;
Fiber::Fiber(Fiber&&) noexcept = default;

void Fiber::switch_to(Fiber& to) {
  Context &here = *context_, &there = *to.context_;
  left_context = &here;
  entered_context = &there;
  __sanitizer_start_switch_fiber(&here.fake_stack, there.bottom, there.bytes);
  here.switch_to(there);
  arrive(here);
}

void Fiber::arrive(Context& here) {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &bytes);
  auto& from = *static_cast<Context*>(left_context);
  if (from.memory) return;
  from.bottom = bottom;
  from.bytes = bytes;
}

void Fiber::enter() {
  auto& here = *static_cast<Context*>(entered_context);
  arrive(here);
  here.body();
}

}  // namespace sptile::test
