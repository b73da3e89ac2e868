#include "formats/hdf5_helper/call.hpp"

#include <cstdlib>
#include <cstring>

namespace sptile::formats {
namespace {

herr_t note_reason(unsigned, const H5E_error2_t* error, void* data) {
  auto& reason = *static_cast<Hdf5Reason*>(data);
  if (error->desc == nullptr) return 0;
  constexpr const char* kMark = "errno = ";
  if (const char* mark = std::strstr(error->desc, kMark); mark != nullptr)
    reason.errnum = std::atoi(mark + std::strlen(kMark));
  reason.text = error->desc;
  return 0;
}

}  // namespace

Hdf5Call::Hdf5Call() {
  // Files are closed explicitly. An exit handler of the library would access files whose closing failed.
  H5dont_atexit();
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Call::~Hdf5Call() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

Hdf5Reason hdf5_reason() {
  Hdf5Reason reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note_reason, &reason);
  if (reason.text.empty()) reason.text = "unknown error";
  return reason;
}

}  // namespace sptile::formats
