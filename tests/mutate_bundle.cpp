#include "tests/mutate_bundle.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "formats/core/dtype.hpp"
#include "tests/seal_bundle.hpp"

namespace sptile {
namespace {

using formats::BundleEntry;

std::uint64_t below(std::mt19937& random, std::uint64_t end) { return end == 0 ? 0 : random() % end; }

std::string_view path_of(const BundleEntry& e) { return {e.path, ::strnlen(e.path, sizeof e.path)}; }

bool holds_values(const BundleEntry& e) { return path_of(e).ends_with("values"); }

std::string_view group_of(const BundleEntry& e) {
  const std::string_view path = path_of(e);
  return path.substr(0, path.rfind('/') + 1);
}

std::uint64_t width_of(const BundleEntry& e) {
  return e.dtype < std::size(kDTypes) ? size_of(static_cast<DType>(e.dtype)) : 1;
}

/// A number that may be one too many, none at all, or far too large.
std::uint64_t lie_about(std::uint64_t number, std::mt19937& random) {
  const std::uint64_t lies[] = {number + 1,    number - 1, 0,  1,       8,         number + 8,
                                number * 2,    number / 2, 16, 1 << 20, ~0ull / 8, number ^ 1,
                                0x7fffffffull, ~0ull};
  return lies[below(random, std::size(lies))];
}

/// Another type; the array keeps its bytes where they can be told again in its elements, else its elements.
void retype(BundleEntry& e, std::uint32_t dtype, bool keep_bytes) {
  const std::uint64_t bytes = e.dims[0] * e.dims[1] * width_of(e);
  e.dtype = dtype;
  if (const std::uint64_t width = std::max<std::uint64_t>(width_of(e), 1); keep_bytes && bytes % width == 0)
    e.dims[0] = bytes / width, e.dims[1] = 1, e.rank = 1;
}

std::uint32_t any_type(std::mt19937& random) {
  return static_cast<std::uint32_t>(below(random, 32) == 0 ? random() : 1 + below(random, 9));
}

/// What is lied about: one array of the table, and the dice.
struct Lie {
  BundleDraft& draft;
  BundleEntry& entry;
  std::mt19937& random;
};

void change_type(const Lie& lie) { retype(lie.entry, any_type(lie.random), below(lie.random, 2) == 0); }

/// All value arrays of the bundle, or of one format, get the same type.
void change_value_types(const Lie& lie) {
  const std::uint32_t dtype = any_type(lie.random);
  const bool everywhere = below(lie.random, 4) == 0, keep_bytes = below(lie.random, 2) == 0;
  const std::string group(group_of(lie.entry));
  for (BundleEntry& e : lie.draft.entries)
    if (holds_values(e) && (everywhere || group_of(e) == group)) retype(e, dtype, keep_bytes);
}

void change_length(const Lie& lie) { lie.entry.dims[0] = lie_about(lie.entry.dims[0], lie.random); }

void change_rank(const Lie& lie) {
  BundleEntry& e = lie.entry;
  const std::uint64_t columns = 1 + below(lie.random, 8);
  e.rank = 2;
  if (e.dims[0] % columns == 0) e.dims[0] /= columns, e.dims[1] *= columns;
}

constexpr std::uint32_t kKnownFlags[] = {formats::kBundlePattern, formats::kBundleSymmetric,
                                         formats::kBundleNotSymmetric};

void change_flags(const Lie& lie) {
  if (below(lie.random, 16) == 0)
    lie.draft.header.must_know ^= 1u << below(lie.random, 32);
  else
    lie.draft.header.may_ignore ^= kKnownFlags[below(lie.random, std::size(kKnownFlags))];
}

void change_place(const Lie& lie) {
  BundleEntry& other = lie.draft.entries[below(lie.random, lie.draft.entries.size())];
  if (below(lie.random, 4) == 0)
    lie.entry.offset = lie_about(lie.entry.offset, lie.random);
  else
    std::swap(lie.entry.offset, other.offset);
}

void drop(const Lie& lie) {
  const std::string group(group_of(lie.entry)), path(path_of(lie.entry));
  const bool whole_group = below(lie.random, 2) == 0;
  std::erase_if(lie.draft.entries, [&](const BundleEntry& e) {
    return whole_group ? group_of(e) == group : path_of(e) == path;
  });
}

/// The array takes the name of another one, or a new one beside it.
void rename(const Lie& lie) {
  const BundleEntry& other = lie.draft.entries[below(lie.random, lie.draft.entries.size())];
  std::string name = below(lie.random, 2) == 0 ? std::string(path_of(other))
                                               : std::string(group_of(other)) + formats::kValueSourceName;
  name.resize(sizeof lie.entry.path - 1);
  std::memcpy(lie.entry.path, name.c_str(), sizeof lie.entry.path);
}

template <class Word>
void change_word(std::byte* at, std::size_t elements, std::size_t i, std::mt19937& random) {
  const auto read = [&](std::size_t k) {
    Word word;
    std::memcpy(&word, at + k * sizeof word, sizeof word);
    return word;
  };
  const auto write = [&](std::size_t k, Word word) { std::memcpy(at + k * sizeof word, &word, sizeof word); };
  const std::size_t other = below(random, elements);
  const Word here = read(i), there = read(other);
  switch (below(random, 5)) {
    case 0:
      return write(i, static_cast<Word>(lie_about(here, random)));
    case 1:
      return write(i, static_cast<Word>(here ^ Word{1} << below(random, 8 * sizeof(Word))));
    case 2:
      return write(i, there);
    case 3:
      return write(i, there), write(other, here);
    default:
      return write(i, static_cast<Word>(random()));
  }
}

void change_data(const Lie& lie) {
  const std::span<std::byte> data = lie.draft.data(lie.entry);
  const std::size_t width = std::max<std::size_t>(width_of(lie.entry), 1), elements = data.size() / width;
  if (elements == 0) return;
  const std::size_t stored = std::max<std::size_t>(std::min(elements, lie.entry.bytes / width), 1);
  const std::size_t i = below(lie.random, stored);
  if (width == 1) change_word<std::uint8_t>(data.data(), stored, i, lie.random);
  if (width == 2) change_word<std::uint16_t>(data.data(), stored, i, lie.random);
  if (width == 4) change_word<std::uint32_t>(data.data(), stored, i, lie.random);
  if (width == 8) change_word<std::uint64_t>(data.data(), stored, i, lie.random);
}

void change_bytes(const Lie& lie) { lie.entry.bytes = lie_about(lie.entry.bytes, lie.random); }

struct Mutation {
  const char* name;
  void (*apply)(const Lie&);
  int weight;
  bool settles;  ///< bytes and places then follow, or the table is refused at once
};
constexpr Mutation kMutations[] = {
    {"type", change_type, 4, true},     {"value types", change_value_types, 4, true},
    {"length", change_length, 4, true}, {"rank", change_rank, 1, true},
    {"flags", change_flags, 1, false},  {"place", change_place, 1, true},
    {"drop", drop, 1, false},           {"name", rename, 1, false},
    {"data", change_data, 20, false},   {"bytes", change_bytes, 1, false},
};

const Mutation& choose(std::mt19937& random) {
  int total = 0;
  for (const Mutation& m : kMutations) total += m.weight;
  auto left = static_cast<int>(below(random, static_cast<std::uint64_t>(total)));
  const Mutation* chosen = std::begin(kMutations);
  while (left >= chosen->weight) left -= chosen++->weight;
  return *chosen;
}

/// Sizes that the table check would refuse follow from what was changed.
void settle(BundleDraft& draft) {
  for (BundleEntry& e : draft.entries) {
    e.bytes = e.dims[0] * e.dims[1] * width_of(e);
    if (e.bytes == 0) e.offset = 0;
  }
  std::ranges::stable_sort(draft.entries, {}, &BundleEntry::offset);
}

}  // namespace

std::string mutate(BundleDraft& draft, std::mt19937& random) {
  if (draft.entries.empty()) return "nothing";
  const Mutation& mutation = choose(random);
  BundleEntry& entry = draft.entries[below(random, draft.entries.size())];
  const std::string what = std::string(mutation.name) + " of " + std::string(path_of(entry));
  mutation.apply({draft, entry, random});
  if (mutation.settles && below(random, 16) != 0) settle(draft);
  return what;
}

std::string forge(std::span<std::byte> bundle, std::mt19937& random) {
  BundleDraft draft;
  std::memcpy(&draft.header, bundle.data(), sizeof draft.header);
  draft.entries = table_of(bundle);
  draft.data = [&bundle](const BundleEntry& e) {
    if (e.offset == 0 || e.offset >= bundle.size()) return std::span<std::byte>();
    return bundle.subspan(e.offset, std::min<std::size_t>(e.bytes, bundle.size() - e.offset));
  };
  std::string done = mutate(draft, random);
  if (below(random, 4) == 0) done += ", " + mutate(draft, random);
  draft.header.entries = static_cast<std::uint32_t>(draft.entries.size());
  put_table(bundle, draft.header, draft.entries);
  seal(bundle);
  return done;
}

}  // namespace sptile
