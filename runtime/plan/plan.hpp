// A planned product: making it, running it, giving it new values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "runtime/core/matrix.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/core/options.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

class ProductPlan;  // defined in runtime/plan/product_plan.hpp; immutable after planning except
                    // refresh_values

/// Chooses a kernel, checks the matrix once (unless trusted), splits the work by entries. May allocate and be
/// slow. Errc::bad_input when a check fails; Errc::unsupported for a format, type or device that no kernel
/// serves, naming what would work; Errc::usage for bad options. With Device::cuda the matrix is uploaded, and
/// `a` is not needed after planning; Errc::device when there is no such device, it is too old or has no room.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const PlanOptions& options);

/// Runs the plan, which is one of `op`, on 1 to PlanOptions::n columns: allocates nothing; any number of
/// threads may run one plan at once on different results. Every row of C, or every number of a list, is
/// written, those of empty rows too. Same bits for any number of threads. Errc::usage for a plan of another
/// operation, more columns than planned, null pointers, leading dimensions below n or too small a workspace;
/// nothing else can fail on the CPU. Only the message of a refusal takes memory, and may throw
/// std::bad_alloc. A CUDA plan has its operands in device memory. It is enqueued on `stream` (a cudaStream_t
/// of the plan's device; null: the default one) and may be captured in a graph; Errc::device when launching
/// fails. Runs of one plan at the same time need a workspace each, where workspace_bytes is not 0.
Status run(const ProductPlan& plan, const Operation& op, const Operands& operands, void* stream = nullptr);

/// Runs warmup + repeat times with operands in host memory, whatever the device, and gives the seconds of
/// each of the last `repeat` runs; copies are not timed. Allocates on the device when the plan is for CUDA.
Result<std::vector<double>> timed_run(const ProductPlan& plan, const Operation& op, const Operands& host,
                                      int warmup, int repeat);

/// Least n of a run that the plan serves as well as one that is made for that n: for fewer columns planning
/// anew is worth a try. It looks at how the work is divided, not at what n or the operands are multiples of.
/// 1 on the CPU.
std::int64_t least_n(const ProductPlan& plan);

/// Device scratch of one run, in bytes; 0 on the CPU.
std::size_t workspace_bytes(const ProductPlan& plan);

/// Replaces the values: `values` has one element per entry of the source CSR, of the format's value type; for
/// a CUDA plan they may be in host or device memory. Not concurrent with run. Errc::usage unless planned
/// refreshable with a value_source (or on format csr).
Status refresh_values(ProductPlan& plan, ArrayView values);

/// Replaces the values by those that an SDDMM plan of the same format wrote: packed, in the order in which
/// the format stores them, of its value type. For a CUDA plan `values` are device memory; the copy is
/// enqueued on `stream`. Errc::usage unless planned refreshable.
Status refresh_packed(ProductPlan& plan, ArrayView values, void* stream = nullptr);

/// Name of the kernel that the plan runs: "cpu.csr.avx512".
std::string_view kernel_name(const ProductPlan& plan);

/// True when the plan is a stored one of its matrix, see PlanOptions::stored.
bool is_stored(const ProductPlan& plan);

/// How the plan forms products.
Precision precision_of(const ProductPlan& plan);

}  // namespace sptile::runtime
