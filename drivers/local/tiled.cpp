// Passes by tiles of neighbouring lines, beside those of FFTW: for each pass the one that measured faster is taken.

#include <fmt/format.h>

#include "local/fftw_library.hpp"
#ifdef FOURSCORE_HIGHWAY_VERSION
#include "local/tiled/kernels.hpp"
#include "local/tiled/passes.hpp"
#endif

namespace fourscore::local {

namespace {

class Tiled : public FftwLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"tiled", "tiles of neighbouring lines by SIMD, or FFTW, whichever measures faster for a pass",
            "https://github.com/google/highway"};
  }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_HIGHWAY_VERSION
    return {};
#else
    return FOURSCORE_HIGHWAY_MISSING;
#endif
  }
  [[nodiscard]] std::string version() const override {
#ifdef FOURSCORE_HIGHWAY_VERSION
    return fmt::format("Highway {} for {}, {}", FOURSCORE_HIGHWAY_VERSION, tiled::instruction_set(),
                       FftwLibrary::version());
#else
    return {};
#endif
  }
  [[nodiscard]] Reason refuses([[maybe_unused]] Kind kind, [[maybe_unused]] int threads) const override {
#ifdef FOURSCORE_HIGHWAY_VERSION
    if (threads > 1 && !tiled::has_threads())
      return fmt::format("{} threads, but local FFT library 'tiled' was built without OpenMP", threads);
    return FftwLibrary::refuses(kind, threads);
#else
    return unavailable();
#endif
  }

#ifdef FOURSCORE_HIGHWAY_VERSION
  [[nodiscard]] std::unique_ptr<LocalFft> make_from_parts(const LocalFftSpec& spec, const std::vector<AxisPart>& parts,
                                                          void* out) const override {
    return tiled::fft_of_parts(spec, parts, out);
  }
  [[nodiscard]] bool reads_parts(Index length) const override { return !tiled::radices_of(length).empty(); }
#endif

 protected:
  [[nodiscard]] const FftwFunctions& functions() const override {
#ifdef FOURSCORE_HIGHWAY_VERSION
    return linked_fftw();
#else
    throw InputError("local FFT library 'tiled' cannot run here: " + unavailable());
#endif
  }
  [[nodiscard]] std::string threadless() const override { return "the FFTW that 'tiled' leaves some passes to"; }
  [[nodiscard]] bool has_single_plans() const override { return false; }
#ifdef FOURSCORE_HIGHWAY_VERSION
  [[nodiscard]] std::vector<Candidate> candidates(const Work& work, const LocalFftSpec& spec) const override {
    return tiled::candidates_of(work, spec);
  }
#endif
};

FOURSCORE_REGISTER_LOCAL_FFT(Tiled);

}  // namespace

}  // namespace fourscore::local
