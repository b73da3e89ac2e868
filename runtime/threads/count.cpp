#include "runtime/threads/count.hpp"

#include <omp.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <string>

#include "runtime/threads/processors.hpp"

namespace sptile::runtime {
namespace {

constexpr int kMaxThreads = 4096;
constexpr const char* kVariable = "SPTILE_THREADS";

std::atomic<int> chosen{0};

/// Returns the value of SPTILE_THREADS; empty if unset.
std::string_view variable() noexcept {
  const char* const value = ::secure_getenv(kVariable);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Parses a number of threads: 0 for an empty value, nullopt for an invalid one.
std::optional<int> parse(std::string_view value) noexcept {
  int threads = 0;
  if (value.empty()) return threads;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  const bool good = error == std::errc() && rest == value.data() + value.size();
  return good && threads >= 0 && threads <= kMaxThreads ? std::optional(threads) : std::nullopt;
}

}  // namespace

ThreadCount default_threads() noexcept {
  if (const int threads = chosen.load(std::memory_order_relaxed); threads > 0) return {threads, "--threads"};
  if (const int threads = parse(variable()).value_or(0); threads > 0) return {threads, kVariable};
  // The affinity mask of the calling thread is a limit too, unless OpenMP has bound the thread.
  const ThreadCount limits[] = {
      {std::min(omp_get_num_procs(), processors()), "processors available to this process"},
      {quota_processors(), "CPU quota of the control group"},
      {omp_get_max_threads(), "limit of OpenMP"}};
  return *std::ranges::min_element(limits, {}, &ThreadCount::threads);
}

void set_default_threads(int threads) noexcept { chosen.store(threads, std::memory_order_relaxed); }

Status check_threads_variable(std::string_view value) {
  if (parse(value)) return {};
  return fail(Errc::usage,
              "'" + std::string(value) + "' is not an integer from 0 to " + std::to_string(kMaxThreads));
}

Status check_threads_variable() {
  Status s = check_threads_variable(variable());
  if (s) return s;
  return fail(s.error().code,
              std::string("the environment variable ") + kVariable + ": " + s.error().message);
}

int max_threads() noexcept { return forks() > 0 ? 1 : std::max(default_threads().threads, 1); }

}  // namespace sptile::runtime
