// Search for stored plans, and creation of plans to store.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/matrix.hpp"
#include "runtime/kernels/kernels.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// A stored plan, its matrix, and its kernel.
struct StoredMatch {
  const StoredPlan* plan = nullptr;
  std::size_t matrix = 0;
  KernelChoice kernel;
};

/// Returns the most recently stored plan that planning with these options could produce for one of the
/// matrices, which are formats of one matrix; nullopt without options.stored. `device` is read for CUDA only.
std::optional<StoredMatch> find_stored(const Operation& op, std::span<const PlanMatrix> matrices,
                                       const PlanOptions& options, const cuda::DeviceInfo& device);

/// Compares a plan with its checksums. Errc::bad_input, as for refuse_stored, if it was modified.
Status check_hashes(const StoredPlan& plan);

/// Returns the error for an invalid stored plan, with the remedy.
Status refuse_stored(const StoredPlan& plan, const std::string& why);

/// A plan to store.
struct PlanToStore {
  std::string key;
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> schedule;
};

/// Divides the work of a checked matrix for the CPU or for a CUDA device, which need not be present; `device`
/// and `costs` describe it. Errc::unsupported for a kernel without a ScheduleStore; the message lists the
/// kernels for the same product that have one.
Result<PlanToStore> plan_to_store(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                                  const PlanOptions& options, const cuda::DeviceInfo& device,
                                  std::span<const cuda::KernelCost> costs = {});

/// Validates the division of a stored CPU plan of this version against its checked format. Errc::bad_input,
/// as for refuse_stored. CUDA plans are validated when they are used.
Status prove_stored(const StoredPlan& plan, const formats::FormatView& format);

}  // namespace sptile::runtime
