// Stored schedules that were changed: they are refused, or they are another division of the same work. An
// input names a kernel, N and a device, and then changes to what was made for them. What is accepted runs, on
// the CPU or on kernels that are emulated, and must give the product.
#include <algorithm>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/cuda/families/csr/csr.hpp"
#include "runtime/cuda/families/sddmm/sddmm.hpp"
#include "runtime/cuda/families/tall/tall.hpp"
#include "runtime/cuda/families/tile/tile.hpp"
#include "runtime/cuda/instance_parts.hpp"
#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/rsh/rsh.hpp"
#include "runtime/plan/stored.hpp"
#include "tests/runtime/random_problem.hpp"

namespace {

using namespace sptile;
using namespace sptile::runtime;
using namespace sptile::runtime::cuda;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "plan_fuzz: %s\n", what);
  std::abort();
}

/// A kernel that is emulated, in its first instance of f32.
struct Family {
  const char* format;
  std::span<const DeviceKernel> (*instances)();
  bool sampled = false;  ///< SDDMM
};
constexpr Family kFamilies[] = {
    {"csr", csr_kernels},
    {"bittcf", instances<kBitTcfMma>},
    {"bittcf", instances<kBitTcfStaged>},
    {"rs_tile", instances<kRsTileMma>},
    {"libra_spmm", instances<kLibraSpmmMma>},
    {"libra_sddmm", instances<kLibraSddmmMma>},
    {"tall", instances<kTallStaged>},
    {"bittcf", bittcf_sddmm_kernels, true},
    {"rs_tile", rs_tile_sddmm_kernels, true},
    {"libra_spmm", libra_spmm_sddmm_kernels, true},
    {"bittcf", acc_kernels},
    {"rs_tile", rsh_kernels},
};
/// Formats of SpMM on the CPU, one for each way of numbering units.
constexpr const char* kHostFormats[] = {"csr", "bittcf", "tall", "rs_tile"};
constexpr std::int64_t kColumns[] = {3, 64};
constexpr int kMultiprocessors[] = {1, 132};  ///< or threads

/// Rows of many lengths, values that sum up without rounding.
formats::Csr make_matrix() {
  test::Random random(7);
  formats::Csr a = test::random_matrix(70, 400, DType::f32, random, [](std::int64_t r, std::int64_t c) {
    if (r % 5 == 0) return r % 2 == 0 ? 0.0 : 0.01;
    return r == 17 ? 0.9 : (r / 8 + c / 16) % 5 == 0 ? 0.1 : 0.005;
  });
  for (std::int64_t i = 0; i < a.nnz(); ++i)
    a.values.as<float>()[static_cast<std::size_t>(i)] = 1.f + static_cast<float>(i % 3);
  return a;
}

const formats::Csr& matrix() {
  static const formats::Csr a = make_matrix();
  return a;
}

const DeviceKernel& f32_instance(const Family& family) {
  const auto instances = family.instances();
  const auto found = std::ranges::find(instances, DType::f32, &DeviceKernel::dense);
  require(found != instances.end(), "a family without an instance of f32");
  return *found;
}

/// What was made for one kernel, N and device.
struct Made {
  const Family& family;
  const DeviceKernel& kernel;
  test::Formatted formatted;
  std::int64_t n;
  DeviceInfo device;
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> numbers;

  Made(const Family& f, std::int64_t columns, int multiprocessors)
      : family(f),
        kernel(f32_instance(f)),
        formatted(test::format_matrix(matrix(), f.format)),
        n(columns),
        device({.capability = 90,
                .sm_count = multiprocessors,
                .l2_bytes = 1 << 18,
                .shared_per_block = 227 << 10}) {
    require(kernel.store != nullptr, "a kernel without a store");
    const formats::FormatView view = formatted.data.view();
    Schedule schedule = kernel.schedule({view, n, device});
    numbers = kernel.store->numbers(schedule.header);
    bytes = std::move(schedule.bytes);
  }
};

/// The same for a format on the CPU.
struct MadeOnHost {
  test::Formatted formatted;
  PlanOptions options;
  PlanToStore plan;

  MadeOnHost(const char* format, std::int64_t columns, int threads)
      : formatted(test::format_matrix(matrix(), format)), options({.n = columns, .threads = threads}) {
    const PlanMatrix a = formatted.matrix();
    const auto kernel = choose_kernel(multiplicand_of(kSpmm, a.format), options, {});
    require(kernel.has_value(), "a format without a kernel");
    plan = *plan_to_store(kSpmm, a, *kernel, options, {});
  }
};

/// What an input is about.
struct Setting {
  std::size_t family;  ///< of kFamilies, then of kHostFormats
  std::int64_t columns;
  int device;

  auto operator<=>(const Setting&) const = default;
};

/// Makes the plan of a setting, once.
template <class Plan, class Family>
const Plan& made(const Family& family, const Setting& setting) {
  static std::map<Setting, Plan> all;
  return all.try_emplace(setting, family, setting.columns, setting.device).first->second;
}

/// What is stored, as somebody else would have it.
struct Stored {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> numbers;
};

/// One change; places wrap around.
struct Change {
  std::uint8_t kind, value;
  std::uint16_t at, from;
};

constexpr std::size_t kPiece = 4;  ///< bytes that move together: fields are no smaller

void set_byte(Stored& s, const Change& c) { s.bytes[c.at % s.bytes.size()] = std::byte{c.value}; }
void flip_bit(Stored& s, const Change& c) { s.bytes[c.at % s.bytes.size()] ^= std::byte{1} << c.value % 8; }
void swap_pieces(Stored& s, const Change& c) {
  const std::size_t pieces = s.bytes.size() / kPiece, count = c.value % 8 + 1;
  for (std::size_t i = 0; i < count && pieces > 0; ++i)
    std::swap_ranges(s.bytes.data() + (c.at + i) % pieces * kPiece,
                     s.bytes.data() + (c.at + i) % pieces * kPiece + kPiece,
                     s.bytes.data() + (c.from + i) % pieces * kPiece);
}
void copy_pieces(Stored& s, const Change& c) {
  const std::size_t pieces = s.bytes.size() / kPiece, count = c.value % 8 + 1;
  for (std::size_t i = 0; i < count && pieces > 0; ++i)
    std::memmove(s.bytes.data() + (c.at + i) % pieces * kPiece,
                 s.bytes.data() + (c.from + i) % pieces * kPiece, kPiece);
}
void add_to_word(Stored& s, const Change& c) {
  if (s.bytes.size() < kPiece) return;
  std::byte* const at = s.bytes.data() + c.at % (s.bytes.size() / kPiece) * kPiece;
  std::uint32_t word = 0;
  std::memcpy(&word, at, kPiece);
  word += static_cast<std::uint32_t>(static_cast<std::int8_t>(c.value));
  std::memcpy(at, &word, kPiece);
}
void change_number(Stored& s, const Change& c) {
  if (s.numbers.empty()) return;
  std::int64_t& number = s.numbers[c.at % s.numbers.size()];
  const auto by = static_cast<std::uint64_t>(static_cast<std::int8_t>(c.value)) << c.from % 60;
  number = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + by);
}
void resize(Stored& s, const Change& c) {
  s.bytes.resize(c.at % 2 == 0 ? s.bytes.size() + c.value
                               : s.bytes.size() - std::min<std::size_t>(c.value, s.bytes.size()));
}
constexpr void (*kChanges[])(Stored&, const Change&) = {set_byte,    flip_bit,      swap_pieces, copy_pieces,
                                                        add_to_word, change_number, resize};

void apply(Stored& stored, std::span<const std::uint8_t> changes) {
  constexpr std::size_t kBytes = 6;
  for (; changes.size() >= kBytes && !stored.bytes.empty(); changes = changes.subspan(kBytes)) {
    const auto word = [&](std::size_t i) {
      return static_cast<std::uint16_t>(changes[i] | changes[i + 1] << 8);
    };
    const Change change{changes[0], changes[1], word(2), word(4)};
    kChanges[change.kind % std::size(kChanges)](stored, change);
  }
}

/// As on the device, where empty arrays have an address, too.
formats::FormatView with_addresses(formats::FormatView format) {
  static const std::max_align_t nothing{};
  for (std::size_t i = 0; i < format.layout->arrays.size(); ++i)
    if (ArrayView& array = format.arrays[i]; array.present() && array.size == 0) array.data = &nothing;
  return format;
}

/// Verifies a product with ones: each number is the sum of a row.
void require_sums(const std::vector<float>& result, std::int64_t n) {
  const formats::Csr& a = matrix();
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float sum = 0;
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      sum += a.values.as<float>()[static_cast<std::size_t>(k)];
    for (std::int64_t c = 0; c < n; ++c)
      require(result[static_cast<std::size_t>(r * n + c)] == sum, "a product is wrong");
  }
}

/// Multiplies by ones: each number of the result is the sum of a row, or N at each entry.
void run(const Made& m, const Schedule& schedule) {
  const formats::Csr& a = matrix();
  std::vector<float> ones(static_cast<std::size_t>(std::max(a.rows, a.cols) * m.n), 1.f);
  std::vector<float> result(static_cast<std::size_t>(m.family.sampled ? a.nnz() : a.rows * m.n), -1.f);
  std::vector<std::byte> workspace(schedule.workspace_bytes);  // counters start at zero
  Launch launch;
  launch.format = with_addresses(m.formatted.data.view());
  launch.schedule = schedule.contents().data();
  launch.header = &schedule.header;
  launch.workspace = workspace.data();
  launch.n = m.n;
  launch.device = &m.device;
  launch.operands =
      m.family.sampled
          ? to_operands(SddmmOperands{
                .x = ones.data(), .ldx = m.n, .y = ones.data(), .ldy = m.n, .out = result.data()})
          : to_operands(SpmmOperands{.b = ones.data(), .ldb = m.n, .c = result.data(), .ldc = m.n});
  require(m.kernel.launch(launch, nullptr) == 0, "a launch fails");
  if (m.family.sampled)
    return require(std::ranges::all_of(result, [&](float x) { return x == static_cast<float>(m.n); }),
                   "a sample is wrong");
  require_sums(result, m.n);
}

void fuzz_device_plan(const Made& m, std::span<const std::uint8_t> changes) {
  Stored stored{m.bytes, m.numbers};
  apply(stored, changes);
  const bool changed = stored.bytes != m.bytes || stored.numbers != m.numbers;
  const formats::FormatView view = m.formatted.data.view();
  const auto restored = m.kernel.store->restore({view, m.n, m.device}, {stored.numbers, stored.bytes});
  require(restored || restored.error().code == Errc::bad_input, "another error");
  require(restored || changed, "what was made does not come back");
  if (restored && (changed || changes.empty())) run(m, *restored);
}

void fuzz_host_plan(const MadeOnHost& m, std::span<const std::uint8_t> changes) {
  Stored stored{m.plan.schedule, m.plan.numbers};
  apply(stored, changes);
  const bool changed = stored.bytes != m.plan.schedule || stored.numbers != m.plan.numbers;
  const auto numbers = std::as_bytes(std::span(stored.numbers));
  const StoredPlan plan = {.name = "/plans/0000",
                           .key = m.plan.key,
                           .schedule = {stored.numbers, stored.bytes},
                           .numbers_hash = formats::bundle_hash(numbers.data(), numbers.size()),
                           .bytes_hash = formats::bundle_hash(stored.bytes.data(), stored.bytes.size())};
  PlanMatrix a = m.formatted.matrix();
  a.stored = std::span(&plan, 1);
  const auto planned = plan_spmm(a, m.options);
  require(planned || planned.error().code == Errc::bad_input, "another error");
  require(planned || changed, "what was made does not come back");
  require(prove_stored(plan, a.format).has_value() == planned.has_value(), "two proofs differ");
  if (!planned) return;
  require(is_stored(**planned), "the plan is passed over");
  const std::int64_t n = m.options.n;
  const std::vector<float> ones(static_cast<std::size_t>(matrix().cols * n), 1.f);
  std::vector<float> result(static_cast<std::size_t>(matrix().rows * n), -1.f);
  require(runtime::run(**planned, SpmmOperands{.b = ones.data(), .ldb = n, .c = result.data(), .ldc = n})
              .has_value(),
          "a plan does not run");
  require_sums(result, n);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  if (size < kHead) return 0;
  constexpr std::size_t kDevice = std::size(kFamilies), kAll = kDevice + std::size(kHostFormats);
  const Setting setting = {data[0] % kAll, kColumns[data[1] % std::size(kColumns)],
                           kMultiprocessors[data[2] % std::size(kMultiprocessors)]};
  const std::span<const std::uint8_t> changes(data + kHead, size - kHead);
  if (setting.family < kDevice)
    fuzz_device_plan(made<Made>(kFamilies[setting.family], setting), changes);
  else
    fuzz_host_plan(made<MadeOnHost>(kHostFormats[setting.family - kDevice], setting), changes);
  return 0;
}
