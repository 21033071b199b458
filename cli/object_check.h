// Judging a recorded history as objects of one model, and what a verdict leaves behind for `holdfast verify`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checkers/object_model.h"
#include "harness/formats/readers.h"
#include "results/results.h"

namespace holdfast {

struct ObjectCheck {
  std::filesystem::path file;
  std::string model;
  ModelOptions options;
  formats::ReadOptions reading;
  Time limit{};           // zero: none
  std::size_t bytes = 0;  // zero: none
};

struct ObjectResults {
  RunResults results;
  formats::RecordedHistory history;
  std::vector<RecordedObject> objects;
  std::vector<objects::Decision> decisions;  // of each object
};

ObjectResults check_objects(const ObjectCheck& check);

// One certificate per object, a line each (checkers/verify/certificate.h).
std::string certificates_text(const ObjectResults& checked);

// "4G", "500M", "1048576". UsageError that names the option and the value.
std::size_t parse_bytes(std::string_view option, std::string_view text);

}  // namespace holdfast
