// holdfast-noop-client: answers ok to everything, at once. It measures the controller and stands in for a system in
// its tests.
#include "adapters/cpp/adapter.h"

namespace {

class Noop : public holdfast::Adapter {
 public:
  std::string_view name() const override { return "noop"; }
  holdfast::Answer open(const holdfast::OpenValue& /*value*/) override { return holdfast::Answer::ok(); }
  holdfast::Answer invoke(const holdfast::Request& /*request*/) override { return holdfast::Answer::ok(); }
  bool forwards(std::string_view /*f*/) const override { return false; }
};

}  // namespace

int main() {
  Noop noop;
  return holdfast::run_adapter(noop);
}
