// Opens any bytes as a bundle, as they are and unfolded with hashes made right. Beyond not crashing: arrays
// lie inside the file; what passes the checks converts to a valid CSR, and multiplies.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/bundle.hpp"
#include "runtime/spmm.hpp"
#include "tests/fuzz/folded_bundle.hpp"

namespace {

using namespace sptile;
using namespace sptile::formats;
using runtime::Bundle;

constexpr std::int64_t kMostColumns = 1 << 12;  // of which B and C are made
constexpr std::int64_t kMostRows = 1 << 20;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "bundle_fuzz: %s\n", what);
  std::abort();
}

void require_inside(const Bundle& bundle, Bytes file) {
  for (const runtime::BundleArray& array : bundle.arrays()) {
    const auto* data = static_cast<const std::byte*>(array.array.data);
    const auto bytes = static_cast<std::size_t>(array.array.bytes());
    require(bytes == 0 || (data >= file.data() + kPage && bytes <= file.size() &&
                           data <= file.data() + file.size() - bytes),
            "an array reaches out of the file");
    static_cast<void>(bundle.verify_checksum(array));
  }
}

void multiply(const Bundle& bundle, const FormatView& view) {
  if (bundle.cols() > kMostColumns || bundle.rows() > kMostRows) return;
  constexpr std::int64_t kN = 3;
  const auto plan =
      runtime::plan_spmm({view, {}, bundle.value_source(view.layout->name), nullptr}, {.n = kN});
  if (!plan) return;  // for example f64 values with an f32 B
  const std::vector<float> b(static_cast<std::size_t>(bundle.cols() * kN), 1.0f);
  std::vector<float> c(static_cast<std::size_t>(bundle.rows() * kN));
  require(runtime::run(**plan, runtime::SpmmOperands{b.data(), kN, c.data(), kN, 1, 0}).has_value(),
          "a planned product does not run");
}

void use(const Bundle& bundle, Bytes file) {
  require_inside(bundle, file);
  for (const FormatView& view : bundle.formats()) {
    if (!check(view)) continue;
    const auto csr = find_converter(view.layout->name)->to_csr(view);
    require(!csr || check_csr(csr->view()).has_value(), "a checked format is no valid CSR");
    multiply(bundle, view);
  }
}

void open_and_use(Bytes file) {
  const auto bundle = Bundle::from_memory(file, "fuzz.h5");
  if (bundle) use(**bundle, file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const std::byte*>(data), size);
  Buffer<std::byte> copy(static_cast<std::int64_t>(size));  // aligned
  std::copy(input.begin(), input.end(), copy.begin());
  open_and_use(copy.span());
  const Buffer<std::byte> image = unfold(input);
  if (!image.empty()) open_and_use(image.span());
  return 0;
}
