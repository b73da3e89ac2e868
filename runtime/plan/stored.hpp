// Plans that were made before: finding the one that is to be made, and making one to store.
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

/// A stored plan, the matrix that it is for, and the kernel that runs it.
struct StoredMatch {
  const StoredPlan* plan = nullptr;
  std::size_t matrix = 0;
  KernelChoice kernel;
};

/// Finds the plan that was stored last of those that planning with these options could make of one of the
/// matrices, which are formats of one matrix; nothing without options.stored. `device` is read for CUDA only.
std::optional<StoredMatch> find_stored(const Operation& op, std::span<const PlanMatrix> matrices,
                                       const PlanOptions& options, const cuda::DeviceInfo& device);

/// Compares a plan with its checksums. Errc::bad_input, as refuse_stored, when it was changed.
Status check_hashes(const StoredPlan& plan);

/// Says what is wrong with a stored plan, and what to do.
Status refuse_stored(const StoredPlan& plan, const std::string& why);

/// A plan to be stored.
struct PlanToStore {
  std::string key;
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> schedule;
};

/// Divides the work of a checked matrix for the CPU, or for a CUDA device, which need not be there; `device`
/// and `costs` are its. Errc::unsupported for a kernel without a ScheduleStore, with the kernels for the same
/// product that have one.
Result<PlanToStore> plan_to_store(const Operation& op, const PlanMatrix& a, const KernelChoice& kernel,
                                  const PlanOptions& options, const cuda::DeviceInfo& device,
                                  std::span<const cuda::KernelCost> costs = {});

/// Proves the division of a plan stored for the CPU, of this version, against its format, which was checked.
/// Errc::bad_input, as refuse_stored. Plans for CUDA are proven when they are taken.
Status prove_stored(const StoredPlan& plan, const formats::FormatView& format);

}  // namespace sptile::runtime
