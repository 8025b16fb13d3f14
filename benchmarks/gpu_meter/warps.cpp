// Warps that run the instructions of a kernel of PTX, some blocks of it, as on one SM.
//
// The lanes of a warp that stand at the lowest place of the text go first, so that
// lanes that parted meet again where their ways join. A warp runs to its next access
// of memory, then the next warp does: in that order the caches see them.

#include <cstdlib>
#include <memory>

#include "memory.h"
#include "table.h"

enum Kind { PLAIN, BRANCH, EXIT, MEMORY, ATOMIC, BARRIER, ACROSS, ALLOCATE, FREE };
enum Across { FROM_BELOW, FROM_ABOVE, BUTTERFLY, INDEXED, ALL_OF, ANY_OF, UNIFORM, BALLOT, MATCH, ACTIVE, MEET, SUM, LEAST, MOST };
enum Why { AT_MEMORY, AT_BARRIER, DONE };

// One launch; `emulator.py` has the same record.
struct Job {
    const Ins* code;
    const u8* image;  // the file of registers at the start, with the constants
    u64 file_bytes, shared_bytes, local_bytes;
    u32 tid[3], ctaid[3], lane;  // places of special registers
    u32 grid[3], block[3];
    const i64* ids;     // of the blocks to run, group after group
    const i64* groups;  // where each group starts, and the end
    i64 group_count, resident;
    u64 l1_bytes, l2_bytes, first_caches;  // more than one: block k has cache k mod n
    i64 most;  // instructions of warps, at most
    Latencies latencies;
    i32 range_count;
    Range* ranges;
    Site* sites;
    u64 *runs, *lanes;  // by basic block: how often it ran, for how many lanes
    u64* clocks;        // by group
    u64 hottest, hottest_blocks;
    char message[400];
};

namespace {
const Table table = made_table();
std::vector<Handler> handlers;
std::vector<std::string> names;

struct Stop : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Block;

struct Warp {
    std::vector<u8> file, own;
    std::vector<u64> ready;  // by register: when it has its value
    i32 pc = 0, waiting_pc[32];
    u32 mask = 0, alive = 0, waiting[32];
    int parted = 0;
    u64 clock = 0, issued = 0, furthest = 0, number = 0;
    bool at_barrier = false, done = true;
    Block* block = nullptr;
};

struct Block {
    std::vector<u8> shared;
    std::vector<Warp> warps;
    u64 id = 0, position = 0;
    int live = 0;
};

class Machine {
    Job& job;
    Accesses memory;
    std::vector<std::unique_ptr<Cache>> firsts;
    Cache second;
    i64 issued = 0;
    u64 warps_started = 0;

   public:
    explicit Machine(Job& j) : job(j), second(j.l2_bytes) {
        for (u64 k = 0; k < std::max<u64>(1, j.first_caches); ++k)
            firsts.push_back(std::make_unique<Cache>(j.l1_bytes));
        memory.ranges = j.ranges, memory.count = j.range_count, memory.sites = j.sites;
        memory.l2 = &second, memory.latencies = j.latencies;
    }

    void run() {
        for (i64 g = 0; g < job.group_count; ++g) group(g);
        for (auto& [address, h] : memory.hot)
            if (h.count > job.hottest) job.hottest = h.count, job.hottest_blocks = h.blocks;
    }

   private:
    void group(i64 g) {
        i64 next = job.groups[g], end = job.groups[g + 1];
        if (firsts.size() == 1) firsts[0]->empty();
        std::vector<Block> slots(size_t(std::min(job.resident, end - next)));
        for (Block& b : slots) start(b, next++, 0);
        u64 last = 0;
        for (bool any = true; any;) {
            any = false;
            for (Block& b : slots) {
                memory.l1 = firsts[b.position % firsts.size()].get();
                for (Warp& w : b.warps)
                    if (!w.done && !w.at_barrier) any = true, step(w);
                if (b.live) continue;
                u64 ended = 0;
                for (Warp& w : b.warps) ended = std::max(ended, w.clock);
                last = std::max(last, ended);
                if (next < end) start(b, next++, ended), any = true;
            }
        }
        job.clocks[g] = last;
    }

    void start(Block& b, i64 position, u64 clock) {
        u64 id = u64(job.ids[position]);
        b.id = id, b.position = u64(position);
        b.shared.assign(job.shared_bytes + 16, 0xa5);
        u32 threads = job.block[0] * job.block[1] * job.block[2];
        b.warps.resize((threads + 31) / 32);
        b.live = int(b.warps.size());
        u32 at[3] = {u32(id % job.grid[0]), u32(id / job.grid[0] % job.grid[1]),
                     u32(id / (u64(job.grid[0]) * job.grid[1]))};
        for (size_t k = 0; k < b.warps.size(); ++k) {
            Warp& w = b.warps[k];
            w.file.assign(job.image, job.image + job.file_bytes);
            w.own.assign(32 * job.local_bytes, 0xa5);
            w.ready.assign(job.file_bytes / 128 + 2, 0);
            w.pc = 0, w.parted = 0, w.block = &b, w.number = warps_started++;
            w.clock = w.furthest = clock, w.issued = 0, w.at_barrier = w.done = false;
            w.mask = 0;
            for (u32 l = 0; l < 32; ++l) {
                u32 t = u32(k) * 32 + l;
                if (t < threads) w.mask |= 1u << l;
                u32 own[3] = {t % job.block[0], t / job.block[0] % job.block[1],
                              t / (job.block[0] * job.block[1])};
                for (int d = 0; d < 3; ++d) {
                    put<u32>(&w.file[job.tid[d]], int(l), own[d]);
                    put<u32>(&w.file[job.ctaid[d]], int(l), at[d]);
                }
                put<u32>(&w.file[job.lane], int(l), l);
            }
            w.alive = w.mask;
        }
    }

    void step(Warp& w) {
        switch (advance(w)) {
            case AT_MEMORY: return;
            case AT_BARRIER: w.at_barrier = true; break;
            case DONE: w.done = true, --w.block->live; break;
        }
        u64 latest = 0;
        for (Warp& other : w.block->warps) {
            if (!other.done && !other.at_barrier) return;
            if (!other.done) latest = std::max(latest, other.clock);
        }
        for (Warp& other : w.block->warps)
            if (!other.done) other.at_barrier = false, other.clock = other.furthest = latest;
    }

    // Run until the warp touches memory, stands at a barrier, or ends.
    Why advance(Warp& w) {
        u8* file = w.file.data();
        for (;;) {
            const Ins& i = job.code[w.pc];
            if (i.block >= 0) entered(w, i);
            const Ins& now = job.code[w.pc];
            if (now.block >= 0) counted(w, now);
            u32 m = w.mask;
            u64 when = w.clock;
            if (now.guard >= 0) {
                m &= mask_at(file, u32(now.guard)) ^ (now.negated ? ALL : 0);
                when = std::max(when, w.ready[u32(now.guard) / 128]);
            }
            for (int k = 0; k < now.ins; ++k) when = std::max(when, w.ready[now.in[k] / 128]);
            ++w.issued;
            w.furthest = std::max(w.furthest, when);
            i32 takes = now.latency;
            bool memory_touched = false;
            switch (now.kind) {
                case PLAIN:
                    if (m) handlers[size_t(now.op)](file, now, m);
                    break;
                case BRANCH:
                    branch(w, now, m);
                    continue;
                case EXIT:
                    w.alive &= ~m, w.mask &= ~m;
                    if (w.mask) break;
                    if (take(w)) continue;
                    settle(w);
                    return DONE;
                case MEMORY:
                case ATOMIC:
                    if (m) takes = touched(w, now, m), memory_touched = true;
                    break;
                case BARRIER:
                    if (m != w.alive || w.parted) fail(now, "a barrier that some lanes miss");
                    settle(w);
                    ++w.pc;
                    return AT_BARRIER;
                case ACROSS:
                    if (m) across(w, now, m);
                    break;
                case ALLOCATE:
                case FREE:
                    fail(now, "memory that a thread asks for is not emulated");
            }
            for (int k = 0; k < now.outs; ++k) w.ready[now.out[k] / 128] = when + u64(takes);
            ++w.pc;
            if (memory_touched) return AT_MEMORY;
        }
    }

    // At the start of a basic block: lanes that stand lower go first, equals join.
    void entered(Warp& w, const Ins&) {
        for (;;) {
            int lowest = -1;
            for (int k = 0; k < w.parted; ++k)
                if (w.waiting_pc[k] <= w.pc && (lowest < 0 || w.waiting_pc[k] < w.waiting_pc[lowest]))
                    lowest = k;
            if (lowest < 0) return;
            if (w.waiting_pc[lowest] == w.pc) {
                w.mask |= w.waiting[lowest];
                --w.parted;
                w.waiting[lowest] = w.waiting[w.parted];
                w.waiting_pc[lowest] = w.waiting_pc[w.parted];
            } else {
                std::swap(w.waiting[lowest], w.mask);
                std::swap(w.waiting_pc[lowest], w.pc);
            }
        }
    }

    void counted(Warp& w, const Ins& i) {
        settle(w);
        ++job.runs[i.block];
        job.lanes[i.block] += u64(std::popcount(w.mask));
        issued += i.length;
        if (issued > job.most) throw Stop("too many instructions");
    }

    // In-order issue from one basic block to the next.
    static void settle(Warp& w) {
        w.clock = std::max(w.clock + w.issued, w.furthest);
        w.issued = 0, w.furthest = w.clock;
    }

    void branch(Warp& w, const Ins& i, u32 m) {
        u32 others = w.mask & ~m;
        if (!m) ++w.pc;
        else if (!others) w.pc = i.target;
        else {
            int k = 0;
            while (k < w.parted && w.waiting_pc[k] != i.target) ++k;
            if (k == w.parted) w.waiting[k] = 0, w.waiting_pc[k] = i.target, ++w.parted;
            w.waiting[k] |= m;
            w.mask = others;
            ++w.pc;
        }
    }

    static bool take(Warp& w) {
        if (!w.parted) return false;
        int lowest = 0;
        for (int k = 1; k < w.parted; ++k)
            if (w.waiting_pc[k] < w.waiting_pc[lowest]) lowest = k;
        w.mask = w.waiting[lowest], w.pc = w.waiting_pc[lowest];
        --w.parted;
        w.waiting[lowest] = w.waiting[w.parted];
        w.waiting_pc[lowest] = w.waiting_pc[w.parted];
        return true;
    }

    [[noreturn]] void fail(const Ins& i, const std::string& what) {
        throw std::runtime_error("at " + std::to_string(&i - job.code) + ": " + what);
    }

    i32 touched(Warp& w, const Ins& i, u32 m) {
        u8* file = w.file.data();
        u64 at[32] = {};
        u8* places[32] = {};
        i32 space = i.space;
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            const u8* base = file + i.in[0];
            at[l] = (i.target ? get<u32>(base, l) : get<u64>(base, l)) + u64(i.offset);
            if (i.space == GENERIC)
                space = at[l] >= LOCAL_WINDOW ? LOCAL : at[l] >= SHARED_WINDOW ? SHARED : GLOBAL;
        }
        i32 takes = 0;
        u64 width = u64(i.bytes * i.many), window = 0, most = 0;
        u8* base = nullptr;
        if (space == SHARED) window = SHARED_WINDOW, most = job.shared_bytes, base = w.block->shared.data();
        if (space == LOCAL) window = LOCAL_WINDOW, most = job.local_bytes, base = w.own.data();
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            if (space == GLOBAL) {
                places[l] = reinterpret_cast<u8*>(at[l]);
                continue;
            }
            if (at[l] >= window) at[l] -= window;
            if (at[l] + width > most) fail(i, "an address outside of shared or local memory");
            if (at[l] % width) fail(i, "an address that is not aligned");
            places[l] = base + at[l] + (space == LOCAL ? u64(l) * job.local_bytes : 0);
        }
        bool adds = i.kind == ATOMIC;
        try {
            if (space == GLOBAL) takes = memory.global(i, at, m, w.block->id, adds);
            if (space == SHARED) takes = memory.shared(i, at, m, adds);
            if (space == LOCAL) takes = memory.local(i, at, m, w.number);
        } catch (std::runtime_error& e) {
            fail(i, e.what());
        }
        if (adds) atomically(file, i, places, m);
        else if (i.what == LOAD) load(file, i, places, m);
        else store(file, i, places, m);
        return takes;
    }

    void across(Warp& w, const Ins& i, u32 m) {
        u8* file = w.file.data();
        if (i.what == ACTIVE) {
            for (int l = 0; l < 32; ++l) if (m >> l & 1) put<u32>(file + i.out[0], l, m);
            return;
        }
        u32 members = get<u32>(file + i.in[i.ins - 1], std::countr_zero(m));
        if (members & w.alive & ~m) fail(i, "lanes that a warp-wide instruction waits for are elsewhere");
        if (i.what == MEET) return;
        u32 given = members & m;
        if (i.what <= INDEXED) return shuffle(file, i, m);
        u32 q = i.what <= BALLOT ? (mask_at(file, i.in[0]) ^ (i.extend ? ALL : 0)) & given : 0;
        if (i.what <= UNIFORM) {
            bool r = i.what == ALL_OF ? q == given : i.what == ANY_OF ? q != 0 : q == 0 || q == given;
            set_mask(file, i.out[0], r ? ALL : 0, m);
            return;
        }
        u8 value[32 * 4];
        for (int l = 0; l < 32; ++l) put<u32>(value, l, i.what == BALLOT ? q : gathered(file, i, given, l));
        for (int l = 0; l < 32; ++l) if (m >> l & 1) put<u32>(file + i.out[0], l, get<u32>(value, l));
    }

    static u32 gathered(const u8* file, const Ins& i, u32 given, int lane) {
        const u8* a = file + i.in[0];
        u32 r = i.what == SUM || i.what == MATCH ? 0 : get<u32>(a, std::countr_zero(given));
        for (u32 rest = given; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            u32 v = get<u32>(a, l);
            bool equal = i.bytes == 8 ? get<u64>(a, l) == get<u64>(a, lane) : v == get<u32>(a, lane);
            if (i.what == MATCH) r |= equal ? 1u << l : 0;
            else if (i.what == SUM) r += v;
            else if (i.extend) r = u32(i.what == LEAST ? std::min(i32(r), i32(v)) : std::max(i32(r), i32(v)));
            else r = i.what == LEAST ? std::min(r, v) : std::max(r, v);
        }
        return r;
    }

    static void shuffle(u8* file, const Ins& i, u32 m) {
        u8 value[32 * 4];
        u32 inside = 0;
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            int b = get<u32>(file + i.in[1], l) & 31, c = int(get<u32>(file + i.in[2], l));
            int segment = c >> 8 & 31, first = l & segment, last = first | (c & 31 & ~segment);
            int j = i.what == FROM_BELOW ? l - b : i.what == FROM_ABOVE ? l + b : i.what == BUTTERFLY ? l ^ b : first | (b & ~segment);
            bool valid = i.what == FROM_BELOW ? j >= last : j <= last;
            if (!valid) j = l;
            inside |= u32(valid) << l;
            put<u32>(value, l, get<u32>(file + i.in[0], j));
        }
        for (u32 rest = m; rest; rest &= rest - 1) {
            int l = std::countr_zero(rest);
            put<u32>(file + i.out[0], l, get<u32>(value, l));
        }
        if (i.outs > 1) set_mask(file, i.out[1], inside, m);
    }
};
}  // namespace

// The number of an instruction, by its name in `table`; -1 if there is none.
extern "C" int known(const char* name) {
    auto found = table.find(name);
    if (found == table.end()) return -1;
    for (size_t k = 0; k < names.size(); ++k)
        if (names[k] == name) return int(k);
    names.push_back(name);
    handlers.push_back(found->second);
    return int(names.size()) - 1;
}

// 0: all blocks ran; 1: stopped after `most` instructions; 2: failed, see `message`.
extern "C" int run(Job* job) {
    try {
        Machine(*job).run();
        return 0;
    } catch (Stop&) {
        return 1;
    } catch (std::exception& e) {
        std::strncpy(job->message, e.what(), sizeof job->message - 1);
        return 2;
    }
}

extern "C" void sizes(u64* found) {
    found[0] = sizeof(Ins), found[1] = sizeof(Site), found[2] = sizeof(Range), found[3] = sizeof(Job);
}
