// SpMM of csr: selects the kernel for few columns, for values, B and C of the accumulator type, or for any
// other types. Compiled once per instruction set.
#pragma once

#include <type_traits>

#include "runtime/cpu/csr_decoder.hpp"
#include "runtime/cpu/narrow_rows.hpp"
#include "runtime/cpu/run_panel.hpp"

namespace sptile::runtime::SPTILE_ISA {

/// Kernel of `csr` for values of type V, a B of type D and a C of type R.
template <class V, class D, class R = D>
void run_csr(const Task& task, const Chunk& chunk) noexcept {
  using Stored = std::conditional_t<std::is_same_v<V, Ones>, D, V>;
  if (run_narrow<Stored, D, R>(task, chunk)) return;
  if constexpr (std::is_same_v<Stored, Accumulator<D>> && std::is_same_v<D, R>)
    run_rows<D>(task, chunk);
  else
    run_chunk<CsrKernel, V, D, R>(task, chunk);
}

}  // namespace sptile::runtime::SPTILE_ISA
