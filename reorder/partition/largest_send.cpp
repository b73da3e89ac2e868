#include "reorder/partition/largest_send.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reorder/partition/division.hpp"

namespace sptile::reorder {
namespace {

constexpr double kMaxImbalance = 1.05, kMaxVolume = 1.02;
/// Maximum columns inspected in total, per nonzero of the matrix.
constexpr std::int64_t kStepsPerEntry = 8;
/// Number of parts that a row may move to: the parts with the most nonzeros in its column.
constexpr std::size_t kTargets = 3;

// Number of off-diagonal nonzeros of each part in each column. A column has min(nonzeros, parts) slots; with
// one slot per part, slots are indexed by part.
class ColumnUsers {
 public:
  ColumnUsers(const formats::CsrView& a, std::int32_t parts, std::span<const std::int32_t> part)
      : parts_(parts), first_(static_cast<std::size_t>(a.cols) + 1, 0) {
    for (const std::int32_t c : a.col_idx) ++first_[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 1; c < first_.size(); ++c) first_[c] = std::min<std::int64_t>(first_[c], parts);
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    slots_.resize(static_cast<std::size_t>(first_.back()));
    for (std::size_t r = 0; r < part.size(); ++r)
      for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
        if (const std::int32_t c = a.col_idx[static_cast<std::size_t>(i)]; c != static_cast<std::int32_t>(r))
          add(c, part[r], 1);
  }

  [[nodiscard]] std::int32_t count(std::int32_t column, std::int32_t part) const {
    const Slot* const slot = find(column, part);
    return slot == nullptr || slot->part != part ? 0 : slot->count;
  }

  void add(std::int32_t column, std::int32_t part, std::int32_t entries) {
    Slot& slot = const_cast<Slot&>(*find(column, part));
    slot.part = part;
    slot.count += entries;
  }

  /// Calls visit(part, nonzeros) for each part with nonzeros in the column.
  template <class Visit>
  void each(std::int32_t column, const Visit& visit) const {
    for (const Slot& slot : of(column))
      if (slot.count > 0) visit(slot.part, slot.count);
  }

 private:
  struct Slot {
    std::int32_t part = -1, count = 0;
  };

  [[nodiscard]] std::span<const Slot> of(std::int32_t column) const {
    const auto c = static_cast<std::size_t>(column);
    return {slots_.data() + first_[c], static_cast<std::size_t>(first_[c + 1] - first_[c])};
  }
  // Returns the slot of a part, else a free slot, else null.
  [[nodiscard]] const Slot* find(std::int32_t column, std::int32_t part) const {
    const std::span<const Slot> slots = of(column);
    if (std::ssize(slots) == parts_) return &slots[static_cast<std::size_t>(part)];
    const Slot* free = nullptr;
    for (const Slot& slot : slots) {
      if (slot.part == part && slot.count > 0) return &slot;
      if (slot.count == 0 && free == nullptr) free = &slot;
    }
    return free;
  }

  std::int64_t parts_;
  std::vector<std::int64_t> first_;
  std::vector<Slot> slots_;
};

class Mover {
 public:
  Mover(const formats::CsrView& a, std::int32_t parts, std::span<std::int32_t> part)
      : a_(a),
        part_(part),
        users_(a, parts, part),
        send_(static_cast<std::size_t>(parts), 0),
        weight_(send_),
        change_(send_),
        is_touched_(send_.size(), 0),
        steps_left_(kStepsPerEntry * (a.nnz() + a.rows)) {
    for (std::size_t v = 0; v < part.size(); ++v) {
      of(weight_, part[v]) += row_weight(a, static_cast<std::int64_t>(v));
      of(send_, part[v]) += receivers(static_cast<std::int32_t>(v), part[v]);
    }
    const auto mean = static_cast<double>(a.nnz() + a.rows) / parts;
    max_weight_ = static_cast<std::int64_t>(kMaxImbalance * mean);
    volume_ = std::accumulate(send_.begin(), send_.end(), std::int64_t{0});
    max_volume_ = static_cast<std::int64_t>(kMaxVolume * static_cast<double>(volume_));
  }

  SentRows run() {
    while (steps_left_ > 0 && relieve(largest())) continue;
    return {volume_, of(send_, largest()), std::ranges::max(weight_) > max_weight_};
  }

 private:
  static std::int64_t& of(std::vector<std::int64_t>& numbers, std::int32_t part) {
    return numbers[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] std::int32_t largest() const {
    return static_cast<std::int32_t>(std::ranges::max_element(send_) - send_.begin());
  }
  [[nodiscard]] std::int64_t receivers(std::int32_t v, std::int32_t owner) const {
    std::int64_t count = 0;
    users_.each(v, [&](std::int32_t p, std::int32_t) { count += p != owner; });
    return count;
  }
  [[nodiscard]] std::span<const std::int32_t> columns(std::int32_t v) const {
    return a_.col_idx.subspan(static_cast<std::size_t>(a_.row_ptr[static_cast<std::size_t>(v)]),
                              static_cast<std::size_t>(a_.row_nnz(v)));
  }

  void change(std::int32_t part, std::int64_t by) {
    std::uint8_t& touched = is_touched_[static_cast<std::size_t>(part)];
    if (touched == 0) touched_.push_back(part);
    touched = 1;
    of(change_, part) += by;
  }

  // Computes the change of each part's sent rows, in change_, if v moved.
  void weigh_move(std::int32_t v, std::int32_t from, std::int32_t to) {
    for (const std::int32_t p : touched_) of(change_, p) = is_touched_[static_cast<std::size_t>(p)] = 0;
    touched_.clear();
    change(from, -receivers(v, from));
    change(to, receivers(v, to));
    steps_left_ -= static_cast<std::int64_t>(columns(v).size()) + 1;
    for (const std::int32_t c : columns(v)) {
      if (c == v) continue;
      const std::int32_t owner = part_[static_cast<std::size_t>(c)];
      if (owner != from && users_.count(c, from) == 1) change(owner, -1);
      if (owner != to && users_.count(c, to) == 0) change(owner, 1);
    }
  }

  // Returns whether the largest sender would send less and every other part would stay below it.
  [[nodiscard]] bool helps(std::int32_t v, std::int32_t from, std::int32_t to) {
    if (of(change_, from) >= 0 || of(weight_, to) + row_weight(a_, v) > max_weight_) return false;
    std::int64_t more = 0;
    for (const std::int32_t p : touched_) {
      more += of(change_, p);
      if (p != from && of(change_, p) > 0 && of(send_, p) + of(change_, p) >= of(send_, from)) return false;
    }
    return more <= 0 || volume_ + more <= max_volume_;
  }

  void move(std::int32_t v, std::int32_t from, std::int32_t to) {
    for (const std::int32_t p : touched_) {
      of(send_, p) += of(change_, p);
      volume_ += of(change_, p);
    }
    of(weight_, from) -= row_weight(a_, v);
    of(weight_, to) += row_weight(a_, v);
    part_[static_cast<std::size_t>(v)] = to;
    for (const std::int32_t c : columns(v)) {
      if (c == v) continue;
      users_.add(c, from, -1);
      users_.add(c, to, 1);
    }
  }

  // Returns the parts that need row v, ordered by nonzeros in its column.
  [[nodiscard]] std::vector<std::int32_t> targets(std::int32_t v, std::int32_t from) const {
    std::vector<std::pair<std::int32_t, std::int32_t>> users;
    users_.each(v, [&](std::int32_t p, std::int32_t entries) {
      if (p != from) users.emplace_back(-entries, p);
    });
    const std::size_t count = std::min(users.size(), kTargets);
    std::partial_sort(users.begin(), users.begin() + static_cast<std::ptrdiff_t>(count), users.end());
    std::vector<std::int32_t> parts;
    for (std::size_t i = 0; i < count; ++i) parts.push_back(users[i].second);
    return parts;
  }

  // Moves rows to other parts until the part sends at most the mean; returns whether any row moved.
  bool relieve(std::int32_t from) {
    std::vector<std::pair<std::int64_t, std::int32_t>> sent;  // rows by the number of parts that need them
    for (std::size_t v = 0; v < part_.size(); ++v) {
      if (part_[v] != from) continue;
      const auto row = static_cast<std::int32_t>(v);
      if (const std::int64_t parts = receivers(row, from); parts > 0) sent.emplace_back(-parts, row);
    }
    std::ranges::sort(sent);
    steps_left_ -= std::ssize(part_);
    const std::int64_t mean = volume_ / std::ssize(send_);
    bool any = false;
    for (const auto& [parts, v] : sent) {
      if (of(send_, from) <= mean || steps_left_ <= 0) break;
      for (const std::int32_t to : targets(v, from)) {
        weigh_move(v, from, to);
        if (!helps(v, from, to)) continue;
        move(v, from, to);
        any = true;
        break;
      }
    }
    return any;
  }

  formats::CsrView a_;
  std::span<std::int32_t> part_;
  ColumnUsers users_;
  std::vector<std::int64_t> send_, weight_, change_;
  std::vector<std::int32_t> touched_;  // parts with a change, without duplicates
  std::vector<std::uint8_t> is_touched_;
  std::int64_t steps_left_, max_weight_ = 0, volume_ = 0, max_volume_ = 0;
};

}  // namespace

SentRows bound_largest_send(const formats::CsrView& a, std::int32_t parts, std::span<std::int32_t> part) {
  return Mover(a, parts, part).run();
}

}  // namespace sptile::reorder
