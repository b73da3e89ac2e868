// Matrices in device memory, as applications have them, give what they give on the CPU.
#include "runtime/cuda/device/gather.hpp"
#include "runtime/cuda/device/small_pool.hpp"
#include "runtime/cuda/device_input.hpp"
#include "tests/gpu/csr_on_device.hpp"
#include "tests/runtime/cuda/convert/convert_cases.hpp"
#include "tests/runtime/cuda/convert/entry_cases.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::cuda::DeviceCsr;
using runtime::cuda::DeviceEntries;
using runtime::cuda::Disorder;
using runtime::cuda::OwnedCsr;

namespace {

/// Entries in device memory.
class EntriesOnDevice {
 public:
  EntriesOnDevice(const Entries& e, const EntryForm& form) : EntriesOnDevice(EntryArrays(e, form)) {}
  explicit EntriesOnDevice(const EntryArrays& arrays)
      : row_(arrays.row.data(), arrays.row.size()),
        col_(arrays.col.data(), arrays.col.size()),
        values_(arrays.view.values,
                static_cast<std::size_t>(arrays.view.nnz) * size_of(arrays.view.value_dtype)),
        entries(arrays.view) {
    entries.row = row_.get();
    entries.col = col_.get();
    entries.values = values_.get();
  }

 private:
  DeviceBytes row_, col_, values_;

 public:
  DeviceEntries entries;
};

/// A matrix of a device in host memory.
formats::Csr downloaded(const DeviceCsr& a) {
  formats::Csr host{
      a.rows, a.cols, formats::Buffer<std::int64_t>(a.rows + 1), formats::Buffer<std::int32_t>(a.nnz), {}};
  REQUIRE(runtime::cuda::download(0, ArrayView(DType::i64, a.row_ptr, a.rows + 1), host.row_ptr.data()));
  REQUIRE(runtime::cuda::download(0, ArrayView(DType::i32, a.col_idx, a.nnz), host.col_idx.data()));
  if (a.value_dtype == DType::none) return host;
  host.values = formats::Array(a.value_dtype, a.nnz);
  REQUIRE(runtime::cuda::download(0, ArrayView(a.value_dtype, a.values, a.nnz), host.values.data()));
  return host;
}

OwnedCsr taken(const DeviceEntries& entries, Disorder disorder, bool borrow = false,
               cudaStream_t stream = nullptr) {
  auto made = runtime::cuda::canonical_csr(entries, {disorder, borrow}, stream);
  REQUIRE_MESSAGE(made.has_value(), made.error().text());
  return std::move(*made);
}

/// New values, in the caller's order on the device, come to where they belong.
void check_put_values(const OwnedCsr& made, const Entries& old, Random& random, cudaStream_t stream) {
  Entries e{old.rows, old.cols, old.row, old.col, {}};
  e.values = random_values(e.size(), old.values.dtype(), random);
  const formats::Csr expected = summed(e);
  const DeviceBytes from(e.values.data(), static_cast<std::size_t>(e.values.view().bytes()));
  const DeviceBytes to(static_cast<std::size_t>(expected.values.view().bytes()));
  REQUIRE(runtime::cuda::put_values(made, from.get(), to.get(), stream));
  require(cudaStreamSynchronize(stream));
  const auto bytes = to.to_host();
  CHECK((bytes.empty() || std::memcmp(bytes.data(), expected.values.data(), bytes.size()) == 0));
}

void check_taken(const Entries& e, const EntryForm& form, Disorder disorder, Random& random,
                 cudaStream_t stream = nullptr) {
  CAPTURE(form.name());
  const formats::Csr expected = summed(e);
  const EntriesOnDevice device(e, form);
  const OwnedCsr made = taken(device.entries, disorder, false, stream);
  CHECK(identical(downloaded(made.csr).view(), expected.view()));
  check_put_values(made, e, random, stream);
}

/// Many entries in few places.
Entries crowded(std::int64_t size, DType dtype, Random& random) {
  Entries e{700, 300, {}, {}, random_values(size, dtype, random)};
  for (std::int64_t i = 0; i < size; ++i) {
    e.row.push_back(static_cast<std::int64_t>(random() % 5 == 0 ? random() % 3 : random() % 700));
    e.col.push_back(static_cast<std::int64_t>(random() % 300));
  }
  return e;
}

Entries by_rows(const Entries& e) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(e.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
    return e.row[static_cast<std::size_t>(x)] < e.row[static_cast<std::size_t>(y)];
  });
  return choose(e, order);
}

}  // namespace

TEST_CASE("cuda inputs: entries in order and in any order, of every shape, type and form") {
  Random random(71);
  const Stream stream;
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const Entries e = entries_of(one.matrix);
    for (const EntryForm& form : kEntryForms) {
      check_taken(e, form, Disorder::refuse, random, stream.get());
      check_taken(choose(e, shuffled(e, form.csr, random)), form, Disorder::sort, random);
    }
  }
}

TEST_CASE("cuda inputs: entries in one place are added up, always to the same bits") {
  Random random(72);
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Entries e = crowded(400'000, dtype, random);
    for (int repeat = 0; repeat < 2; ++repeat)
      for (const EntryForm& form : kEntryForms)
        check_taken(form.csr ? by_rows(e) : choose(e, shuffled(e, false, random)), form, Disorder::sum,
                    random);
  }
}

TEST_CASE("cuda inputs: arrays that are as they should be stay where they are") {
  Random random(73);
  const formats::Csr a = random_matrix(400, 500, 0.1, DType::f32, random);
  const EntriesOnDevice device(entries_of(a), kEntryForms[0]);
  const OwnedCsr made = taken(device.entries, Disorder::sort, true);
  CHECK(made.borrows);
  CHECK(made.csr.row_ptr == device.entries.row);
  CHECK(made.csr.col_idx == device.entries.col);
  CHECK(made.csr.values == device.entries.values);
}

TEST_CASE("cuda inputs: what is wrong is refused with its place") {
  Random random(74);
  const formats::Csr good = random_matrix(400, 500, 0.1, DType::f32, random);
  const auto refusal = [&](const EntryForm& form, Disorder disorder, const auto& change) {
    Entries e = entries_of(good);
    change(e);
    const EntriesOnDevice device(e, form);
    const auto made = runtime::cuda::canonical_csr(device.entries, {disorder}, nullptr);
    REQUIRE(!made);
    CHECK(made.error().code == Errc::bad_input);
    return made.error().message;
  };
  for (const EntryForm& form : kEntryForms) {
    CAPTURE(form.name());
    const std::string place = form.csr ? "col_idx[1000]" : "entry 1000 ";
    for (const Disorder disorder : {Disorder::refuse, Disorder::sort, Disorder::sum}) {
      const auto text = refusal(form, disorder, [](Entries& e) { e.col[1000] = 500, e.col[2000] = -1; });
      CHECK_MESSAGE(text.find(place) != std::string::npos, text);
    }
    const auto twice = [](Entries& e) { e.col[1001] = e.col[1000], e.row[1001] = e.row[1000]; };
    CHECK(refusal(form, Disorder::refuse, twice).find("1001") != std::string::npos);
    CHECK(refusal(form, Disorder::sort, twice).find("entries 1000 and 1001 are both") != std::string::npos);
  }
}

TEST_CASE("cuda inputs: transposes, and what is symmetric") {
  Random random(75);
  const Stream stream;
  for (const ConvertCase& one : convert_cases()) {
    CAPTURE(one.name);
    const formats::Csr expected = formats::transpose(one.matrix.view());
    const CsrOnDevice device(one.matrix);
    for (const bool with_positions : {false, true}) {
      const auto made = runtime::cuda::transpose_on_device(device.csr, with_positions, stream.get());
      REQUIRE_MESSAGE(made.has_value(), made.error().text());
      CHECK(identical(downloaded(made->csr).view(), expected.view()));
      CHECK(made->position.present() == with_positions);
      const auto symmetric = runtime::cuda::equal_on_device(device.csr, made->csr, stream.get());
      REQUIRE(symmetric);
      CHECK(*symmetric == identical(one.matrix.view(), expected.view()));
      const auto back = runtime::cuda::transpose_on_device(made->csr, false, stream.get());
      REQUIRE(back);
      const auto same = runtime::cuda::equal_on_device(device.csr, back->csr, stream.get());
      REQUIRE(same);
      CHECK(*same);
    }
  }
}

TEST_CASE("cuda inputs: value_source by itself; packed numbers go to CSR order and back") {
  Random random(76);
  const Stream stream;
  for (const DType dtype : {DType::none, DType::bf16, DType::f32, DType::f64}) {
    const formats::Csr a = random_matrix(700, 900, 0.03, dtype, random);
    const auto order = random_order(a.rows, random);
    const CsrOnDevice device(a, order);
    for (const formats::Converter& converter : formats::converters()) {
      CAPTURE(converter.format);
      const Formatted expected = format_matrix(a, converter.format, order);
      const auto converted = runtime::cuda::convert_on_device(*expected.data.layout, device.csr, {}, nullptr);
      REQUIRE(converted);
      const auto made = runtime::cuda::make_value_source(converted->view, device.csr, {}, stream.get());
      REQUIRE_MESSAGE(made.has_value(), made.error().text());
      std::vector<std::int64_t> source(static_cast<std::size_t>(a.nnz()));
      REQUIRE(runtime::cuda::download(0, made->positions, source.data()));
      CHECK(std::memcmp(source.data(), expected.value_source.data(), source.size() * 8) == 0);
      if (dtype == DType::none) continue;
      const std::size_t width = size_of(dtype), bytes = source.size() * width;
      const DeviceBytes packed(bytes), sorted(bytes);
      const auto* const position = made->positions.as<std::int64_t>().data();
      require(runtime::cuda::gather(packed.get(), device.csr.values, position, a.nnz(), width, stream.get()));
      require(runtime::cuda::scatter(sorted.get(), packed.get(), position, a.nnz(), width, stream.get()));
      require(cudaStreamSynchronize(stream.get()));
      CHECK(std::memcmp(sorted.to_host().data(), a.values.data(), bytes) == 0);
      if (bytes > 0 && converter.format != std::string_view("csr"))
        CHECK(std::memcmp(packed.to_host().data(), a.values.data(), bytes) != 0);
    }
  }
}

TEST_CASE("cuda inputs: a matrix outlives the stream that it was made on, in memory of the pool") {
  Random random(77);
  const formats::Csr a = random_matrix(400, 500, 0.1, DType::f32, random);
  const EntriesOnDevice device(entries_of(a), kEntryForms[5]);
  OwnedCsr made;
  {
    const Stream stream;
    made = taken(device.entries, Disorder::refuse, false, stream.get());
  }
  CHECK(identical(downloaded(made.csr).view(), a.view()));
  const auto used = [] {
    const auto* const small = runtime::cuda::small_pool(0);
    REQUIRE(small != nullptr);
    std::uint64_t bytes = 0;
    require(cudaDeviceSynchronize());
    require(cudaMemPoolGetAttribute(small->pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
    return bytes;
  };
  const std::uint64_t before = used();
  made = {};
  CHECK(used() < before);
}
