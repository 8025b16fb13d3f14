"""What kernels call: functions of CUDA C that mean what Python's and NumPy's mean."""

from __future__ import annotations

#: Threads of a block that make a sum together.
THREADS = 256

#: Functions of the kernels, by name: only those that a module uses stand in it.
HELPERS = {
    **{
        name: f"""
#ifndef {name}  // a compiler without headers has none
#define {name} ({value} / 0.0)
#endif"""
        for name, value in (("INFINITY", "1.0"), ("NAN", "0.0"))
    },
    **{
        f"thread_{a}": f"""
__device__ long long thread_{a}()  // the number of this thread along {a}
{{
    return blockIdx.{a} * (long long)blockDim.{a} + threadIdx.{a};
}}
__device__ long long threads_{a}()
{{
    return gridDim.{a} * (long long)blockDim.{a};
}}"""
        for a in "xyz"
    },
    "from_end": """
__device__ long long from_end(long long k, long long n)  // subscript k of n elements
{
    return k < 0 ? k + n : k;
}""",
    "floor_div": """
template <class T> __device__ T floor_div(T a, T b)  // a // b, rounded down
{
    T q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
__device__ double floor_div(double a, double b)
{
    if (b == 0.0) return a / b;
    double m = fmod(a, b);
    double q = (a - m) / b;
    if (m != 0.0 && (b < 0.0) != (m < 0.0)) q -= 1.0;
    if (q == 0.0) return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1.0 : f;
}
__device__ float floor_div(float a, float b)
{
    if (b == 0.0f) return a / b;
    float m = fmodf(a, b);
    float q = (a - m) / b;
    if (m != 0.0f && (b < 0.0f) != (m < 0.0f)) q -= 1.0f;
    if (q == 0.0f) return copysignf(0.0f, a / b);
    float f = floorf(q);
    return q - f > 0.5f ? f + 1.0f : f;
}""",
    "py_mod": """
template <class T> __device__ T py_mod(T a, T b)  // a % b, with the sign of b
{
    T m = a % b;
    return (m != 0 && (m < 0) != (b < 0)) ? m + b : m;
}
__device__ double py_mod(double a, double b)
{
    double m = fmod(a, b);
    if (m == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (m < 0.0) ? m + b : m;
}
__device__ float py_mod(float a, float b)
{
    float m = fmodf(a, b);
    if (m == 0.0f) return copysignf(0.0f, b);
    return (b < 0.0f) != (m < 0.0f) ? m + b : m;
}""",
    "power": """
template <class T> __device__ T power(T x, long long n)  // x ** n for n >= 0
{
    T y = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1) y *= x;
        x *= x;
    }
    return y;
}""",
    "py_min": """
template <class T> __device__ T py_min(T a, T b) { return b < a ? b : a; }""",
    "py_max": """
template <class T> __device__ T py_max(T a, T b) { return b > a ? b : a; }""",
    "np_minimum": """
template <class T> __device__ T np_minimum(T a, T b)
{
    return a <= b || a != a ? a : b;
}""",
    "np_maximum": """
template <class T> __device__ T np_maximum(T a, T b)
{
    return a >= b || a != a ? a : b;
}""",
    "np_fmin": """
template <class T> __device__ T np_fmin(T a, T b)
{
    return a <= b || b != b ? a : b;
}""",
    "np_fmax": """
template <class T> __device__ T np_fmax(T a, T b)
{
    return a >= b || b != b ? a : b;
}""",
    "magnitude": """
template <class T> __device__ T magnitude(T x) { return x < 0 ? -x : x; }""",
    "sign": """
template <class T> __device__ T sign(T x) { return x > 0 ? 1 : x < 0 ? -1 : x; }""",
    "shift_left": """
template <class T> __device__ T shift_left(T x, long long n)
{
    return 0 <= n && n < 8 * (long long)sizeof(T) ? x << n : 0;
}""",
    "shift_right": """
template <class T> __device__ T shift_right(T x, long long n)
{
    return 0 <= n && n < 8 * (long long)sizeof(T) ? x >> n : x < 0 ? -1 : 0;
}""",
    "add_atomically": """
__device__ void add_atomically(long long* place, long long value)
{
    atomicAdd((unsigned long long*)place, (unsigned long long)value);
}""",
    "added": """
__device__ bool added(double sum)  // was anything added to -0.0, or 0?
{
    return sum != 0.0 || !signbit(sum);
}
__device__ bool added(float sum) { return sum != 0.0f || !signbit(sum); }
template <class T> __device__ bool added(T sum) { return sum != 0; }""",
    "block_sum": f"""
template <class T> __device__ T block_sum(T value)  // of all threads, in a fixed order
{{
    __shared__ T parts[{THREADS}];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = {THREADS // 2}; half > 0; half /= 2) {{
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }}
    T total = parts[0];
    __syncthreads();
    return total;
}}""",
    "block_extreme": f"""
template <class T, bool most> __device__ T block_extreme(T value)  // of all threads
{{
    __shared__ T parts[{THREADS}];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = {THREADS // 2}; half > 0; half /= 2) {{
        if (threadIdx.x < half) {{
            T own = parts[threadIdx.x], other = parts[threadIdx.x + half];
            if (most ? other > own : other < own) parts[threadIdx.x] = other;
        }}
        __syncthreads();
    }}
    T found = parts[0];
    __syncthreads();
    return found;
}}""",
    "make": """
template <class T> __device__ T* make(long long count, long long* status)
{
    T* memory = (T*)malloc((count > 0 ? count : 1) * sizeof(T));
    if (!memory) *status = -1;
    return memory;
}""",
    "grown": """
template <class T> __device__ T* grown(T* old, long long count, long long* status)
{
    T* memory = make<T>(2 * count, status);
    for (long long k = 0; memory && k < count; ++k) memory[k] = old[k];
    free(old);
    return memory;
}""",
}
