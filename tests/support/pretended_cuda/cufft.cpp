// cuFFT's transforms in its advanced data layout, each queued on the plan's stream. A plan has a work area as large as
// its data, which each of its transforms fills.

#include <cufft.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>
#include <vector>

#include "pretended.hpp"

namespace {

using pretended_cuda::stop;
using Complex = std::complex<double>;

struct Side {
  std::vector<long long> embed;
  long long stride = 0;
  long long distance = 0;
  /// In elements, to element `index` of transform `batch`.
  [[nodiscard]] long long offset(const std::array<long long, 3>& index, long long batch) const {
    long long element = index[0];
    for (std::size_t i = 1; i < embed.size(); ++i) element = element * embed[i] + index[i];
    return batch * distance + element * stride;
  }
};

/// The layout of a plan and what it works with. Immutable once it is made, but for the stream.
struct Plan {
  std::vector<long long> n;
  Side in;
  Side out;
  cufftType type = CUFFT_Z2Z;
  long long batch = 0;
  bool allocates = true;  ///< its area, when it is made
  void* area = nullptr;
  std::size_t area_bytes = 0;
  cudaStream_t stream = nullptr;

  [[nodiscard]] bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  [[nodiscard]] bool from_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  [[nodiscard]] bool to_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  [[nodiscard]] std::vector<long long> halved() const {
    std::vector<long long> half = n;
    half.back() = half.back() / 2 + 1;
    return half;
  }
  [[nodiscard]] std::vector<long long> in_extents() const { return to_real() ? halved() : n; }
  [[nodiscard]] std::vector<long long> out_extents() const { return from_real() ? halved() : n; }
};

std::mutex mutex;
std::map<cufftHandle, std::unique_ptr<Plan>> plans;

Plan* find(cufftHandle handle) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : found->second.get();
}

long long volume(const std::vector<long long>& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1LL, std::multiplies{});
}

template <class Do>
void for_each(const std::vector<long long>& extents, const Do& act) {
  std::array<long long, 3> index{};
  for (long long i = 0; i < volume(extents); ++i) {
    act(index);
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Cooley and Tukey's, by the smallest factor of n; `in` is read at multiples of the stride. roots: of unity, every
/// `step`-th of which is one of the n-th roots.
void fourier(const Complex* in, Complex* out, long long n, long long stride, const Complex* roots, long long step) {
  if (n == 1) {
    *out = *in;
    return;
  }
  long long p = 2;
  while (n % p != 0) ++p;
  const long long m = n / p;
  for (long long r = 0; r < p; ++r) fourier(in + r * stride, out + r * m, m, p * stride, roots, p * step);
  std::vector<Complex> column(static_cast<std::size_t>(p));
  for (long long k = 0; k < m; ++k) {
    for (long long r = 0; r < p; ++r) column[static_cast<std::size_t>(r)] = out[r * m + k];
    for (long long q = 0; q < p; ++q) {
      Complex sum = 0;
      for (long long r = 0; r < p; ++r) sum += column[static_cast<std::size_t>(r)] * roots[r * (k + q * m) % n * step];
      out[q * m + k] = sum;
    }
  }
}

/// Along every axis, of dense data.
void fourier_all(std::vector<Complex>& data, const std::vector<long long>& n, int sign) {
  long long inner = 1;
  for (std::size_t axis = n.size(); axis-- > 0;) {
    std::vector<Complex> line(static_cast<std::size_t>(n[axis]));
    std::vector<Complex> roots;
    for (long long k = 0; k < n[axis]; ++k)
      roots.push_back(
          std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n[axis])));
    const long long lines = volume(n) / n[axis];
    for (long long i = 0; i < lines; ++i) {
      Complex* const first = data.data() + i / inner * inner * n[axis] + i % inner;
      fourier(first, line.data(), n[axis], inner, roots.data(), 1);
      for (long long j = 0; j < n[axis]; ++j) first[j * inner] = line[static_cast<std::size_t>(j)];
    }
    inner *= n[axis];
  }
}

/// The half that is not stored: X(-k) is the conjugate of X(k).
std::vector<Complex> completed(const std::vector<Complex>& half, const Plan& plan) {
  const std::vector<long long> stored = plan.halved();
  std::vector<Complex> whole;
  for_each(plan.n, [&](std::array<long long, 3> index) {
    const std::size_t last = plan.n.size() - 1;
    const bool mirrored = index[last] >= stored[last];
    if (mirrored)
      for (std::size_t i = 0; i <= last; ++i) index[i] = (plan.n[i] - index[i]) % plan.n[i];
    long long place = 0;
    for (std::size_t i = 0; i <= last; ++i) place = place * stored[i] + index[i];
    const Complex value = half[static_cast<std::size_t>(place)];
    whole.push_back(mirrored ? std::conj(value) : value);
  });
  return whole;
}

template <class Element>
void check_reach(const Side& side, const std::vector<long long>& extents, long long batch, const void* data) {
  std::array<long long, 3> last{};
  for (std::size_t i = 0; i < extents.size(); ++i) last[i] = extents[i] - 1;
  const auto elements = static_cast<std::size_t>(side.offset(last, batch - 1) + 1);
  if (!pretended_cuda::is_on_device(data, elements * sizeof(Element)))
    stop("a transform reaches beyond an allocation of the device");
}

/// In place, both sides have the same layout, as cuFFT's documentation asks.
void check_layouts(const Plan& plan) {
  const long long in_parts = plan.from_real() ? 1 : 2;
  const long long out_parts = plan.to_real() ? 1 : 2;
  const bool real = plan.from_real() || plan.to_real();
  if (real ? plan.in.stride != 1 || plan.out.stride != 1 : plan.in.stride != plan.out.stride)
    stop("a transform in place with other strides on the other side");
  if (plan.batch > 1 && plan.in.distance * in_parts != plan.out.distance * out_parts)
    stop("a transform in place with another distance on the other side");
  for (std::size_t i = 1; i < plan.n.size(); ++i) {
    const bool last = i + 1 == plan.n.size();
    if (plan.in.embed[i] * (last ? in_parts : 1) != plan.out.embed[i] * (last ? out_parts : 1))
      stop("a transform in place with other extents on the other side");
  }
}

/// Two transforms that have the same area must not run at once: what one wrote there the other overwrites.
class UsedArea {
 public:
  explicit UsedArea(const Plan& plan)
      : words_(static_cast<const void**>(plan.area)), count_(plan.area_bytes / sizeof(void*)), mine_(this) {
    std::fill_n(words_, count_, mine_);
  }
  void check() const {
    if (!std::all_of(words_, words_ + count_, [&](const void* word) { return word == mine_; }))
      stop("two transforms used the same work area at once");
  }

 private:
  const void** words_;
  std::size_t count_;
  const void* mine_;
};

template <class In, class Out>
void run(const Plan& plan, const In* in, Out* out, int sign) {
  check_reach<In>(plan.in, plan.in_extents(), plan.batch, in);
  check_reach<Out>(plan.out, plan.out_extents(), plan.batch, out);
  if (static_cast<const void*>(in) == static_cast<const void*>(out)) check_layouts(plan);
  if (!pretended_cuda::is_on_device(plan.area, plan.area_bytes)) stop("a transform has no work area");
  const UsedArea area(plan);
  std::vector<std::vector<Complex>> all(static_cast<std::size_t>(plan.batch));
  for (std::size_t b = 0; b < all.size(); ++b) {
    for_each(plan.in_extents(), [&](const std::array<long long, 3>& index) {
      all[b].emplace_back(in[plan.in.offset(index, static_cast<long long>(b))]);
    });
    if (plan.to_real()) all[b] = completed(all[b], plan);
    fourier_all(all[b], plan.n, sign);
  }
  for (std::size_t b = 0; b < all.size(); ++b)
    for_each(plan.out_extents(), [&](const std::array<long long, 3>& index) {
      long long place = 0;
      for (std::size_t i = 0; i < plan.n.size(); ++i) place = place * plan.n[i] + index[i];
      const Complex value = all[b][static_cast<std::size_t>(place)];
      Out& to = out[plan.out.offset(index, static_cast<long long>(b))];
      if constexpr (std::is_floating_point_v<Out>)
        to = static_cast<Out>(value.real());
      else
        to = static_cast<Out>(value);
    });
  area.check();
}

template <class In, class Out>
cufftResult execute(cufftHandle handle, cufftType type, In* in, Out* out, int sign) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_EXEC_FAILED;
  const Plan* const plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (plan->type != type) return CUFFT_INVALID_TYPE;
  pretended_cuda::enqueue(plan->stream, [=] { run(*plan, in, out, sign); });
  return CUFFT_SUCCESS;
}

}  // namespace

extern "C" {

cufftResult cufftGetVersion(int* version) {
  *version = CUFFT_VER_MAJOR * 1000;
  return CUFFT_SUCCESS;
}

cufftResult cufftCreate(cufftHandle* plan) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_SETUP_FAILED;
  static int last = 0;
  const std::lock_guard lock(mutex);
  *plan = ++last;
  plans.emplace(*plan, std::make_unique<Plan>());
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
  pretended_cuda::drain_all();
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end()) return CUFFT_INVALID_PLAN;
  if (found->second->allocates) (void)cudaFree(found->second->area);
  plans.erase(found);
  return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_SETUP_FAILED;
  Plan* const plan = find(handle);
  if (plan == nullptr || !plan->n.empty()) return CUFFT_INVALID_PLAN;
  plan->allocates = automatic != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* area) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_SETUP_FAILED;
  Plan* const plan = find(handle);
  if (plan == nullptr || plan->n.empty() || plan->allocates) return CUFFT_INVALID_PLAN;
  if (!pretended_cuda::is_on_device(area, plan->area_bytes)) stop("a work area smaller than its plan asks for");
  plan->area = area;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* in_embed, long long in_stride,
                                long long in_distance, long long* out_embed, long long out_stride,
                                long long out_distance, cufftType type, long long batch, std::size_t* workspace) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_INTERNAL_ERROR;
  Plan* const plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (rank < 1 || rank > 3 || batch < 1 || std::any_of(n, n + rank, [](long long extent) { return extent < 1; }))
    return CUFFT_INVALID_SIZE;
  *plan = {{n, n + rank},
           {{in_embed, in_embed + rank}, in_stride, in_distance},
           {{out_embed, out_embed + rank}, out_stride, out_distance},
           type,
           batch,
           plan->allocates};
  for (std::size_t i = 1; i < plan->n.size(); ++i)
    if (plan->in.embed[i] < plan->in_extents()[i] || plan->out.embed[i] < plan->out_extents()[i])
      return CUFFT_INVALID_VALUE;
  plan->area_bytes = static_cast<std::size_t>(volume(plan->n) * batch) * (plan->is_double() ? 16 : 8);
  *workspace = plan->area_bytes;
  if (!plan->allocates) return CUFFT_SUCCESS;
  return cudaMalloc(&plan->area, plan->area_bytes) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_ALLOC_FAILED;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  if (pretended_cuda::count_call() != cudaSuccess) return CUFFT_SETUP_FAILED;
  Plan* const plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
}
