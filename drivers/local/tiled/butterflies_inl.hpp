// Butterflies on vectors whose lanes are neighbouring lines, real and imaginary parts apart, so that no lane ever needs
// another's data. Compiled once for each instruction set, as Highway's headers of such code are.
#if defined(FOURSCORE_TILED_BUTTERFLIES) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURSCORE_TILED_BUTTERFLIES
#undef FOURSCORE_TILED_BUTTERFLIES
#else
#define FOURSCORE_TILED_BUTTERFLIES
#endif

#include "local/tiled/targets.hpp"
// After it.
#include <hwy/highway.h>

#include <algorithm>

#include "core/box.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
using Tag = hn::ScalableTag<Real>;
/// As many lines as a vector has lanes.
template <class Real>
inline constexpr Index lanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
template <class Real>
struct Values {
  hn::Vec<Tag<Real>> re, im;
};

template <class Real>
HWY_INLINE Values<Real> operator+(Values<Real> a, Values<Real> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class Real>
HWY_INLINE Values<Real> operator-(Values<Real> a, Values<Real> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class Real>
HWY_INLINE Values<Real> minus_i_times(Values<Real> a) {
  return {a.im, hn::Neg(a.re)};
}
template <class Real>
HWY_INLINE Values<Real> times(Values<Real> a, Real re, Real im) {
  const auto wr = hn::Set(Tag<Real>(), re);
  const auto wi = hn::Set(Tag<Real>(), im);
  return {hn::NegMulAdd(a.im, wi, hn::Mul(a.re, wr)), hn::MulAdd(a.im, wr, hn::Mul(a.re, wi))};
}
/// a + factor * b
template <class Real>
HWY_INLINE Values<Real> plus(Values<Real> a, Real factor, Values<Real> b) {
  const auto f = hn::Set(Tag<Real>(), factor);
  return {hn::MulAdd(f, b.re, a.re), hn::MulAdd(f, b.im, a.im)};
}

/// x[k] becomes the sum over j of x[j] exp(-2 pi i j k / radix).
template <Index radix, class Real>
struct Butterfly;

template <class Real>
struct Butterfly<1, Real> {
  static HWY_INLINE void run(Values<Real>* /*x*/) {}
};

template <class Real>
struct Butterfly<2, Real> {
  static HWY_INLINE void run(Values<Real>* x) {
    const Values<Real> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  }
};

template <class Real>
struct Butterfly<4, Real> {
  static HWY_INLINE void run(Values<Real>* x) {
    const Values<Real> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = minus_i_times(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  }
};

template <class Real>
struct Butterfly<8, Real> {
  static HWY_INLINE void run(Values<Real>* x) {
    const auto half = hn::Set(Tag<Real>(), static_cast<Real>(0.707106781186547524400844362104849039L));
    Values<Real> even[4] = {x[0], x[2], x[4], x[6]};
    Values<Real> odd[4] = {x[1], x[3], x[5], x[7]};
    Butterfly<4, Real>::run(even);
    Butterfly<4, Real>::run(odd);
    odd[1] = {hn::Mul(half, hn::Add(odd[1].re, odd[1].im)), hn::Mul(half, hn::Sub(odd[1].im, odd[1].re))};
    odd[2] = minus_i_times(odd[2]);
    odd[3] = {hn::Mul(half, hn::Sub(odd[3].im, odd[3].re)), hn::Neg(hn::Mul(half, hn::Add(odd[3].re, odd[3].im)))};
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  }
};

/// Four of 4, their factors, and four of 4 again: 32 registers hold all of it, as AVX-512 has them.
template <class Real>
struct Butterfly<16, Real> {
  static HWY_INLINE void run(Values<Real>* x) {
    constexpr auto c = static_cast<Real>(0.923879532511286756128183189396788287L);  // cos of pi / 8
    constexpr auto s = static_cast<Real>(0.382683432365089771728459984030398867L);
    constexpr auto h = static_cast<Real>(0.707106781186547524400844362104849039L);
    Values<Real> y[4][4];
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) {
      HWY_UNROLL(4)
      for (int k = 0; k < 4; ++k) y[j][k] = x[j + 4 * k];
      Butterfly<4, Real>::run(y[j]);
    }
    y[1][1] = times(y[1][1], c, -s);
    y[1][2] = times(y[1][2], h, -h);
    y[1][3] = times(y[1][3], s, -c);
    y[2][1] = times(y[2][1], h, -h);
    y[2][2] = minus_i_times(y[2][2]);
    y[2][3] = times(y[2][3], -h, -h);
    y[3][1] = times(y[3][1], s, -c);
    y[3][2] = times(y[3][2], -h, -h);
    y[3][3] = times(y[3][3], -c, s);
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      Values<Real> row[4] = {y[0][k], y[1][k], y[2][k], y[3][k]};
      Butterfly<4, Real>::run(row);
      HWY_UNROLL(4)
      for (int m = 0; m < 4; ++m) x[k + 4 * m] = row[m];
    }
  }
};

/// cos and sin of 2 pi m / radix, 1 <= m <= radix / 2.
template <Index radix>
struct Angles;
template <>
struct Angles<3> {
  static constexpr long double cos[] = {-0.5L};
  static constexpr long double sin[] = {0.866025403784438646763723170752936183L};
};
template <>
struct Angles<5> {
  static constexpr long double cos[] = {0.309016994374947424102293417182819059L,
                                        -0.809016994374947424102293417182819059L};
  static constexpr long double sin[] = {0.951056516295153572116439333379382143L,
                                        0.587785252292473129168705954639072769L};
};
template <>
struct Angles<7> {
  static constexpr long double cos[] = {0.623489801858733530525004884004239810L,
                                        -0.222520933956314404288902564496794760L,
                                        -0.900968867902419126236102319507445051L};
  static constexpr long double sin[] = {0.781831482468029808708444526674057751L,
                                        0.974927912181823607018131682993931217L,
                                        0.433883739117558120475768332848358754L};
};

/// An odd radix: x[j] and x[radix - j] have conjugate factors.
template <Index radix, class Real>
struct Butterfly {
  static HWY_INLINE void run(Values<Real>* x) {
    constexpr Index half = radix / 2;
    Values<Real> sum[half], difference[half], result[radix];
    Values<Real> total = x[0];
    for (Index j = 1; j <= half; ++j) {
      sum[j - 1] = x[j] + x[radix - j];
      difference[j - 1] = x[j] - x[radix - j];
      total = total + sum[j - 1];
    }
    for (Index k = 1; k <= half; ++k) {
      Values<Real> even = x[0];
      Values<Real> odd = {hn::Zero(Tag<Real>()), hn::Zero(Tag<Real>())};
      for (Index j = 1; j <= half; ++j) {
        const Index turn = j * k % radix;
        const Index at = std::min(turn, radix - turn) - 1;
        even = plus(even, static_cast<Real>(Angles<radix>::cos[at]), sum[j - 1]);
        odd = plus(odd, static_cast<Real>(turn > half ? -Angles<radix>::sin[at] : Angles<radix>::sin[at]),
                   difference[j - 1]);
      }
      odd = minus_i_times(odd);
      result[k] = even + odd;
      result[radix - k] = even - odd;
    }
    result[0] = total;
    std::copy(result, result + radix, x);
  }
};

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
