// What one instruction of PTX does to the 32 lanes of a warp.
//
// Registers lie in one file of bytes: 32 slots of 4 or 8 bytes each, by the width of
// the register; what is narrower fills a slot of 4. A predicate is a mask of 32 bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using f32 = float;
using f64 = double;

constexpr u32 ALL = 0xffffffffu;
constexpr int OPERANDS = 5;

// One instruction; `encode.py` has the same record.
struct Ins {
    i32 op;      // of `table`, where `kind` is PLAIN
    i32 kind;
    u32 out[OPERANDS], in[OPERANDS];  // places in the file of registers
    i32 outs, ins;
    i32 guard, negated;  // the place of a predicate, or -1
    i32 space, bytes, many, extend;  // of an access: each of `many` parts has `bytes`
    i64 offset;
    i32 site, target;         // of an access, target: is its address one of 32 bits?
    i32 block, latency, what;  // block: the basic block that starts here, or -1
    i32 length;                // of that basic block
};
using Handler = void (*)(u8*, const Ins&, u32);

template <class T> using Slot = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T> inline T get(const u8* place, int lane) {
    Slot<T> s;
    std::memcpy(&s, place + lane * sizeof s, sizeof s);
    if constexpr (std::is_floating_point_v<T>) return std::bit_cast<T>(s);
    else return T(s);
}

template <class T> inline void put(u8* place, int lane, T value) {
    Slot<T> s;
    if constexpr (std::is_floating_point_v<T>) s = std::bit_cast<Slot<T>>(value);
    else s = Slot<T>(value);
    std::memcpy(place + lane * sizeof s, &s, sizeof s);
}

inline u32 mask_at(const u8* file, u32 place) {
    u32 m;
    std::memcpy(&m, file + place, 4);
    return m;
}

inline void set_mask(u8* file, u32 place, u32 value, u32 lanes) {
    u32 m = (mask_at(file, place) & ~lanes) | (value & lanes);
    std::memcpy(file + place, &m, 4);
}

template <auto F, class D, class... S, size_t... K>
inline void apply(u8* file, const Ins& i, u32 m, std::index_sequence<K...>) {
    u8* d = file + i.out[0];
    if (m == ALL) {
#pragma GCC ivdep
        for (int l = 0; l < 32; ++l) put<D>(d, l, D(F(get<S>(file + i.in[K], l)...)));
    } else {
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            put<D>(d, l, D(F(get<S>(file + i.in[K], l)...)));
        }
    }
}

// F of each lane's operands, of the types S, as a D.
template <auto F, class D, class... S> void each(u8* file, const Ins& i, u32 m) {
    apply<F, D, S...>(file, i, m, std::index_sequence_for<S...>{});
}

template <auto F, class T> void one(u8* f, const Ins& i, u32 m) { each<F, T, T>(f, i, m); }
template <auto F, class T> void two(u8* f, const Ins& i, u32 m) { each<F, T, T, T>(f, i, m); }
template <auto F, class T> void three(u8* f, const Ins& i, u32 m) { each<F, T, T, T, T>(f, i, m); }

// ------------------------------------------------------------------ arithmetic

inline constexpr auto add = [](auto a, auto b) { return decltype(a)(a + b); };
inline constexpr auto sub = [](auto a, auto b) { return decltype(a)(a - b); };
inline constexpr auto mul = [](auto a, auto b) { return decltype(a)(a * b); };
inline constexpr auto mad = [](auto a, auto b, auto c) { return decltype(a)(a * b + c); };
inline constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
inline constexpr auto band = [](auto a, auto b) { return decltype(a)(a & b); };
inline constexpr auto bor = [](auto a, auto b) { return decltype(a)(a | b); };
inline constexpr auto bxor = [](auto a, auto b) { return decltype(a)(a ^ b); };
inline constexpr auto bnot = [](auto a) { return decltype(a)(~a); };
inline constexpr auto cnot = [](auto a) { return decltype(a)(a == 0); };
inline constexpr auto neg = [](auto a) { return decltype(a)(-a); };
inline constexpr auto same = [](auto a) { return a; };
inline constexpr auto absolute = [](auto a) { return decltype(a)(a < 0 ? -a : a); };
inline constexpr auto fabsolute = [](auto a) { return std::fabs(a); };
inline constexpr auto least = [](auto a, auto b) { return b < a ? b : a; };
inline constexpr auto most = [](auto a, auto b) { return a < b ? b : a; };
inline constexpr auto fleast = [](auto a, auto b) { return std::fmin(a, b); };
inline constexpr auto fmost = [](auto a, auto b) { return std::fmax(a, b); };
inline constexpr auto quotient = [](auto a, auto b) {
    if constexpr (std::is_floating_point_v<decltype(a)>) return a / b;
    else if constexpr (std::is_signed_v<decltype(a)>)
        return decltype(a)(b == 0 ? -1 : b == -1 ? decltype(a)(0 - std::make_unsigned_t<decltype(a)>(a)) : a / b);
    else return decltype(a)(b == 0 ? ~decltype(a)(0) : a / b);
};
inline constexpr auto remainder_ = [](auto a, auto b) {
    if constexpr (std::is_signed_v<decltype(a)>)
        return decltype(a)(b == 0 ? a : b == -1 ? 0 : a % b);
    else return decltype(a)(b == 0 ? a : a % b);
};
template <class W> inline constexpr auto wide = [](auto a, auto b) { return W(W(a) * W(b)); };
template <class W> inline constexpr auto wide_added = [](auto a, auto b, auto c) {
    return W(W(a) * W(b) + W(c));
};
template <class W> inline constexpr auto high = [](auto a, auto b) {
    return decltype(a)((W(a) * W(b)) >> (8 * sizeof a));
};
template <class W> inline constexpr auto high_added = [](auto a, auto b, auto c) {
    return decltype(a)(decltype(a)((W(a) * W(b)) >> (8 * sizeof a)) + c);
};
inline constexpr auto left = [](auto a, u32 n) {
    return decltype(a)(n >= 8 * sizeof a ? 0 : a << n);
};
inline constexpr auto right = [](auto a, u32 n) {
    constexpr u32 bits = 8 * sizeof a;
    if constexpr (std::is_signed_v<decltype(a)>) return decltype(a)(a >> (n >= bits ? bits - 1 : n));
    else return decltype(a)(n >= bits ? 0 : a >> n);
};
inline constexpr auto funnel_left = [](u32 lo, u32 hi, u32 n) {
    n &= 31;
    return n ? (hi << n) | (lo >> (32 - n)) : hi;
};
inline constexpr auto funnel_right = [](u32 lo, u32 hi, u32 n) {
    n &= 31;
    return n ? (lo >> n) | (hi << (32 - n)) : lo;
};
inline constexpr auto ones = [](auto a) { return u32(std::popcount(a)); };
inline constexpr auto leading = [](auto a) { return u32(std::countl_zero(a)); };
inline constexpr auto reversed = [](auto a) {
    decltype(a) r = 0;
    for (size_t k = 0; k < 8 * sizeof a; ++k) r |= decltype(a)((a >> k) & 1) << (8 * sizeof a - 1 - k);
    return r;
};
inline constexpr auto highest = [](auto a) {  // bfind
    if constexpr (std::is_signed_v<decltype(a)>) {
        auto b = std::make_unsigned_t<decltype(a)>(a < 0 ? ~a : a);
        return b ? u32(8 * sizeof a - 1 - std::countl_zero(b)) : ALL;
    } else return a ? u32(8 * sizeof a - 1 - std::countl_zero(a)) : ALL;
};
inline constexpr auto extracted = [](auto a, u32 from, u32 count) {  // bfe
    constexpr u32 bits = 8 * sizeof a;
    using U = std::make_unsigned_t<decltype(a)>;
    from &= 255, count &= 255;
    if (!count) return decltype(a)(0);
    U r = from >= bits ? 0 : U(U(a) >> from);
    u32 top = from + count - 1 < bits - 1 ? from + count - 1 : bits - 1;
    bool negative = std::is_signed_v<decltype(a)> && ((U(a) >> top) & 1);
    if (count < bits) {
        U keep = (U(1) << count) - 1;
        r = negative ? U((r & keep) | ~keep) : U(r & keep);
    }
    return decltype(a)(r);
};
inline constexpr auto inserted = [](auto a, auto b, u32 at, u32 count) {  // bfi
    constexpr u32 bits = 8 * sizeof a;
    at &= 255, count &= 255;
    if (!count || at >= bits) return b;
    decltype(a) keep = count >= bits ? ~decltype(a)(0) : decltype(a)((decltype(a)(1) << count) - 1);
    keep = decltype(a)(keep << at);
    return decltype(a)((b & ~keep) | (decltype(a)(a << at) & keep));
};
inline constexpr auto permuted = [](u32 a, u32 b, u32 how) {  // prmt
    u64 both = u64(b) << 32 | a;
    u32 r = 0;
    for (int k = 0; k < 4; ++k) {
        u32 n = how >> (4 * k) & 15, byte = u32(both >> (8 * (n & 7))) & 255;
        if (n & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * k);
    }
    return r;
};
inline constexpr auto logic3 = [](u32 a, u32 b, u32 c, u32 table) {  // lop3
    u32 r = 0;
    for (int k = 0; k < 8; ++k)
        if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
};
inline constexpr auto inverse = [](auto a) { return decltype(a)(1) / a; };
inline constexpr auto root = [](auto a) { return std::sqrt(a); };
inline constexpr auto inverse_root = [](auto a) { return decltype(a)(1) / std::sqrt(a); };
inline constexpr auto power_of_two = [](auto a) { return std::exp2(a); };
inline constexpr auto log_of_two = [](auto a) { return std::log2(a); };
inline constexpr auto sine = [](auto a) { return std::sin(a); };
inline constexpr auto cosine = [](auto a) { return std::cos(a); };
inline constexpr auto tanh_ = [](auto a) { return std::tanh(a); };
inline constexpr auto signed_as = [](auto a, auto b) { return std::copysign(b, a); };
inline constexpr auto saturated = [](auto a) {
    return a > 0 ? (a < 1 ? a : decltype(a)(1)) : decltype(a)(0);  // NaN becomes 0
};

// To float from a double that is as good as exact: down, up, to zero.
enum Rounding { NEAREST, DOWN, UP, ZERO };
template <Rounding R> inline f32 rounded(f64 d) {
    f32 f = f32(d);
    constexpr f32 inf = std::numeric_limits<f32>::infinity();
    if (R == DOWN || (R == ZERO && d > 0)) return f64(f) > d ? std::nextafter(f, -inf) : f;
    if (R == UP || (R == ZERO && d < 0)) return f64(f) < d ? std::nextafter(f, inf) : f;
    return f;
}
template <Rounding R> inline constexpr auto radd = [](f32 a, f32 b) { return rounded<R>(f64(a) + b); };
template <Rounding R> inline constexpr auto rsub = [](f32 a, f32 b) { return rounded<R>(f64(a) - b); };
template <Rounding R> inline constexpr auto rmul = [](f32 a, f32 b) { return rounded<R>(f64(a) * b); };
template <Rounding R> inline constexpr auto rfma = [](f32 a, f32 b, f32 c) {
    return rounded<R>(std::fma(f64(a), f64(b), f64(c)));
};

// ------------------------------------------------------------------ conversions

template <class T, Rounding R> inline T whole(T a) {
    if (R == DOWN) return std::floor(a);
    if (R == UP) return std::ceil(a);
    if (R == ZERO) return std::trunc(a);
    return std::nearbyint(a);
}
template <class D, Rounding R> inline constexpr auto to_integer = [](auto a) {
    using L = std::numeric_limits<D>;
    if (a != a) return sizeof(D) == 8 ? D(u64(1) << 63) : D(0);
    auto w = whole<decltype(a), R>(a);
    if (f64(w) >= std::ldexp(1.0, L::digits)) return L::max();
    if (f64(w) < f64(L::min())) return L::min();
    return D(w);
};
template <Rounding R> inline constexpr auto to_whole = [](auto a) { return whole<decltype(a), R>(a); };
template <class D> inline constexpr auto cast = [](auto a) { return D(a); };
template <class D> inline constexpr auto clamped = [](auto a) {
    using L = std::numeric_limits<D>;
    if (std::cmp_less(a, L::min())) return L::min();
    if (std::cmp_greater(a, L::max())) return L::max();
    return D(a);
};

// ------------------------------------------------------------------ predicates

template <auto F, class T> void compare(u8* file, const Ins& i, u32 m) {
    u32 found = 0;
    const u8 *a = file + i.in[0], *b = file + i.in[1];
    for (int l = 0; l < 32; ++l) found |= u32(bool(F(get<T>(a, l), get<T>(b, l)))) << l;
    u32 not_found = ~found;
    if (i.ins > 2) {  // and, or, xor with a third
        u32 c = mask_at(file, i.in[2]) ^ (i.extend ? ALL : 0);
        found = i.what == 0 ? found & c : i.what == 1 ? found | c : found ^ c;
        not_found = i.what == 0 ? not_found & c : i.what == 1 ? not_found | c : not_found ^ c;
    }
    set_mask(file, i.out[0], found, m);
    if (i.outs > 1) set_mask(file, i.out[1], not_found, m);
}
#define COMPARE(name, test) \
    inline constexpr auto name = [](auto a, auto b) { return test; };
COMPARE(is_eq, a == b)
COMPARE(is_ne, a < b || b < a)
COMPARE(is_lt, a < b)
COMPARE(is_le, a <= b)
COMPARE(is_gt, a > b)
COMPARE(is_ge, a >= b)
COMPARE(is_equ, !(a < b || b < a))
COMPARE(is_neu, a != b)
COMPARE(is_ltu, !(a >= b))
COMPARE(is_leu, !(a > b))
COMPARE(is_gtu, !(a <= b))
COMPARE(is_geu, !(a < b))
COMPARE(is_num, a == a && b == b)
COMPARE(is_nan, a != a || b != b)
#undef COMPARE

template <class T> void select(u8* file, const Ins& i, u32 m) {
    u32 p = mask_at(file, i.in[2]);
    const u8 *a = file + i.in[0], *b = file + i.in[1];
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        put<T>(file + i.out[0], l, p >> l & 1 ? get<T>(a, l) : get<T>(b, l));
    }
}

enum { MASK_AND, MASK_OR, MASK_XOR, MASK_NOT, MASK_MOV };
template <int W> void masks(u8* file, const Ins& i, u32 m) {
    u32 a = mask_at(file, i.in[0]), b = i.ins > 1 ? mask_at(file, i.in[1]) : 0;
    u32 r = W == MASK_AND ? a & b : W == MASK_OR ? a | b : W == MASK_XOR ? a ^ b : W == MASK_NOT ? ~a : a;
    set_mask(file, i.out[0], r, m);
}

// Two registers in one of twice the width, and back.
template <class H, class W> void pack(u8* file, const Ins& i, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        W lo = get<H>(file + i.in[0], l), hi = get<H>(file + i.in[1], l);
        put<W>(file + i.out[0], l, W(lo | hi << (8 * sizeof(H))));
    }
}
template <class H, class W> void unpack(u8* file, const Ins& i, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        W whole = get<W>(file + i.in[0], l);
        put<H>(file + i.out[0], l, H(whole));
        put<H>(file + i.out[1], l, H(whole >> (8 * sizeof(H))));
    }
}
inline void nothing(u8*, const Ins&, u32) {}
