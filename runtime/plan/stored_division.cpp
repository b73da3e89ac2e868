#include "runtime/plan/stored_division.hpp"

#include <cstring>
#include <type_traits>

#include "runtime/cuda/stored_schedule.hpp"

namespace sptile::runtime {
namespace {

static_assert(sizeof(UnitRun) == 16 && std::is_trivially_copyable_v<UnitRun>);

}  // namespace

WorkPlan divide(const DivisionRequest& request) {
  return request.op.by_columns ? divide_columns(request.format, request.n)
                               : divide_work(request.format, request.n, request.threads);
}

DivisionToStore division_to_store(const DivisionRequest& request) {
  if (request.op.by_columns) return {};
  const std::vector<UnitRun> runs = runs_of(divide(request));
  DivisionToStore stored{{std::ssize(runs)}, std::vector<std::byte>(runs.size() * sizeof(UnitRun))};
  if (!runs.empty()) std::memcpy(stored.bytes.data(), runs.data(), stored.bytes.size());
  return stored;
}

Result<WorkPlan> restore_division(const DivisionRequest& request, const StoredSchedule& stored) {
  cuda::ScheduleReader reader(stored);
  std::span<const UnitRun> runs;
  if (!request.op.by_columns) {
    std::int64_t at = 0;
    const std::int64_t count = reader.number(max_chunks(request.threads));
    runs = reader.part<UnitRun>(count, at);
  }
  if (Status s = reader.finish(); !s) return tl::unexpected(s.error());
  if (request.op.by_columns) return divide(request);
  return divide_as(request.format, request.n, request.threads, runs);
}

}  // namespace sptile::runtime
