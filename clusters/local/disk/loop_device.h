// A file as a block device.
#pragma once

#include <string>

namespace holdfast {

// Gone as soon as nobody has it open or mounted any more, whoever dies meanwhile.
class LoopDevice {
 public:
  explicit LoopDevice(const std::string& image);  // Error that says what stands in the way
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;
  ~LoopDevice();

  [[nodiscard]] int number() const { return number_; }
  void let_go();                        // it is mounted now
  [[nodiscard]] bool attached() const;  // somebody still uses it, for this image

 private:
  std::string image_;
  int number_ = -1;
  int device_ = -1;
};

}  // namespace holdfast
