// A call of the C interface that takes long: told how far it is, stopped, and no exception crosses it.
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

/// Something that was said beside the result.
struct Message {
  std::string text;
  bool is_warning = false;
};

/// Keeps what is said, fit to be shown. Maps nothing: a file that is cut must not end the caller's process.
class CallWork : public Work {
 public:
  CallWork() { copy = true; }
  void warn(const std::string& text) const override { messages_.push_back({printable(text), true}); }
  void note(const std::string& text) const override { messages_.push_back({printable(text), false}); }
  [[nodiscard]] std::vector<Message> take_messages() { return std::move(messages_); }

 private:
  mutable std::vector<Message> messages_;
};

/// Does the step with the seed and threads of the options and reports its error, or whatever it throws. With
/// a progress callback it is done on a thread of its own, and this one tells.
sptile_status long_call(const sptile_tools_options& options,
                        const std::function<Status(CallWork& work)>& step) noexcept;

}  // namespace sptile::tools
