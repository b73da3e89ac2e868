// Stored schedules that were changed: they are refused, or they are another division of the same work. An
// input names a kernel, N and a device, and then changes to what was made for them. What is accepted runs, on
// kernels that are emulated, and must give the product.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "formats/convert/converters.hpp"
#include "runtime/cuda/csr/csr.hpp"
#include "runtime/cuda/papers/acc/acc.hpp"
#include "runtime/cuda/papers/rsh/rsh.hpp"
#include "runtime/cuda/sddmm/sddmm.hpp"
#include "runtime/cuda/tall/tall.hpp"
#include "runtime/cuda/tile/tile.hpp"
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

/// A kernel that is emulated; of its instances the first, which multiplies f32.
struct Family {
  const char* format;
  std::span<const DeviceKernel> (*instances)();
  bool sampled = false;  ///< SDDMM
};
constexpr Family kFamilies[] = {
    {"csr", csr_kernels},
    {"bittcf", bittcf_kernels},
    {"bittcf", bittcf_staged_kernels},
    {"rs_tile", rs_tile_kernels},
    {"libra_spmm", libra_spmm_kernels},
    {"libra_sddmm", libra_sddmm_kernels},
    {"tall", tall_kernels},
    {"bittcf", bittcf_sddmm_kernels, true},
    {"rs_tile", rs_tile_sddmm_kernels, true},
    {"libra_spmm", libra_spmm_sddmm_kernels, true},
    {"bittcf", acc_balanced_kernels},
    {"rs_tile", rsh_kernels},
};
constexpr std::int64_t kColumns[] = {3, 64};
constexpr int kMultiprocessors[] = {1, 132};

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
        kernel(f.instances().front()),
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

const Made& made(std::size_t family, std::size_t columns, std::size_t device) {
  static std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Made> all;
  const auto key = std::tuple(family % std::size(kFamilies), columns % std::size(kColumns),
                              device % std::size(kMultiprocessors));
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  return all
      .try_emplace(key, kFamilies[std::get<0>(key)], kColumns[std::get<1>(key)],
                   kMultiprocessors[std::get<2>(key)])
      .first->second;
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
  for (std::int64_t r = 0; r < a.rows; ++r) {
    float sum = 0;
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      sum += a.values.as<float>()[static_cast<std::size_t>(k)];
    for (std::int64_t c = 0; c < m.n; ++c)
      require(result[static_cast<std::size_t>(r * m.n + c)] == sum, "a product is wrong");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  if (size < kHead) return 0;
  const Made& m = made(data[0], data[1], data[2]);
  Stored stored{m.bytes, m.numbers};
  apply(stored, {data + kHead, size - kHead});
  const bool changed = stored.bytes != m.bytes || stored.numbers != m.numbers;
  const formats::FormatView view = m.formatted.data.view();
  const auto restored = m.kernel.store->restore({view, m.n, m.device}, {stored.numbers, stored.bytes});
  require(restored || restored.error().code == Errc::bad_input, "another error");
  require(restored || changed, "what was made does not come back");
  if (restored && (changed || size == kHead)) run(m, *restored);
  return 0;
}
