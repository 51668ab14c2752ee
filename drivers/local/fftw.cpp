// FFTW 3, double and single: the one that this program is linked with.

#include "local/fftw_library.hpp"

namespace fourscore::local {

namespace {

class Fftw : public FftwLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"fftw", "FFTW 3, passes split and timed at planning", "https://www.fftw.org"};
  }

 protected:
  [[nodiscard]] const FftwFunctions& functions() const override { return linked_fftw(); }
  [[nodiscard]] std::string threadless() const override {
    return "this program was built without libfftw3_threads and";
  }
};

FOURSCORE_REGISTER_LOCAL_FFT(Fftw);

}  // namespace

}  // namespace fourscore::local
