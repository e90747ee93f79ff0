/* SPDX-License-Identifier: MIT */
/*
 * Litmus kernels. Threads play roles: those of one warp, of one block or of
 * several blocks (args->place) form teams that share variables; each round of a
 * team has its own. Observations go to results[round][role][2].
 */
#include "../support/simt_device.h"

enum { LANES_PLACE, WARPS_PLACE, BLOCKS_PLACE };

typedef struct Args {
    u64 *vars;    /* of a round: 8 words for a team; 64 bytes apart */
    u64 *results;
    u64 *gates;   /* a word for a team */
    u64 rounds, roles, place;
} Args;

typedef struct Me {
    u64 role, team, teams;
} Me;

static Me who(const Args *a)
{
    Me me;

    if (a->place == LANES_PLACE) {
        me.role = TID % a->roles;
        me.team = TID / a->roles;
        me.teams = NTID / a->roles;
    } else if (a->place == WARPS_PLACE) {
        me.role = TID / 64;
        me.team = TID % 64;
        me.teams = 64;
    } else {
        me.role = CTAID;
        me.team = TID;
        me.teams = NTID;
    }
    return me;
}

/* All roles of a team begin every other round together, or nearly. */
static void together(const Args *a, const Me *me, u64 round)
{
    u64 *gate = &a->gates[8 * me->team], want = (round / 2 + 1) * a->roles;

    if (round % 2) {
        return;
    }
    __atomic_fetch_add(gate, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(gate, __ATOMIC_RELAXED) < want) {
    }
}

#define FENCE_ALL __asm__ volatile("fence rw, rw" ::: "memory")
#define FENCE_W   __asm__ volatile("fence w, w" ::: "memory")
#define FENCE_R   __asm__ volatile("fence r, r" ::: "memory")
#define FENCE_LS  __asm__ volatile("fence r, rw" ::: "memory")
#define FENCE_REL __asm__ volatile("fence rw, w" ::: "memory")

static inline u64 load(const u64 *p)
{
    u64 v;

    __asm__ volatile("ld %0, (%1)" : "=r"(v) : "r"(p) : "memory");
    return v;
}

static inline void store(u64 *p, u64 v)
{
    __asm__ volatile("sd %0, (%1)" ::"r"(v), "r"(p) : "memory");
}

static inline u64 swap(u64 *p, u64 v)
{
    u64 r;

    __asm__ volatile("amoswap.d.aqrl %0, %1, (%2)"
                     : "=r"(r) : "r"(v), "r"(p) : "memory");
    return r;
}

static inline u64 fetch(u64 *p)
{
    u64 r;

    __asm__ volatile("amoor.d.aqrl %0, x0, (%1)" : "=r"(r) : "r"(p) : "memory");
    return r;
}

#define LITMUS(name, body...)                                                  \
    ENTRY(name, (const Args *a))                                               \
    {                                                                          \
        Me me = who(a);                                                        \
                                                                               \
        for (u64 round = 0; round < a->rounds; round++) {                      \
            u64 at = round * me.teams + me.team, r0 = 0, r1 = 0;               \
            u64 *x = a->vars + 16 * at, *y = x + 8;                            \
            u64 *result = a->results + 8 * at + 2 * me.role;                   \
                                                                               \
            together(a, &me, round);                                           \
            body;                                                              \
            result[0] = r0;                                                    \
            result[1] = r1;                                                    \
        }                                                                      \
    }

/* Message passing: who sees the flag sees the message. */
LITMUS(mp_fence, {
    if (me.role == 0) {
        store(x, 1);
        FENCE_W;
        store(y, 1);
    } else {
        r0 = load(y);
        FENCE_R;
        r1 = load(x);
    }
})
LITMUS(mp_acquire, {
    if (me.role == 0) {
        store(x, 1);
        __atomic_store_n(y, 1, __ATOMIC_RELEASE);
    } else {
        r0 = __atomic_load_n(y, __ATOMIC_ACQUIRE);
        r1 = load(x);
    }
})
LITMUS(mp_amo, {
    if (me.role == 0) {
        store(x, 1);
        swap(y, 1);
    } else {
        r0 = fetch(y);
        r1 = load(x);
    }
})
/* Store buffering: not both find the other's variable untouched. */
LITMUS(sb_fence, {
    if (me.role == 0) {
        store(x, 1);
        FENCE_ALL;
        r0 = load(y);
    } else {
        store(y, 1);
        FENCE_ALL;
        r0 = load(x);
    }
})
LITMUS(sb_amo, {
    if (me.role == 0) {
        swap(x, 1);
        r0 = fetch(y);
    } else {
        swap(y, 1);
        r0 = fetch(x);
    }
})
/* Load buffering: not both see what the other stores later. */
LITMUS(lb_fence, {
    if (me.role == 0) {
        r0 = load(x);
        FENCE_LS;
        store(y, 1);
    } else {
        r0 = load(y);
        FENCE_LS;
        store(x, 1);
    }
})
/* Independent reads of independent writes: all agree which came first. */
LITMUS(iriw_fence, {
    if (me.role == 0) {
        store(x, 1);
    } else if (me.role == 1) {
        store(y, 1);
    } else if (me.role == 2) {
        r0 = load(x);
        FENCE_ALL;
        r1 = load(y);
    } else {
        r0 = load(y);
        FENCE_ALL;
        r1 = load(x);
    }
})
LITMUS(iriw_amo, {
    if (me.role == 0) {
        swap(x, 1);
    } else if (me.role == 1) {
        swap(y, 1);
    } else if (me.role == 2) {
        r0 = fetch(x);
        r1 = fetch(y);
    } else {
        r0 = fetch(y);
        r1 = fetch(x);
    }
})
/* Coherence: one word does not go back, fences or not. */
LITMUS(corr, {
    if (me.role == 0) {
        store(x, 1);
    } else {
        r0 = load(x);
        r1 = load(x);
    }
})
LITMUS(cowr, {
    store(x, me.role + 1);
    r0 = load(x);
    r1 = load(x);
})
/* Two writes each, in opposite order: not both first ones last. */
LITMUS(two_writes, {
    if (me.role == 0) {
        store(x, 1);
        FENCE_REL;
        store(y, 2);
    } else {
        store(y, 1);
        FENCE_REL;
        store(x, 2);
    }
})
/* Atomics lose nothing, whatever their kind. */
LITMUS(atomicity, {
    u64 old;
    u64 now;

    __atomic_fetch_add(x, 1, __ATOMIC_RELAXED);
    do {
        __asm__ volatile("lr.d %0, (%1)" : "=r"(old) : "r"(x) : "memory");
        now = old + 1;
        __asm__ volatile("sc.d %0, %1, (%2)"
                         : "=&r"(now) : "r"(now), "r"(x) : "memory");
    } while (now);
    old = load(x);
    while (!__atomic_compare_exchange_n(x, &old, old + 1, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
})
/* A doubleword is one access: no halves of two values. */
LITMUS(single_copy, {
    if (me.role == 0) {
        store(x, 0x1111111111111111);
        store(x, 0x2222222222222222);
    } else {
        r0 = load(x);
        r1 = load(x);
    }
})
