// Planned products: create, run, replace values.
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

// defined in runtime/plan/product_plan.hpp; immutable after planning except refresh_values
class ProductPlan;

/// Chooses a kernel, checks the matrix once (unless trusted), and divides the work by entries. May allocate
/// and take long. Errc::bad_input if a check fails; Errc::unsupported, with the supported alternatives, if no
/// kernel supports the format, type or device; Errc::usage for invalid options. With Device::cuda the matrix
/// is uploaded, and `a` is not needed after planning; Errc::device if the device does not exist, is too old
/// or has insufficient memory.
Result<std::shared_ptr<ProductPlan>> plan_product(const Operation& op, const PlanMatrix& a,
                                                  const PlanOptions& options);

/// Runs a plan of `op` on 1 to PlanOptions::n columns. Allocates nothing. Any number of threads may run one
/// plan concurrently with different results. Writes every row of C or every number of a list, including empty
/// rows. The bits do not depend on the number of threads. Errc::usage for a plan of another operation, more
/// columns than planned, null pointers, leading dimensions below n or a workspace that is too small; the CPU
/// has no other errors. Only error messages allocate and may throw std::bad_alloc. A CUDA plan requires
/// operands in device memory, is enqueued on `stream` (a cudaStream_t of the plan's device; null: the default
/// stream) and may be captured in a graph; Errc::device if the launch fails. Concurrent runs of one plan need
/// separate workspaces if workspace_bytes is not 0.
Status run(const ProductPlan& plan, const Operation& op, const Operands& operands, void* stream = nullptr);

/// Runs warmup + repeat times with operands in host memory, for any device, and returns the seconds of each
/// of the last `repeat` runs, without copies. Allocates device memory for a CUDA plan.
Result<std::vector<double>> timed_run(const ProductPlan& plan, const Operation& op, const Operands& host,
                                      int warmup, int repeat);

/// Returns the minimum n of a run for which the plan is as good as a new one. For fewer columns, a new plan
/// may be faster. Considers the division of work, not the alignment of n or the operands. 1 on the CPU.
std::int64_t least_n(const ProductPlan& plan);

/// Returns the bytes of device workspace of one run; 0 on the CPU.
std::size_t workspace_bytes(const ProductPlan& plan);

/// Replaces the values: `values` has one element per entry of the source CSR, with the format's value type;
/// for a CUDA plan in host or device memory. Not concurrent with run. Errc::usage unless planned as
/// refreshable with a value_source (or on format csr).
Status refresh_values(ProductPlan& plan, ArrayView values);

/// Replaces the values with the packed result of an SDDMM plan with the same format and value type. For a
/// CUDA plan, `values` is device memory, and the copy is enqueued on `stream`. Errc::usage unless planned as
/// refreshable.
Status refresh_packed(ProductPlan& plan, ArrayView values, void* stream = nullptr);

/// Returns the name of the plan's kernel, for example "cpu.csr.avx512".
std::string_view kernel_name(const ProductPlan& plan);

/// Returns whether the plan was stored with its matrix, see PlanOptions::stored.
bool is_stored(const ProductPlan& plan);

/// Returns the precision of the plan's products.
Precision precision_of(const ProductPlan& plan);

}  // namespace sptile::runtime
