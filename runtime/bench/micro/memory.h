/* SPDX-License-Identifier: MIT */
/* Loads and stores. Addresses are in a register, steps in the instruction, so
 * that a step is one instruction; random ones are computed, and the cost of that
 * is a row of its own. */
#include "micro.h"

enum Pattern { UNIFORM, CONTIGUOUS, ROWS, STRIDED, RANDOM };

/* Offset of the first access of a thread, so that 32 of 64 bytes' distance stay
 * within the space. */
template <Space S, Pattern P, class T> BOTH size_t first(unsigned thread)
{
    size_t warp = thread / WARP, lane = thread % WARP;
    size_t span = S == GLOBAL ? GLOBAL_BYTES : SHARED_SPAN / 2;
    size_t origin = warp * 32768 % span;

    switch (P) {
    case UNIFORM:
        return origin;
    case CONTIGUOUS:
        return origin + lane * sizeof(T);
    case ROWS: /* a member of an array of three */
        return origin + lane * 3 * sizeof(T);
    case STRIDED:
        return (origin + lane * 256) % (2 * span);
    default:
        return 0;
    }
}

template <Space S, Pattern P> struct Address : Exact {
    static const Space SPACE = S;
    char *base, *at;
    uint32_t seed;

    template <class T> BOTH_MEMBER void start(char *memory, unsigned thread, T *)
    {
        base = memory;
        seed = mix(thread);
        at = memory + first<S, P, T>(thread);
        opaque(at);
    }
    BOTH_MEMBER char *next(int k)
    {
        if (P != RANDOM) {
            return at + (k % 31) * 64;
        }
        size_t span = S == GLOBAL ? GLOBAL_BYTES : SHARED_SPAN;
        seed = seed * 1664525 + 1013904223;
        return base + ((seed >> 7) & (span - 8));
    }
};

template <class T, Space S, Pattern P> struct Load : Address<S, P> {
    T last;
    BOTH_MEMBER Load(char *memory, unsigned thread, int)
    {
        this->start(memory, thread, (T *)0);
    }
    BOTH_MEMBER void step(int k)
    {
        last = *(volatile T *)this->next(k);
        used(last);
    }
    BOTH_MEMBER uint64_t result()
    {
        return bits(last);
    }
};

/* All store the same, so that it does not matter who was last. */
template <class T, Space S, Pattern P> struct Store : Address<S, P> {
    T value;
    char *last;
    BOTH_MEMBER Store(char *memory, unsigned thread, int)
    {
        this->start(memory, thread, (T *)0);
        value = (T)0x5a;
        opaque(value);
    }
    BOTH_MEMBER void step(int k)
    {
        last = this->next(k);
        *(volatile T *)last = value;
    }
    BOTH_MEMBER uint64_t result()
    {
        return bits(*(volatile T *)last);
    }
};

template <Space S> struct AddressOnly : Address<S, RANDOM> {
    BOTH_MEMBER AddressOnly(char *memory, unsigned thread, int)
    {
        this->start(memory, thread, (char *)0);
    }
    BOTH_MEMBER void step(int k)
    {
        used(this->next(k));
    }
    BOTH_MEMBER uint64_t result()
    {
        return this->seed;
    }
};

/* Four floats of a thread at once. */
template <bool STORE> struct Vector : Address<GLOBAL, CONTIGUOUS> {
    float4 value;
    BOTH_MEMBER Vector(char *memory, unsigned thread, int)
    {
        start(memory, thread, (float4 *)0);
        value = make_float4(1, 2, 3, 4);
    }
    BOTH_MEMBER void step(int k)
    {
        float4 *p = (float4 *)next(k);

        if (STORE) {
            *p = value;
            asm volatile("" ::: "memory");
        } else {
            value = *p;
            opaque(value.x);
            opaque(value.y);
            opaque(value.z);
            opaque(value.w);
        }
    }
    BOTH_MEMBER uint64_t result()
    {
        if (STORE) {
            value = *(float4 *)next(UNROLL - 1);
        }
        return bits(value.x) ^ bits(value.w) << 32;
    }
};

/* An array of the thread, in its private memory: 64 elements. */
template <class T, bool STORE, bool BY_LANE> struct Private : Exact {
    T array[64];
    uint32_t index;
    T last;
    BOTH_MEMBER Private(char *, unsigned thread, int)
    {
        for (unsigned i = 0; i < 64; i++) {
            array[i] = (T)(i * 3 + thread);
        }
        index = BY_LANE ? mix(thread) : 5;
        last = (T)thread;
    }
    BOTH_MEMBER void step(int)
    {
        index = (index * 5 + 1) & 63;
        opaque(index);
        if (STORE) {
            *(volatile T *)&array[index] = last;
        } else {
            last = *(volatile T *)&array[index];
            used(last);
        }
    }
    BOTH_MEMBER uint64_t result()
    {
        uint64_t sum = last;

        for (unsigned i = 0; i < 64; i++) {
            sum = sum * 3 + ((volatile T *)array)[i];
        }
        return sum;
    }
};

template <bool BY_LANE> struct PrivateIndex : Exact {
    uint32_t index;
    BOTH_MEMBER PrivateIndex(char *, unsigned thread, int)
    {
        index = BY_LANE ? mix(thread) : 5;
    }
    BOTH_MEMBER void step(int)
    {
        index = (index * 5 + 1) & 63;
        opaque(index);
    }
    BOTH_MEMBER uint64_t result()
    {
        return index;
    }
};

#define ROW(text, base, iterations, ...)                                       \
    {text, base, iterations, BLOCK, true, launch<__VA_ARGS__>,                 \
     replay<__VA_ARGS__>},
#define PATTERNS(where, what, space, Kind, text, T)                            \
    ROW(where what text ".uniform", NULL, 64, Kind<T, space, UNIFORM>)         \
    ROW(where what text ".contiguous", NULL, 64, Kind<T, space, CONTIGUOUS>)   \
    ROW(where what text ".strided", NULL, 16, Kind<T, space, STRIDED>)         \
    ROW(where what text ".random", where "address", 8, Kind<T, space, RANDOM>)
#define SIZES(where, what, space, Kind)                                        \
    PATTERNS(where, what, space, Kind, "u8", uint8_t)                          \
    PATTERNS(where, what, space, Kind, "u16", uint16_t)                        \
    PATTERNS(where, what, space, Kind, "u32", uint32_t)                        \
    PATTERNS(where, what, space, Kind, "u64", uint64_t)
#define PRIVATES(what, store, text, T)                                         \
    ROW("private." what text ".uniform", "private.index.uniform", 64,          \
        Private<T, store, false>)                                              \
    ROW("private." what text ".by-lane", "private.index.by-lane", 64,          \
        Private<T, store, true>)

static const Row memory_table[] = {
    ROW("global.address", NULL, 64, AddressOnly<GLOBAL>)
    ROW("shared.address", NULL, 64, AddressOnly<SHARED>)
    SIZES("global.", "load.", GLOBAL, Load)
    SIZES("global.", "store.", GLOBAL, Store)
    SIZES("shared.", "load.", SHARED, Load)
    SIZES("shared.", "store.", SHARED, Store)
    ROW("global.load.f32.contiguous", NULL, 64, Load<float, GLOBAL, CONTIGUOUS>)
    ROW("global.load.f64.contiguous", NULL, 64,
        Load<double, GLOBAL, CONTIGUOUS>)
    ROW("global.load.f32.rows-of-3", NULL, 64, Load<float, GLOBAL, ROWS>)
    ROW("global.store.f32.rows-of-3", NULL, 64, Store<float, GLOBAL, ROWS>)
    ROW("global.load.f32x4.contiguous", NULL, 32, Vector<false>)
    ROW("global.store.f32x4.contiguous", NULL, 32, Vector<true>)
    ROW("shared.load.f32.rows-of-3", NULL, 64, Load<float, SHARED, ROWS>)
    ROW("constant.load.u32.uniform", NULL, 64,
        Load<uint32_t, CONSTANT, UNIFORM>)
    ROW("constant.load.u32.contiguous", NULL, 64,
        Load<uint32_t, CONSTANT, CONTIGUOUS>)
    ROW("constant.load.u32.random", "shared.address", 16,
        Load<uint32_t, CONSTANT, RANDOM>)
    ROW("private.index.uniform", NULL, 64, PrivateIndex<false>)
    ROW("private.index.by-lane", NULL, 64, PrivateIndex<true>)
    PRIVATES("load.", false, "u32", uint32_t)
    PRIVATES("store.", true, "u32", uint32_t)
    PRIVATES("load.", false, "u64", uint64_t)
    PRIVATES("store.", true, "u64", uint64_t)
};
#undef ROW
