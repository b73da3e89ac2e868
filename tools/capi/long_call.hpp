// Long-running calls of the C interface: progress, cancellation, and conversion of exceptions.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/core/printable.hpp"
#include "tools/capi/sptile_tools.h"
#include "tools/pipeline/work.hpp"

namespace sptile::tools {

/// A note or warning.
struct Message {
  std::string text;
  bool is_warning = false;
};

/// Stores messages, converted to printable text. Maps no files, because truncating a mapped file would end
/// the caller's process.
class CallWork : public Work {
 public:
  CallWork() { copy = true; }
  void warn(const std::string& text) const override { messages_.push_back({printable(text), true}); }
  void note(const std::string& text) const override { messages_.push_back({printable(text), false}); }
  [[nodiscard]] std::vector<Message> take_messages() { return std::move(messages_); }

 private:
  mutable std::vector<Message> messages_;
};

/// Runs the step with the seed and threads of the options, and reports its error or exception. With a
/// progress callback it runs on a separate thread, while this one reports.
sptile_status long_call(const sptile_tools_options& options,
                        const std::function<Status(CallWork& work)>& step) noexcept;

}  // namespace sptile::tools
