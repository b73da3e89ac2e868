#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "formats/layout/bundle_layout.hpp"
#include "runtime/choice/kernel_costs.hpp"
#include "runtime/core/attention_operands.hpp"
#include "runtime/operation/attention.hpp"
#include "runtime/operation/attention_gradient.hpp"
#include "runtime/operation/error_bound.hpp"
#include "runtime/operation/gatv2.hpp"
#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/softmax_rows.hpp"
#include "runtime/operation/spmm_update.hpp"
#include "runtime/operation/update_gradient.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/stored.hpp"
#include "runtime/reference/element.hpp"
#include "tests/property/property.hpp"

namespace sptile::test {
namespace {

using runtime::Activation;
using runtime::Extent;
using runtime::Kernel;
using runtime::OperandSpec;
using runtime::Operation;
using runtime::Score;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLarge = 60000;  ///< stands for the largest factor that stays finite
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- What operations and kernels have.

bool has_operand(const Operation& op, bool (*is)(const OperandSpec&)) {
  return std::any_of(op.operands.begin(), op.operands.end(), is);
}
bool has_columns(const Operation& op) {
  return has_operand(
      op, [](const OperandSpec& o) { return o.width == runtime::Width::n && o.extent != Extent::entries; });
}
bool reads(const Operation& op, Extent extent) {
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [&](const OperandSpec& o) { return o.extent == extent && !o.result; });
}
bool is_scored(const Operation& op) { return op.name.starts_with("attention"); }
bool is_scaled(const Operation& op) { return &op == &runtime::kSddmm; }
bool writes_list(const Operation& op) { return op.result().extent == Extent::entries; }
bool reads_values(const Operation& op) { return op.uses_values || is_scaled(op); }

template <class Is>
bool any_instance(const Kernel& kernel, const Is& is) {
  const auto rows = runtime::instances_of(kernel);
  return std::any_of(rows.begin(), rows.end(), is);
}

/// Whether some instance serves so many columns, or more, and heads.
bool supports_some(const Kernel& kernel, std::int64_t least_n, std::int64_t heads) {
  constexpr std::size_t kShared = 227 << 10;
  const runtime::cuda::DeviceInfo device{
      .capability = 90, .sm_count = 132, .l2_bytes = 50 << 20, .shared_per_block = kShared};
  const runtime::Variant variant{.heads = heads};
  return any_instance(kernel, [&](const runtime::cuda::DeviceKernel& row) {
    for (const std::int64_t n : {1, 8, 128})
      if (n >= least_n && (row.check == nullptr || row.check({60, n, variant, device}))) return true;
    return false;
  });
}

bool has_ieee_instance(const Kernel& kernel) {
  return kernel.device == runtime::Device::cpu ||
         any_instance(kernel, [](const runtime::cuda::DeviceKernel& row) { return row.ieee; });
}

/// Whether plans with nonfinite=strict choose the kernel: what runs before it multiplies no zeros either.
bool can_be_strict(const Kernel& kernel) {
  if (!has_ieee_instance(kernel) || kernel.first == nullptr) return has_ieee_instance(kernel);
  const auto all = runtime::kernels();
  return std::any_of(all.begin(), all.end(), [&](const Kernel& first) {
    return first.op == kernel.first->op && first.format == kernel.format && first.device == kernel.device &&
           !first.by_name && has_ieee_instance(first);
  });
}

// --- Cases that compare one run with the reference.

std::string outcome_error(const Problem& problem, const Result<Outcome>& outcome) {
  return outcome ? problem.first_error(*outcome) : outcome.error().message;
}

void all_agree(Session& session, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings)
    session.run_case(setting, [&](const Setting& s) { return agrees(session, s); });
}

/// The kinds of an operation beside the usual one.
std::vector<Setting> kinds(const Operation& op) {
  if (is_scored(op))
    return {{.n = 17, .score = Score::cosine}, {.n = 1, .score = Score::additive}, {.bare = true}};
  if (&op == &runtime::kSpmmUpdate)
    return {{.n = 17, .activation = Activation::relu}, {.m = 64, .transposed = true}, {.bare = true}};
  if (op.name.starts_with("gatv2"))
    return {{.n = 17, .bare = true}, {.n = 32, .bare = true}, {.n = 64, .heads = 2, .interleaved = true}};
  if (op.name.starts_with("edge_attention"))
    return {{.n = 17, .m = 3, .bare = true},
            {.n = 32, .m = 8, .heads = 4},
            {.n = 8, .m = 128, .heads = 2},
            {.n = 64, .m = 16, .heads = 2, .interleaved = true}};
  if (&op == &runtime::kUpdateGradient) return {{.n = 17, .activation = Activation::relu}, {.bare = true}};
  return {};
}

/// Rows of Y that are rows of V, too, give the bits of a copy.
std::string shared_rows(Session& session, const Setting& setting) {
  auto planned = session.plan(setting);
  if (!planned) return planned.error().message;
  Problem& problem = planned->problem;
  problem.copy(runtime::kAttentionY, runtime::kAttentionV);
  const auto first = problem.run(session.machine(), *planned->plan);
  problem.alias(runtime::kAttentionV, runtime::kAttentionY);
  const auto second = problem.run(session.machine(), *planned->plan);
  if (!first || !second) return (first ? second : first).error().message;
  if (const std::string wrong = problem.first_error(*second); !wrong.empty()) return wrong;
  return problem.first_difference(*first, *second);
}

void check_agrees(Session& session) {
  if (!session.instance().whole)
    return all_agree(session, {{.n = 17, .scaled = is_scaled(session.op())}, {.shape = "pieces", .n = 32}});
  all_agree(session, {{.n = 1, .m = 5},
                      {.n = 32, .m = 64},
                      {.shape = "pieces", .n = 67, .m = 17},
                      {.shape = "windows", .n = 128, .m = 32},
                      {.shape = "gaps", .n = 200, .m = 100},
                      {.shape = "pieces", .n = 40, .device = 1},
                      {.n = 264, .m = 8, .device = 2}});
  for (Setting kind : kinds(session.op())) {
    all_agree(session, {kind});
    kind.shape = "pieces";
    all_agree(session, {kind});
  }
  if (&session.op() == &runtime::kAttention || &session.op() == &runtime::kAttentionGradient)
    for (const Score score : {Score::dot, Score::cosine})
      for (const std::int64_t n : {32, 33, 200})
        session.run_case({.shape = "pieces", .n = n, .m = n, .heads = 2, .score = score, .note = "V is Y"},
                         [&](const Setting& s) { return shared_rows(session, s); });
  if (session.instance().on_cpu() && session.instance().is_float()) {
    for (const std::int64_t n : {2, 3, 5, 7, 8, 9, 15, 16, 31, 33, 64, 127, 129, 300, 1000, 2100})
      all_agree(session, {{.n = n, .m = 300 - n % 97}});
    all_agree(session, {{.shape = "ladder", .n = 17, .m = 5}});
  }
  if (session.machine().is_fast() && session.instance().is_float())
    all_agree(session, {{.n = 512, .m = 128},
                        {.shape = "many", .n = 33},
                        {.shape = "many", .n = 64, .m = 64},
                        {.shape = "long", .n = 8, .m = 8}});
}

void check_alpha_beta(Session& session) {
  const bool adds = session.op().adds, scaled = is_scaled(session.op());
  all_agree(session, {{.n = 17, .alpha = 1.5, .beta = adds ? 2.0 : 0},
                      {.shape = "pieces", .n = 40, .scaled = scaled, .alpha = -0.5, .beta = adds ? -1.0 : 0},
                      {.shape = "windows", .n = 8, .alpha = adds ? 0.0 : -2, .beta = adds ? 0.5 : 0}});
}

void check_padding(Session& session) {
  all_agree(session, {{.n = 17, .m = 32, .pad = 1, .heads = 2},
                      {.shape = "pieces", .n = 32, .pad = 3, .beta = session.op().adds ? 2.0 : 0},
                      {.n = 64, .m = 64, .pad = 8}});
}

void check_permuted(Session& session) {
  all_agree(session, {{.n = 32, .permuted = true},
                      {.shape = "pieces", .n = 17, .permuted = true, .beta = session.op().adds ? 2.0 : 0},
                      {.shape = "windows", .n = 40, .permuted = true, .device = 1}});
}

void check_fewer_columns(Session& session) {
  for (const auto& [planned, n] : {std::pair{264, 200}, {264, 1}, {200, 72}, {136, 129}, {40, 7}})
    all_agree(session, {{.shape = n == 72 ? "pieces" : "uneven",
                         .n = n,
                         .planned = planned,
                         .pad = 8,
                         .beta = n == 129 && session.op().adds ? 2.0 : 0}});
}

void check_unaligned(Session& session) {
  all_agree(session, {{.n = 32, .m = 32, .shift = 1},
                      {.shape = "pieces", .n = 128, .m = 64, .pad = 8, .shift = 1},
                      {.n = 64, .m = 64, .shift = 2, .beta = session.op().adds ? 2.0 : 0}});
}

void check_run_values(Session& session) {
  if (!session.instance().reads_values()) return;
  const bool scaled = is_scaled(session.op());
  all_agree(session, {{.n = 32, .scaled = scaled, .values = RunValues::shared},
                      {.n = 128, .shift = 1, .scaled = scaled, .values = RunValues::shared},
                      {.shape = "pieces",
                       .n = 17,
                       .shift = 1,
                       .permuted = true,
                       .scaled = scaled,
                       .values = RunValues::shared},
                      {.n = 40, .pad = 1, .heads = 2, .scaled = scaled, .values = RunValues::own}});
}

void check_heads(Session& session) {
  all_agree(session,
            {{.n = 32, .m = 32, .heads = 3},
             {.n = 17, .pad = 1, .heads = 2},
             {.n = 40, .m = 64, .heads = 3, .interleaved = true},
             {.shape = "pieces", .n = 8, .pad = 1, .heads = 2, .interleaved = true, .permuted = true},
             {.n = 40, .planned = 136, .pad = 8, .heads = 2, .beta = session.op().adds ? 2.0 : 0}});
}

// --- Numbers that are not finite.

/// Where in a row of an operand it is set.
std::int64_t poisoned_column(std::int64_t width) { return width / 5; }

/// Sets some element of a row in each operand that has rows of this kind.
void set_in_rows(Problem& problem, Extent extent, std::int64_t row, double x) {
  for (std::size_t i = 0; i < problem.op().operands.size(); ++i) {
    const OperandSpec& spec = problem.op().operands[i];
    if (spec.result || spec.element == runtime::Element::index || spec.extent != extent ||
        row >= problem.shape(i).rows)
      continue;
    problem.set(i, row, poisoned_column(problem.shape(i).width), x);
  }
}

bool is_strict(const Instance& instance) { return instance.ieee() && can_be_strict(*instance.kernel); }

std::string poisoned_run(Session& session, const Setting& setting,
                         const std::function<void(Problem&)>& poison) {
  auto planned = session.plan(setting, [&](runtime::PlanOptions& options, runtime::PlanMatrix&) {
    if (is_strict(session.instance())) options.nonfinite = runtime::NonFinite::strict;
  });
  if (!planned) return planned.error().message;
  poison(planned->problem);
  return outcome_error(planned->problem, planned->problem.run(session.machine(), *planned->plan));
}

/// Rows of operands that no entry refers to may hold anything.
void check_unused_rows(Session& session) {
  for (const Setting& setting : {Setting{.shape = "gaps", .n = 32}, {.shape = "gaps", .n = 72, .device = 1}})
    session.run_case(setting, [&](const Setting& s) {
      return poisoned_run(session, s, [](Problem& problem) {
        for (std::int64_t row = 2; row < problem.matrix().csr.cols; row += 5)
          set_in_rows(problem, Extent::cols, row, kNan);
      });
    });
}

struct Poison {
  std::string_view name;
  Extent extent;
  double x;
};
constexpr Poison kPoisons[] = {{"nan in a row", Extent::rows, kNan},
                               {"inf in a row", Extent::rows, kInfinity},
                               {"nan in a column", Extent::cols, kNan},
                               {"inf in a column", Extent::cols, kInfinity},
                               {"-inf in a column", Extent::cols, -kInfinity},
                               {"nan at an entry", Extent::entries, kNan},
                               {"inf at an entry", Extent::entries, kInfinity},
                               {"-inf at an entry", Extent::entries, -kInfinity},
                               {"nan in features", Extent::features, kNan},
                               {"inf in features", Extent::features, kInfinity},
                               {"nan in weights", Extent::inner, kNan},
                               {"inf in weights", Extent::inner, kInfinity},
                               {"large in a row", Extent::rows, kLarge},
                               {"large in a column", Extent::cols, kLarge}};

/// The largest number that an instance rounds to a finite factor. Results of chains are not to overflow.
double largest_factor(const Instance& instance) {
  if (products_of(instance.op()) > 1 || instance.types.operands == DType::f16) return kLarge;
  if (instance.types.operands == DType::bf16) return 0x1.fep127;
  if (instance.types.operands == DType::f64) return 0x1p1000;  // the reference adds in f64, too
  if (instance.precision == runtime::Precision::tf32) return 0x1.ffcp127;
  // A sum with it, times 1, may be rounded to infinity.
  return instance.reads_values() ? std::numeric_limits<float>::max() : std::numeric_limits<float>::max() / 2;
}

/// One product gives the infinity that the reference gives, a chain of them may meet the opposite one.
/// Kernels that multiply the zeros of tiles spread NaN to other rows, but not to other columns.
void accept_what_may_be(Problem& problem) {
  const bool chain = products_of(problem.op()) > 1;
  if (chain) problem.accept_any_nonfinite();
  if (!is_strict(problem.instance()))
    problem.accept_nan_in(chain ? -1 : poisoned_column(problem.setting().n));
}

void check_nonfinite(Session& session) {
  for (const Poison& poison : kPoisons)
    for (const int device : {0, 1})
      if (reads(session.op(), poison.extent))
        session.run_case({.shape = "gaps", .n = 40, .device = device, .note = poison.name},
                         [&](const Setting& s) {
                           return poisoned_run(session, s, [&](Problem& problem) {
                             set_in_rows(problem, poison.extent, 9,
                                         poison.x == kLarge ? largest_factor(problem.instance()) : poison.x);
                             accept_what_may_be(problem);
                           });
                         });
}

/// Rows with one masked entry in so many, or with masked entries only, and scores of any size.
void check_masks(Session& session) {
  for (const double alpha : {1.0, 1e4, -1e4})
    for (const std::int64_t every : {3, 1})
      session.run_case({.shape = "gaps", .n = 40, .alpha = alpha, .note = every == 3 ? "some" : "all"},
                       [&](const Setting& s) {
                         return poisoned_run(session, s, [&](Problem& problem) {
                           for (std::int64_t k = 0; k < problem.matrix().csr.nnz(); k += every)
                             set_in_rows(problem, Extent::entries, k, -kInfinity);
                         });
                       });
}

// --- Runs that follow each other.

/// Counters are zero after a run, and old sums do not matter: the first run leaves NaN in them.
std::string run_again(Session& session, const Setting& setting) {
  const auto planned = session.plan(setting);
  if (!planned) return planned.error().message;
  const std::size_t bytes = workspace_bytes(*planned->plan);
  std::vector<std::byte> content(bytes + 256, std::byte{0});
  std::fill(content.begin() + static_cast<std::ptrdiff_t>(bytes), content.end(), std::byte{0xA5});
  const auto workspace = session.machine().allocate(content.size());
  session.machine().copy_in(workspace.get(), content);
  Problem nan = planned->problem;
  for (const Extent extent : {Extent::rows, Extent::cols, Extent::entries})
    for (std::int64_t row = 0; row < 1000; ++row) set_in_rows(nan, extent, row, kNan);
  const auto before = nan.run(session.machine(), *planned->plan, workspace);
  if (!before) return before.error().message;
  const Problem& problem = planned->problem;
  const auto first = problem.run(session.machine(), *planned->plan, workspace);
  if (const std::string wrong = outcome_error(problem, first); !wrong.empty()) return "second run: " + wrong;
  const auto second = problem.run(session.machine(), *planned->plan, workspace);
  if (const std::string wrong = outcome_error(problem, second); !wrong.empty()) return "third run: " + wrong;
  session.machine().copy_out(content, workspace.get());
  if (!std::all_of(content.begin() + static_cast<std::ptrdiff_t>(bytes), content.end(),
                   [](std::byte b) { return b == std::byte{0xA5}; }))
    return "memory after the workspace was written";
  return session.instance().kernel->deterministic ? problem.first_difference(*first, *second) : "";
}

void check_again(Session& session) {
  for (const Setting& setting :
       {Setting{.shape = "pieces", .n = 32}, {.shape = "pieces", .n = 72, .heads = 2, .device = 1}})
    session.run_case(setting, [&](const Setting& s) { return run_again(session, s); });
}

/// Compares `expected` with the results of two copies of the operands, each with a workspace, whose runs are
/// replayed at the same time.
std::string replayed_bits(Machine& machine, const Planned& planned, const Outcome& expected) {
  const auto& [problem, plan] = planned;
  const std::size_t bytes = workspace_bytes(*plan);
  std::vector<std::shared_ptr<std::byte>> workspaces;
  std::vector<Uploaded> copies;
  std::vector<std::function<Status(void*)>> runs;
  for (int i = 0; i < 2; ++i) {
    workspaces.push_back(machine.allocate(bytes));
    machine.copy_in(workspaces.back().get(), std::vector<std::byte>(bytes));
    copies.push_back(problem.upload(machine, *plan, workspaces.back()));
  }
  for (const Uploaded& copy : copies)
    runs.emplace_back([&op = problem.op(), &product = *plan, &copy](void* stream) {
      return runtime::run(product, op, copy.operands, stream);
    });
  if (Status s = machine.replay(runs); !s) return s.error().message;
  for (const Uploaded& copy : copies) {
    const auto outcome = problem.collect(machine, copy);
    if (!outcome) return outcome.error().message;
    if (std::string wrong = problem.first_difference(expected, *outcome); !wrong.empty()) return wrong;
  }
  return {};
}

std::string same_bits(Session& session, const Setting& setting) {
  Setting other = setting;
  other.threads = setting.threads + 1;
  const auto a = session.plan(setting), b = session.plan(other);
  if (!a || !b) return (a ? b : a).error().message;
  const auto first = a->problem.run(session.machine(), *a->plan);
  for (const auto* again : {&*a, &*b}) {
    const auto second = again->problem.run(session.machine(), *again->plan);
    if (!first || !second) return (first ? second : first).error().message;
    if (const std::string wrong = a->problem.first_difference(*first, *second); !wrong.empty()) return wrong;
  }
  if (!session.machine().has_graphs()) return {};
  const std::string wrong = replayed_bits(session.machine(), *a, *first);
  return wrong.empty() ? "" : "replayed: " + wrong;
}

void check_same_bits(Session& session) {
  if (!session.instance().kernel->deterministic) return;
  for (const Setting& setting : {Setting{.shape = "pieces", .n = 40, .threads = 1}, {.n = 17, .device = 1}})
    session.run_case(setting, [&](const Setting& s) { return same_bits(session, s); });
}

// --- Plans from elsewhere, and values from elsewhere.

std::string restored_bits(Session& session, const Setting& setting) {
  const Instance& instance = session.instance();
  const runtime::PlanOptions options = options_of(instance, setting);
  const auto device = check_options(options);
  if (!device) return device.error().message;
  const auto made = session.plan(setting);
  if (!made) return made.error().message;
  const auto costs = find_kernel_costs(*device, *instance.kernel, instance.precision);
  if (!costs) return costs.error().message;
  const auto stored = plan_to_store(session.op(), made->problem.matrix().formatted.matrix(),
                                    {instance.kernel, instance.row}, options, *device, *costs);
  if (!stored) return stored.error().message;
  const auto numbers = std::as_bytes(std::span(stored->numbers));
  const runtime::StoredPlan plan = {
      .name = "/plans/0000",
      .key = stored->key,
      .schedule = {stored->numbers, stored->schedule},
      .numbers_hash = formats::bundle_hash(numbers.data(), numbers.size()),
      .bytes_hash = formats::bundle_hash(stored->schedule.data(), stored->schedule.size())};
  const auto restored = session.plan(
      setting, [&](runtime::PlanOptions&, runtime::PlanMatrix& a) { a.stored = std::span(&plan, 1); });
  if (!restored) return restored.error().message;
  if (!is_stored(*restored->plan)) return "the stored plan was not taken";
  const auto first = made->problem.run(session.machine(), *made->plan);
  const auto second = restored->problem.run(session.machine(), *restored->plan);
  if (!first || !second) return (first ? second : first).error().message;
  if (const std::string wrong = made->problem.first_error(*second); !wrong.empty()) return wrong;
  return instance.kernel->deterministic ? made->problem.first_difference(*first, *second) : "";
}

void check_stored(Session& session) {
  if (!session.instance().on_cpu() && session.instance().row->store == nullptr) return;
  for (const Setting& setting : {Setting{.shape = "pieces", .n = 40},
                                 {.n = 72, .permuted = true, .device = 1},
                                 {.shape = "no_entries", .n = 8}})
    session.run_case(setting, [&](const Setting& s) { return restored_bits(session, s); });
}

/// The packed values on the machine.
std::shared_ptr<std::byte> packed_values(Machine& machine, const Matrix& matrix,
                                         const formats::Array& values) {
  const DType type = values.view().dtype;
  std::vector<std::byte> packed(static_cast<std::size_t>(values.view().bytes()));
  const auto place = matrix.packed.view().as<std::int64_t>();
  for (std::int64_t k = 0; k < values.size(); ++k)
    runtime::write_element(type, packed.data(), place[static_cast<std::size_t>(k)],
                           runtime::read_element(type, values.data(), k));
  auto memory = machine.allocate(packed.size());
  machine.copy_in(memory.get(), packed);
  return memory;
}

std::string refreshed_run(Session& session, const Setting& setting, bool packed) {
  auto planned = session.plan(
      setting, [](runtime::PlanOptions& options, runtime::PlanMatrix&) { options.refreshable = true; });
  if (!planned) return planned.error().message;
  Problem& problem = planned->problem;
  Random random = session.random(setting);
  formats::Array values = random_values(problem.matrix().csr.nnz(), session.instance().values, random);
  std::shared_ptr<std::byte> memory;
  Status status;
  if (packed) {
    memory = packed_values(session.machine(), problem.matrix(), values);
    status = refresh_packed(*planned->plan, ArrayView(values.view().dtype, memory.get(), values.size()));
  } else {
    status = refresh_values(*planned->plan, values.view());
  }
  if (!status) return status.error().message;
  problem.set_values(std::move(values));
  return outcome_error(problem, problem.run(session.machine(), *planned->plan));
}

void check_refresh(Session& session) {
  if (!session.instance().reads_values()) return;
  const bool scaled = is_scaled(session.op());
  session.run_case({.n = 32, .permuted = true, .scaled = scaled},
                   [&](const Setting& s) { return refreshed_run(session, s, false); });
  session.run_case({.shape = "pieces", .n = 17, .permuted = true, .scaled = scaled},
                   [&](const Setting& s) { return refreshed_run(session, s, true); });
}

void check_csr_order(Session& session) {
  const bool adds = session.op().adds;
  if (writes_list(session.op()))
    all_agree(session, {{.n = 32, .permuted = true, .csr_order = true},
                        {.shape = "pieces",
                         .n = 17,
                         .pad = 1,
                         .heads = 2,
                         .permuted = true,
                         .csr_order = true,
                         .beta = adds ? 2.0 : 0}});
}

// --- How the work is divided.

/// A plan that says it is as good for fewer columns divides the work as a plan for those would, in whole
/// pieces.
std::string divided_alike(Session& session, const Setting& setting) {
  const auto planned = session.plan(setting);
  if (!planned) return planned.error().message;
  const std::int64_t least = runtime::least_n(*planned->plan);
  if (least < 1 || least > setting.n) return "least_n is " + std::to_string(least);
  const runtime::cuda::DeviceKernel* const row = session.instance().row;
  if (row == nullptr) return least == 1 ? "" : "least_n is " + std::to_string(least);
  constexpr std::int64_t kPiece = 8;
  const formats::FormatView format = planned->problem.matrix().formatted.data.view();
  const auto device = runtime::cuda::find_device(setting.device);
  const runtime::Variant variant = options_of(session.instance(), setting).variant;
  const auto bytes = [&](std::int64_t n) { return row->schedule({format, n, *device, {}, variant}).bytes; };
  const std::int64_t own =
      row->least_n == nullptr
          ? 1
          : row->least_n(row->schedule({format, setting.n, *device, {}, variant}).header, setting.n);
  const std::int64_t pieces = (own + kPiece - 1) / kPiece * kPiece;
  return pieces > setting.n || bytes(pieces) == bytes(setting.n)
             ? ""
             : "a plan for n = " + std::to_string(pieces) + " divides the work differently";
}

void check_least_n(Session& session) {
  for (const std::int64_t n : {8, 32, 72, 128, 264})
    if (n == 8 || !session.instance().on_cpu())
      session.run_case({.shape = "pieces", .n = n},
                       [&](const Setting& s) { return divided_alike(session, s); });
}

// --- Nothing to do.

std::string refuses_no_columns(Session& session, const Setting& setting) {
  const auto planned =
      session.plan(setting, [](runtime::PlanOptions& options, runtime::PlanMatrix&) { options.n = 0; });
  if (planned) return "a plan for n = 0 was made";
  return planned.error().code == Errc::usage ? "" : planned.error().message;
}

void check_empty(Session& session) {
  const bool adds = session.op().adds;
  for (const std::string_view shape : {"no_rows", "no_cols", "no_entries", "one"})
    all_agree(session, {{.shape = shape, .n = 8, .m = 8},
                        {.shape = shape, .n = 5, .pad = 1, .heads = 2, .beta = adds ? 3.0 : 0}});
  session.run_case({.shape = "no_entries", .n = 1},
                   [&](const Setting& s) { return refuses_no_columns(session, s); });
}

constexpr Property kProperties[] = {
    {"agrees", "results agree with the reference in double precision", check_agrees, false},
    {"alpha_beta", "results are scaled by alpha and added to beta times the previous contents",
     check_alpha_beta, false},
    {"padding", "memory between, before and after the elements of results is not written", check_padding},
    {"permuted", "formats have the rows of the matrix in any order", check_permuted},
    {"fewer_columns", "a plan for many columns runs on fewer", check_fewer_columns},
    {"unaligned", "operands start at any element, without alignment", check_unaligned},
    {"run_values", "values are given at run time, shared or per head, without alignment", check_run_values,
     false},
    {"heads", "several heads, one after the other or side by side", check_heads},
    {"unused_rows", "NaN in operand rows without a nonzero has no effect", check_unused_rows},
    {"nonfinite", "NaN, infinities and the largest numbers propagate as in the reference", check_nonfinite},
    {"masks", "entries of -inf mask scores of any size", check_masks},
    {"again", "a workspace can be reused by later runs", check_again},
    {"same_bits",
     "results have the same bits on every run, for any number of threads, and in CUDA graphs on two streams",
     check_same_bits},
    {"stored", "a stored schedule is used and gives the same bits", check_stored},
    {"refresh", "new values replace those of the matrix", check_refresh, false},
    {"csr_order", "numbers per entry are in the order of the CSR matrix", check_csr_order},
    {"least_n", "plans report the number of columns from which no other plan is better", check_least_n},
    {"divisions", "results agree for every division of the work: pieces, teams, slices, parts",
     check_divisions},
    {"empty", "no rows, no columns, no entries; no columns of operands are refused", check_empty},
};

constexpr OptOut kOptOuts[] = {
    {"fewer_columns", [](const Kernel& k) { return !has_columns(*k.op); },
     "the operands are lists with one number per entry and have no columns"},
    {"fewer_columns",
     [](const Kernel& k) { return k.device == runtime::Device::cuda && !supports_some(k, 2, 1); },
     "supports one column"},
    {"heads", [](const Kernel& k) { return k.device == runtime::Device::cuda && !supports_some(k, 1, 2); },
     "supports one head; plans for several heads choose another kernel"},
    {"masks",
     [](const Kernel& k) {
       return k.op != &runtime::kAttention && k.op != &runtime::kGatv2 && k.op != &runtime::kSoftmaxRows;
     },
     "the operation has no masks"},
    {"unused_rows", [](const Kernel& k) { return !reads(*k.op, Extent::cols); },
     "no operand has one row per column of the matrix"},
    {"divisions", [](const Kernel& k) { return k.device == runtime::Device::cpu; },
     "divides its work between threads only, see same_bits"},
    {"same_bits", [](const Kernel& k) { return !k.deterministic; },
     "adds to results with atomic operations, in any order"},
    {"stored",
     [](const Kernel& k) {
       return k.device == runtime::Device::cuda &&
              !any_instance(k, [](const runtime::cuda::DeviceKernel& row) { return row.store != nullptr; });
     },
     "bundles do not store its schedules"},
    {"run_values", [](const Kernel& k) { return !reads_values(*k.op); },
     "the operation reads no values of the matrix"},
    {"refresh", [](const Kernel& k) { return !reads_values(*k.op); },
     "the operation reads no values of the matrix"},
    {"csr_order", [](const Kernel& k) { return !writes_list(*k.op); },
     "the result is not a list with one number per entry"},
};

}  // namespace

std::string agrees(Session& session, const Setting& setting) {
  const auto planned = session.plan(setting);
  if (!planned) return planned.error().message;
  return outcome_error(planned->problem, planned->problem.run(session.machine(), *planned->plan));
}

std::span<const Property> properties() { return kProperties; }
std::span<const OptOut> opt_outs() { return kOptOuts; }

const OptOut* find_opt_out(const Kernel& kernel, std::string_view property) {
  for (const OptOut& out : kOptOuts)
    if (out.property == property && out.applies(kernel)) return &out;
  return nullptr;
}

}  // namespace sptile::test
