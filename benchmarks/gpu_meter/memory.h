// The accesses of a warp: which sectors and lines they touch, what of them the caches
// have, which lanes meet, and what they read and write.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "caches.h"
#include "lanes.h"

enum Space { GLOBAL, SHARED, LOCAL, GENERIC };
enum Access { LOAD, STORE };
constexpr u64 SHARED_WINDOW = 1ull << 60, LOCAL_WINDOW = 1ull << 61;

// What is counted at one instruction; `emulator.py` has the same record.
struct Site {
    u64 requests, lanes, bytes, sectors, lines, missed, from_dram, wavefronts;
    u64 addresses, meeting, spilt;
    i64 range;  // of memory; -1 none yet, -2 several
};

// Memory that a kernel may touch, and the sectors of it that were.
struct Range {
    u64 start, size;
    u8 *read, *written;  // a byte for each sector
};

struct Latencies {
    i32 shared, l1, l2, dram, atomic;
};

// How often something was added to an address, and by how many blocks.
struct Hot {
    u64 count, blocks, last;
};

// The lines that a request touches, and which of the four sectors of each.
struct Touched {
    u64 line[160];
    u8 bits[160];
    int count = 0;

    void add(u64 sector) {
        u64 tag = sector >> 2;
        int k = count - 1;
        while (k >= 0 && line[k] != tag) --k;
        if (k < 0) line[k = count++] = tag, bits[k] = 0;
        bits[k] |= u8(1 << (sector & 3));
    }

    u64 sectors() const {
        u64 n = 0;
        for (int k = 0; k < count; ++k) n += u64(std::popcount(bits[k]));
        return n;
    }
};

class Accesses {
   public:
    Range* ranges;
    i32 count;
    Site* sites;
    Cache *l1, *l2;
    Latencies latencies;
    std::unordered_map<u64, Hot> hot;

    // A request to global memory by the lanes of `m`; how long it takes.
    i32 global(const Ins& i, const u64* at, u32 m, u64 block, bool adds) {
        Site& s = begun(i, m);
        u32 width = u32(i.bytes * i.many);
        Touched t;
        for (u32 rest = m; rest; rest &= rest - 1) {
            u64 a = at[std::countr_zero(rest)];
            Range& r = range(s, a, width);
            (i.what == LOAD && !adds ? r.read : r.written)[(a - r.start) >> 5] = 1;
            t.add(a >> 5);
        }
        s.sectors += t.sectors();
        s.lines += u64(t.count);
        if (!adds) return through(s, t, i.what == LOAD, i.extend & 4);
        meeting(s, at, m, block);
        for (int k = 0; k < t.count; ++k) {
            u64 spilt = 0;
            u8 there = l2->touch(t.line[k], t.bits[k], true, false, spilt);
            s.from_dram += u64(std::popcount(u8(t.bits[k] & ~there)));
        }
        return latencies.atomic;
    }

    // A request to the threads' own memory, which lies word by word for all lanes.
    i32 local(const Ins& i, const u64* at, u32 m, u64 warp) {
        Site& s = begun(i, m);
        Touched t;
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            for (u64 a = at[l]; a < at[l] + u64(i.bytes * i.many); a += 4)
                t.add(LOCAL_WINDOW + (warp << 16) + (a / 4) * 4 + u64(l) / 8);
        }
        s.sectors += t.sectors();
        s.lines += u64(t.count);
        i32 takes = latencies.l1;
        for (int k = 0; k < t.count; ++k) {
            u8 there = l1->touch(t.line[k], t.bits[k], true, i.what == STORE, s.spilt);
            u64 missed = u64(std::popcount(u8(t.bits[k] & ~there)));
            if (!missed || i.what == STORE) continue;
            s.missed += missed;
            takes = latencies.l2;
        }
        return takes;
    }

    // A request to shared memory: as often as lanes want other words of one bank.
    i32 shared(const Ins& i, const u64* at, u32 m, bool adds) {
        Site& s = begun(i, m);
        u32 width = u32(i.bytes * i.many);
        int lanes = width <= 4 ? 32 : width <= 8 ? 16 : 8;
        u64 rounds = 0;
        for (int from = 0; from < 32; from += lanes) {
            u64 words[32][4], most = 0;
            u32 used[32] = {};
            for (int l = from; l < from + lanes; ++l) {
                if (!(m >> l & 1)) continue;
                for (u64 w = at[l] / 4; w < (at[l] + width + 3) / 4; ++w) {
                    u32 bank = w & 31, k = 0;
                    if (!adds)
                        while (k < std::min(used[bank], 4u) && words[bank][k] != w) ++k;
                    if (!adds && k < std::min(used[bank], 4u)) continue;
                    if (used[bank] < 4) words[bank][used[bank]] = w;
                    most = std::max<u64>(most, ++used[bank]);
                }
            }
            rounds += most;
        }
        s.wavefronts += rounds;
        if (adds) meet(s, at, m);
        return latencies.shared + i32(rounds) - 1;
    }

   private:
    Site& begun(const Ins& i, u32 m) {
        Site& s = sites[i.site];
        u64 lanes = u64(std::popcount(m));
        ++s.requests;
        s.lanes += lanes;
        s.bytes += lanes * u64(i.bytes * i.many);
        return s;
    }

    i32 through(Site& s, const Touched& t, bool loads, bool past_l1) {
        i32 takes = latencies.l1;
        u64 spilt = 0;
        for (int k = 0; k < t.count; ++k) {
            u64 line = t.line[k];
            u8 bits = t.bits[k];
            u8 there = past_l1 ? u8(0) : l1->touch(line, bits, loads, false, spilt);
            if (loads) bits &= u8(~there);
            if (!bits) continue;
            s.missed += u64(std::popcount(bits));
            u8 near = l2->touch(line, bits, true, !loads, spilt);
            u64 far = u64(std::popcount(u8(bits & ~near)));
            if (!loads) continue;
            s.from_dram += far;
            takes = std::max(takes, far ? latencies.dram : latencies.l2);
        }
        return loads ? takes : 1;
    }

    Range& range(Site& s, u64 a, u32 width) {
        if (a % width) throw std::runtime_error("an address that is not aligned");
        if (s.range >= 0) {
            Range& r = ranges[s.range];
            if (a >= r.start && a + width <= r.start + r.size) return r;
        }
        auto after = std::upper_bound(ranges, ranges + count, a,
                                      [](u64 v, const Range& r) { return v < r.start; });
        if (after != ranges) {
            Range& r = after[-1];
            if (a + width <= r.start + r.size) {
                i64 k = &r - ranges;
                s.range = s.range == -1 || s.range == k ? k : -2;
                return r;
            }
        }
        throw std::runtime_error("an address outside of every array");
    }

    // Distinct addresses of the lanes, and the most lanes on one of them.
    static void meet(Site& s, const u64* at, u32 m) {
        u64 seen[32], most = 0;
        u64 counts[32];
        int n = 0;
        for (u32 rest = m; rest; rest &= rest - 1) {
            u64 a = at[std::countr_zero(rest)];
            int k = 0;
            while (k < n && seen[k] != a) ++k;
            if (k == n) seen[n] = a, counts[n++] = 0;
            most = std::max(most, ++counts[k]);
        }
        s.addresses += u64(n);
        s.meeting += most;
    }

    void meeting(Site& s, const u64* at, u32 m, u64 block) {
        meet(s, at, m);
        for (u32 rest = m; rest; rest &= rest - 1) {
            Hot& h = hot.try_emplace(at[std::countr_zero(rest)], Hot{0, 0, ~0ull}).first->second;
            ++h.count;
            if (h.last != block) ++h.blocks, h.last = block;
        }
    }
};

// ------------------------------------------------------------------ atomics

enum Adding { ADD, MIN, MAX, INC, DEC, EXCHANGE, CAS, AND, OR, XOR };

template <class T> T changed(int what, T old, T value, T swap) {
    if (what == ADD) return T(old + value);
    if (what == MIN) return std::min(old, value);
    if (what == MAX) return std::max(old, value);
    if (what == EXCHANGE) return value;
    if (what == CAS) return old == value ? swap : old;
    if constexpr (std::is_integral_v<T>) {
        if (what == INC) return old >= value ? T(0) : T(old + 1);
        if (what == DEC) return old == 0 || old > value ? value : T(old - 1);
        if (what == AND) return T(old & value);
        if (what == OR) return T(old | value);
        if (what == XOR) return T(old ^ value);
    }
    throw std::runtime_error("an atomic operation that floats do not have");
}

template <class T> void add_at(u8* file, const Ins& i, u8* const* at, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        T old, value = get<T>(file + i.in[1], l), swap{};
        if (i.ins > 2) swap = get<T>(file + i.in[2], l);
        std::memcpy(&old, at[l], sizeof old);
        T made = changed<T>(i.what, old, value, swap);
        std::memcpy(at[l], &made, sizeof made);
        if (i.outs) put<T>(file + i.out[0], l, old);
    }
}

inline void atomically(u8* file, const Ins& i, u8* const* at, u32 m) {
    switch (i.extend) {  // the type, numbered as in `encode.py`
        case 0: return add_at<u32>(file, i, at, m);
        case 1: return add_at<i32>(file, i, at, m);
        case 2: return add_at<u64>(file, i, at, m);
        case 3: return add_at<i64>(file, i, at, m);
        case 4: return add_at<f32>(file, i, at, m);
        case 5: return add_at<f64>(file, i, at, m);
    }
}

// ------------------------------------------------------------------ loads, stores

// extend: 1 the sign goes on, 2 the register has 8 bytes, 4 past the first cache.
inline void load(u8* file, const Ins& i, u8* const* at, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        for (int k = 0; k < i.many; ++k) {
            u64 value = 0;
            std::memcpy(&value, at[l] + k * i.bytes, size_t(i.bytes));
            int empty = 64 - 8 * i.bytes;
            if (i.extend & 1) value = u64(i64(value << empty) >> empty);
            if (i.extend & 2) put<u64>(file + i.out[k], l, value);
            else put<u32>(file + i.out[k], l, u32(value));
        }
    }
}

inline void store(const u8* file, const Ins& i, u8* const* at, u32 m) {
    for (u32 rest = m; rest; rest &= rest - 1) {
        int l = std::countr_zero(rest);
        for (int k = 0; k < i.many; ++k) {
            const u8* from = file + i.in[1 + k];
            u64 value = i.extend & 2 ? get<u64>(from, l) : get<u32>(from, l);
            std::memcpy(at[l] + k * i.bytes, &value, size_t(i.bytes));
        }
    }
}
