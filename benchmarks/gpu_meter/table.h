// The instructions of PTX by the names that `encode.py` gives them.
#pragma once

#include "lanes.h"

using Table = std::map<std::string, Handler>;

template <class U, class S, class Twice, class STwice>
void integers(Table& t, const std::string& bits) {
    auto b = "b" + bits, u = "u" + bits, s = "s" + bits;
    t["add." + b] = two<add, U>;
    t["sub." + b] = two<sub, U>;
    t["mul.lo." + b] = two<mul, U>;
    t["mad.lo." + b] = three<mad, U>;
    t["and." + b] = two<band, U>;
    t["or." + b] = two<bor, U>;
    t["xor." + b] = two<bxor, U>;
    t["not." + b] = one<bnot, U>;
    t["cnot." + b] = one<cnot, U>;
    t["neg." + b] = one<neg, U>;
    t["mov." + b] = one<same, U>;
    t["abs." + b] = one<absolute, S>;
    t["selp." + b] = select<U>;
    t["shl." + b] = each<left, U, U, u32>;
    t["shr." + u] = each<right, U, U, u32>;
    t["shr." + s] = each<right, S, S, u32>;
    t["min." + u] = two<least, U>;
    t["min." + s] = two<least, S>;
    t["max." + u] = two<most, U>;
    t["max." + s] = two<most, S>;
    t["div." + u] = two<quotient, U>;
    t["div." + s] = two<quotient, S>;
    t["rem." + u] = two<remainder_, U>;
    t["rem." + s] = two<remainder_, S>;
    t["mul.hi." + u] = two<high<Twice>, U>;
    t["mul.hi." + s] = two<high<STwice>, S>;
    t["mad.hi." + u] = three<high_added<Twice>, U>;
    t["mad.hi." + s] = three<high_added<STwice>, S>;
    if constexpr (sizeof(U) < 8) {
        t["mul.wide." + u] = each<wide<Twice>, Twice, U, U>;
        t["mul.wide." + s] = each<wide<STwice>, STwice, S, S>;
        t["mad.wide." + u] = each<wide_added<Twice>, Twice, U, U, Twice>;
        t["mad.wide." + s] = each<wide_added<STwice>, STwice, S, S, STwice>;
    }
    if constexpr (sizeof(U) > 2) {
        t["popc." + b] = each<ones, u32, U>;
        t["clz." + b] = each<leading, u32, U>;
        t["brev." + b] = one<reversed, U>;
        t["bfind." + u] = each<highest, u32, U>;
        t["bfind." + s] = each<highest, u32, S>;
        t["bfe." + u] = each<extracted, U, U, u32, u32>;
        t["bfe." + s] = each<extracted, S, S, u32, u32>;
        t["bfi." + b] = each<inserted, U, U, U, u32, u32>;
    }
}

template <class F> void floats(Table& t, const std::string& f) {
    t["add." + f] = two<add, F>;
    t["sub." + f] = two<sub, F>;
    t["mul." + f] = two<mul, F>;
    t["fma." + f] = three<fused, F>;
    t["div." + f] = two<quotient, F>;
    t["neg." + f] = one<neg, F>;
    t["abs." + f] = one<fabsolute, F>;
    t["min." + f] = two<fleast, F>;
    t["max." + f] = two<fmost, F>;
    t["rcp." + f] = one<inverse, F>;
    t["sqrt." + f] = one<root, F>;
    t["rsqrt." + f] = one<inverse_root, F>;
    t["ex2." + f] = one<power_of_two, F>;
    t["lg2." + f] = one<log_of_two, F>;
    t["sin." + f] = one<sine, F>;
    t["cos." + f] = one<cosine, F>;
    t["tanh." + f] = one<tanh_, F>;
    t["copysign." + f] = two<signed_as, F>;
}

template <Rounding R> void roundings(Table& t, const std::string& how) {
    t["add" + how + ".f32"] = two<radd<R>, f32>;
    t["sub" + how + ".f32"] = two<rsub<R>, f32>;
    t["mul" + how + ".f32"] = two<rmul<R>, f32>;
    t["fma" + how + ".f32"] = three<rfma<R>, f32>;
    t["cvt" + how + ".f32.f64"] = each<rounded<R>, f32, f64>;
}

template <class T> void comparisons(Table& t, const std::string& type) {
    t["setp.eq." + type] = compare<is_eq, T>;
    t["setp.ne." + type] = compare<is_ne, T>;
    for (auto name : {"lt", "lo"}) t[std::string("setp.") + name + "." + type] = compare<is_lt, T>;
    for (auto name : {"le", "ls"}) t[std::string("setp.") + name + "." + type] = compare<is_le, T>;
    for (auto name : {"gt", "hi"}) t[std::string("setp.") + name + "." + type] = compare<is_gt, T>;
    for (auto name : {"ge", "hs"}) t[std::string("setp.") + name + "." + type] = compare<is_ge, T>;
    if constexpr (std::is_floating_point_v<T>) {
        t["setp.equ." + type] = compare<is_equ, T>;
        t["setp.neu." + type] = compare<is_neu, T>;
        t["setp.ltu." + type] = compare<is_ltu, T>;
        t["setp.leu." + type] = compare<is_leu, T>;
        t["setp.gtu." + type] = compare<is_gtu, T>;
        t["setp.geu." + type] = compare<is_geu, T>;
        t["setp.num." + type] = compare<is_num, T>;
        t["setp.nan." + type] = compare<is_nan, T>;
    }
}

template <class D, class S> void from(Table& t, const std::string& d, const std::string& s) {
    auto types = "." + d + "." + s;
    if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D>) {
        t["cvt.rni" + types] = each<to_integer<D, NEAREST>, D, S>;
        t["cvt.rmi" + types] = each<to_integer<D, DOWN>, D, S>;
        t["cvt.rpi" + types] = each<to_integer<D, UP>, D, S>;
        t["cvt.rzi" + types] = each<to_integer<D, ZERO>, D, S>;
    } else {
        t["cvt" + types] = each<cast<D>, D, S>;
        if constexpr (std::is_integral_v<D> && std::is_integral_v<S>)
            t["cvt.sat" + types] = each<clamped<D>, D, S>;
        if constexpr (std::is_floating_point_v<D> && std::is_same_v<D, S>) {
            t["cvt.sat" + types] = one<saturated, D>;
            t["cvt.rni" + types] = one<to_whole<NEAREST>, D>;
            t["cvt.rmi" + types] = one<to_whole<DOWN>, D>;
            t["cvt.rpi" + types] = one<to_whole<UP>, D>;
            t["cvt.rzi" + types] = one<to_whole<ZERO>, D>;
        }
    }
}

template <class D> void conversions(Table& t, const std::string& d) {
    from<D, u8>(t, d, "u8"), from<D, i8>(t, d, "s8");
    from<D, u16>(t, d, "u16"), from<D, i16>(t, d, "s16");
    from<D, u32>(t, d, "u32"), from<D, i32>(t, d, "s32");
    from<D, u64>(t, d, "u64"), from<D, i64>(t, d, "s64");
    from<D, f32>(t, d, "f32"), from<D, f64>(t, d, "f64");
}

inline Table made_table() {
    Table t;
    integers<u16, i16, u32, i32>(t, "16");
    integers<u32, i32, u64, i64>(t, "32");
    integers<u64, i64, unsigned __int128, __int128>(t, "64");
    floats<f32>(t, "f32");
    floats<f64>(t, "f64");
    roundings<DOWN>(t, ".rm");
    roundings<UP>(t, ".rp");
    roundings<ZERO>(t, ".rz");
    t["sat.f32"] = one<saturated, f32>;
    comparisons<u16>(t, "u16"), comparisons<i16>(t, "s16");
    comparisons<u32>(t, "u32"), comparisons<i32>(t, "s32");
    comparisons<u64>(t, "u64"), comparisons<i64>(t, "s64");
    comparisons<f32>(t, "f32"), comparisons<f64>(t, "f64");
    conversions<u8>(t, "u8"), conversions<i8>(t, "s8");
    conversions<u16>(t, "u16"), conversions<i16>(t, "s16");
    conversions<u32>(t, "u32"), conversions<i32>(t, "s32");
    conversions<u64>(t, "u64"), conversions<i64>(t, "s64");
    conversions<f32>(t, "f32"), conversions<f64>(t, "f64");
    t["shf.l.b32"] = three<funnel_left, u32>;
    t["shf.r.b32"] = three<funnel_right, u32>;
    t["prmt.b32"] = three<permuted, u32>;
    t["lop3.b32"] = each<logic3, u32, u32, u32, u32, u32>;
    t["and.pred"] = masks<MASK_AND>;
    t["or.pred"] = masks<MASK_OR>;
    t["xor.pred"] = masks<MASK_XOR>;
    t["not.pred"] = masks<MASK_NOT>;
    t["mov.pred"] = masks<MASK_MOV>;
    t["pack.b64"] = pack<u32, u64>;
    t["pack.b32"] = pack<u16, u32>;
    t["unpack.b64"] = unpack<u32, u64>;
    t["unpack.b32"] = unpack<u16, u32>;
    t["nothing"] = nothing;
    return t;
}
