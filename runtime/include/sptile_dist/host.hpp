// Operands in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sptile.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {

/// Operands in host memory. Work runs synchronously, without streams.
struct HostMemory {
  template <class T>
  using Buffer = std::vector<T>;

  /// Gathers the rows of this process that others need.
  template <class T>
  class SentRows {
   public:
    SentRows(HostMemory&, const Part& part, std::int64_t n, bool /*added*/)
        : rows_(part.send_rows()), n_(static_cast<std::size_t>(n)) {}

    void gather(const T* b, T* to, void* /*stream*/) const {
      for (const std::int32_t row : rows_) to = std::copy_n(b + static_cast<std::size_t>(row) * n_, n_, to);
    }

    /// Adds received rows to rows of c, sender by sender.
    void add(const T* from, T* c, void* /*stream*/) const {
      for (const std::int32_t row : rows_) {
        T* to = c + static_cast<std::size_t>(row) * n_;
        for (std::size_t i = 0; i < n_; ++i) to[i] += from[i];
        from += n_;
      }
    }

   private:
    std::span<const std::int32_t> rows_;
    std::size_t n_;
  };

  static PlanOptions place(PlanOptions options) { return options; }
  static void run(const Plan& plan, const Operands& operands, void* stream) { plan.run(operands, stream); }
  template <class T>
  static void clear(std::span<T> c, void* /*stream*/) {
    std::fill(c.begin(), c.end(), T(0));
  }

  static void begin(void* /*stream*/) {}
  static void* fork(void* /*stream*/) { return nullptr; }
  static void meet(void* /*stream*/) {}
  static void end(void* /*stream*/) {}
  template <class E>
  static void wait(E& /*exchange*/) {}
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
