// CUDA C on a CPU: what the words of a kernel mean, one thread after another, and who
// touched what. Arrays that kernels are given know their length and, for each element,
// which thread of this launch read, wrote or atomically changed it, and between which
// barriers of its block. The first finding of a launch is kept in `finding`.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <vector>

struct Place3 { unsigned x, y, z; };
static Place3 threadIdx, blockIdx, blockDim, gridDim;
static int thread_now;
static char finding[256];

static void found(const char* what, const char* name, long long k)
{
    if (!finding[0]) snprintf(finding, sizeof finding, "%s: %s[%lld]", what, name, k);
}

#define __global__
#define __device__ static
#define __restrict__

// ---------------------------------------------------------------- who touched what

static int block_now, barriers;

// The last to touch an element: of what threads of a block did before their last barrier
// nothing meets what they do behind it. A thread of -2 are several, and so is a block.
struct Who { int thread = -1, block = -1, barrier = -1; };
struct Mark { Who reader, writer, atomic; };

static bool other(const Who& who)
{
    if (who.thread == -1 || who.block != block_now) return who.thread != -1;
    return who.barrier == barriers && who.thread != thread_now;
}
static void add(Who& who)
{
    bool fresh = who.thread == -1, ours = who.block == block_now;
    bool met = ours && who.barrier != barriers;
    int thread = fresh || met || who.thread == thread_now ? thread_now : -2;
    who = {thread, fresh || ours ? block_now : -2, barriers};
}

static void marked(Mark& m, char kind, const char* name, long long k)
{
    bool race = kind == 'r'   ? other(m.writer) || other(m.atomic)
                : kind == 'w' ? other(m.writer) || other(m.atomic) || other(m.reader)
                              : other(m.writer) || other(m.reader);
    if (race) found("race", name, k);
    add(kind == 'r' ? m.reader : kind == 'w' ? m.writer : m.atomic);
}

struct Memory { void* data; long long count; Mark* marks; const char* name; };

template <class T> struct Ref {
    Memory m;
    long long k;
    bool inside(char kind) const
    {
        if (k < 0 || k >= m.count) { found("outside", m.name, k); return false; }
        marked(m.marks[k], kind, m.name, k);
        return true;
    }
    T get() const { return inside('r') ? ((T*)m.data)[k] : T(); }
    operator T() const { return get(); }
    T operator=(T value) const { if (inside('w')) ((T*)m.data)[k] = value; return value; }
    T operator=(const Ref& other) const { return *this = other.get(); }
    template <class U> void operator+=(U value) const { *this = T(get() + value); }
    template <class U> void operator-=(U value) const { *this = T(get() - value); }
    const Ref* operator&() const { return this; }
};

template <class T> struct Array {
    Memory m;
    Ref<T> operator[](long long k) const { return Ref<T>{m, k}; }
};
template <class T> struct Array<const T> {
    Memory m;
    T operator[](long long k) const { return Ref<T>{m, k}.get(); }
};

template <class T, class U> static T atomicAdd(const Ref<T>* place, U value)
{
    T* at = (T*)place->m.data + place->k;
    if (!place->inside('a')) return T();
    T old = *at;
    *at = T(old + T(value));
    return old;
}
template <class U> static void add_atomically(const Ref<long long>* place, U value)
{
    atomicAdd(place, (long long)value);
}

// ---------------------------------------------------------------- barriers

// Every thread of a block has a stack of its own; a barrier hands over to the next one.
static const int STACK = 1 << 16;
static std::vector<ucontext_t> fibers;
static std::vector<char> stacks;
static std::vector<char> finished;
static ucontext_t scheduler;
static int fiber_now;
static void (*body_now)();
static void** args_now;

static void __syncthreads() { swapcontext(&fibers[fiber_now], &scheduler); }

static void fiber_start()
{
    body_now();
    finished[fiber_now] = 1;
    swapcontext(&fibers[fiber_now], &scheduler);
}

template <class T, int N> struct Shared {
    T data[N];
    Mark marks[N];
    int since = -1;
    Ref<T> operator[](long long k)
    {
        if (since != barriers) {
            for (Mark& m : marks) m = Mark();
            since = barriers;
        }
        return Ref<T>{Memory{data, N, marks, "shared memory"}, k};
    }
};

static void place_thread(int t)
{
    threadIdx.x = t % blockDim.x;
    threadIdx.y = t / blockDim.x % blockDim.y;
    threadIdx.z = t / (blockDim.x * blockDim.y);
}

static void run_grid(const unsigned* grid, const unsigned* block, bool barrier,
                     void (*body)())
{
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    int threads = block[0] * block[1] * block[2];
    int number = 0;
    body_now = body;
    for (blockIdx.z = 0; blockIdx.z < grid[2]; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < grid[1]; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < grid[0]; ++blockIdx.x, number += threads) {
                block_now = number / threads;
                if (!barrier) {
                    for (int t = 0; t < threads; ++t) {
                        thread_now = number + t;
                        place_thread(t);
                        body();
                    }
                    continue;
                }
                fibers.resize(threads);
                stacks.resize((size_t)threads * STACK);
                finished.assign(threads, 0);
                for (int t = 0; t < threads; ++t) {
                    getcontext(&fibers[t]);
                    fibers[t].uc_stack.ss_sp = &stacks[(size_t)t * STACK];
                    fibers[t].uc_stack.ss_size = STACK;
                    fibers[t].uc_link = &scheduler;
                    makecontext(&fibers[t], fiber_start, 0);
                }
                int left = threads;
                while (left) {
                    ++barriers;
                    int before = left;
                    for (int t = 0; t < threads; ++t) {
                        if (finished[t]) continue;
                        fiber_now = t;
                        thread_now = number + t;
                        place_thread(t);
                        swapcontext(&scheduler, &fibers[t]);
                        if (finished[t]) --left;
                    }
                    if (left && left != before)
                        found("a barrier that some threads never reach", "block", 0);
                }
            }
}
