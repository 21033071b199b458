#include "harness/checker.h"

namespace holdfast {

std::string_view to_string(Validity validity) {
  switch (validity) {
    case Validity::valid:
      return "valid";
    case Validity::unknown:
      return "unknown";
    case Validity::invalid:
      return "invalid";
  }
  return "unknown";
}

}  // namespace holdfast
