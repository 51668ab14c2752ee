#pragma once
// Local transforms through FFTW's interface: by FFTW itself, or by a library that has its functions.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "interfaces/local_fft.hpp"
#include "local/fftw_api.hpp"
#include "local/split_fft.hpp"

namespace fourscore::local {

/// A library's file adds card() and functions().
class FftwLibrary : public LocalFftLibrary {
 public:
  [[nodiscard]] std::string version() const override { return functions().version; }
  [[nodiscard]] Reason refuses(Kind kind, int threads) const override;
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override;
  [[nodiscard]] std::unique_ptr<LocalFft> make_from_memory(const LocalFftSpec& spec, void* in,
                                                           void* out) const override;
  void plan_together(const LocalFftSpec& spec, void* in, void* out, PlanningPeers& peers) const override;
  void import_wisdom(const std::string& text, const std::string& origin) const override;
  [[nodiscard]] std::string export_wisdom() const override;

 protected:
  /// Its threads are started. Throws std::runtime_error where it cannot be used.
  [[nodiscard]] virtual const FftwFunctions& functions() const = 0;
  /// What lacks threads, for a message.
  [[nodiscard]] virtual std::string threadless() const = 0;
  /// As PassPlanner::candidates().
  [[nodiscard]] virtual std::vector<Candidate> candidates(const Work& /*work*/, const LocalFftSpec& /*spec*/) const {
    return {};
  }
  /// Whether LocalFftSpec::single_plan is one plan of FFTW; else passes do it.
  [[nodiscard]] virtual bool has_single_plans() const { return true; }

 private:
  /// `peers` null: from memory.
  [[nodiscard]] std::unique_ptr<LocalFft> made(const LocalFftSpec& spec, void* in, void* out,
                                               PlanningPeers* peers) const;
  template <class Real>
  [[nodiscard]] PassPtr plan(const LocalFftSpec& spec, void* in, void* out, PlanningPeers* peers) const;
  [[nodiscard]] std::string wisdom_header() const { return "plans of " + card().name; }
  void import_section(const std::string& origin, const std::string& section, const std::string& body) const;
  template <class Real>
  void import_plans(const std::string& origin, const std::string& section, const std::string& body) const;
  template <class Real>
  void keep_plans(const std::string& section) const;

  mutable std::mutex mutex_;  ///< FFTW's planner is not thread-safe
  mutable Decisions decisions_;
  /// Sections of plans, by name and by FFTW's own first line, which names the set of solvers. FFTW takes no plans of
  /// another set, as of a program with its MPI transforms, but files are shared: what is not ours is handed on.
  mutable std::map<std::pair<std::string, std::string>, std::string> sections_;
};

}  // namespace fourscore::local
