// How libFuzzer changes folded bundles: mostly by lies that keep the table readable, see mutate_bundle.hpp.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "tests/fuzz/folded_bundle.hpp"
#include "tests/mutate_bundle.hpp"

using namespace sptile;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

/// Takes a folded bundle apart; its arrays are the heads of their pages.
BundleDraft draft_of(std::vector<std::byte>& heads, Bytes folded) {
  BundleDraft draft;
  std::memcpy(&draft.header, folded.data(), sizeof draft.header);
  const Bytes rest = folded.subspan(sizeof draft.header);
  draft.entries.resize(
      std::min<std::size_t>(draft.header.entries, rest.size() / sizeof(formats::BundleEntry)));
  const std::size_t table = draft.entries.size() * sizeof(formats::BundleEntry);
  std::ranges::copy(rest.first(table), reinterpret_cast<std::byte*>(draft.entries.data()));
  heads.assign(rest.begin() + static_cast<std::ptrdiff_t>(table), rest.end());
  const std::uint64_t first = block_for(draft.entries.size()) + kPage;
  draft.data = [&heads, first](const formats::BundleEntry& e) {
    const std::size_t at = (e.offset - first) / kPage * kPageHead;  // wraps to far away
    if (e.offset < first || at >= heads.size()) return std::span<std::byte>();
    return std::span(heads).subspan(at, std::min(kPageHead, heads.size() - at));
  };
  return draft;
}

/// Puts it together again; places follow when the table takes another size.
std::vector<std::byte> join(BundleDraft& draft, std::uint64_t old_block, Bytes heads) {
  const std::uint64_t block = block_for(draft.entries.size());
  for (formats::BundleEntry& e : draft.entries)
    if (e.offset != 0) e.offset += block - old_block;
  draft.header.entries = static_cast<std::uint32_t>(draft.entries.size());
  draft.header.user_block = block;
  std::vector<std::byte> folded;
  const auto append = [&](const void* from, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(from);
    folded.insert(folded.end(), begin, begin + bytes);
  };
  append(&draft.header, sizeof draft.header);
  append(draft.entries.data(), draft.entries.size() * sizeof draft.entries[0]);
  append(heads.data(), heads.size());
  return folded;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size < sizeof(formats::BundleHeader) || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  std::vector<std::byte> heads;
  BundleDraft draft = draft_of(heads, {reinterpret_cast<const std::byte*>(data), size});
  const std::uint64_t old_block = block_for(draft.entries.size());
  for (std::uint32_t times = 1 + random() % 3; times > 0; --times) mutate(draft, random);
  const std::vector<std::byte> folded = join(draft, old_block, heads);
  if (folded.size() > most) return size;
  std::memcpy(data, folded.data(), folded.size());
  return folded.size();
}
