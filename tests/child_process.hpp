// Child processes with blocked system calls.
#pragma once

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>

namespace sptile {

/// Exit code of a child that lacks the permissions for its test.
inline constexpr int kNotPermitted = 99;

/// Runs `work` in a child and returns its wait status.
inline int in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

/// Makes the system call `number` fail with `errnum` in this process from now on if its argument at
/// `position` is `value`.
inline void refuse_call(std::uint32_t number, std::size_t position, std::uint32_t value,
                        std::uint32_t errnum) {
  const auto place = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + position * sizeof(__u64));
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(kNotPermitted);
}

}  // namespace sptile
