/* SPDX-License-Identifier: MIT */
/* The kernels of the programs in runtime/samples, in OpenCL C. Sizes are those of
 * their headers, as options of the compiler. */

__kernel void spmv(int rows, __global const int *start,
                   __global const int *column, __global const float *value,
                   __global const float *x, __global float *y)
{
    int row = get_global_id(0);

    if (row < rows) {
        float sum = 0;

        for (int k = start[row]; k < start[row + 1]; k++) {
            sum += value[k] * x[column[k]];
        }
        y[row] = sum;
    }
}

__kernel void bfs(__global const int *start, __global const int *target,
                  __global const int *frontier, int size, int depth,
                  __global int *level, __global int *next, __global int *count)
{
    int i = get_global_id(0);

    if (i < size) {
        int node = frontier[i];

        for (int k = start[node]; k < start[node + 1]; k++) {
            int other = target[k];

            if (level[other] < 0 &&
                atomic_cmpxchg(&level[other], -1, depth) < 0) {
                next[atomic_add(count, 1)] = other;
            }
        }
    }
}

/* Replaces n numbers by the sums of those before each; sums has a number for
 * each thread. */
static void exclusive_sums_local(__local uint *numbers, __local uint *sums, int n)
{
    int t = get_local_id(0), each = n / SORT_THREADS;
    uint sum = 0;

    for (int i = 0; i < each; i++) {
        sum += numbers[t * each + i];
    }
    sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < SORT_THREADS; d *= 2) {
        uint before = t >= d ? sums[t - d] : 0;

        barrier(CLK_LOCAL_MEM_FENCE);
        sums[t] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = sums[t] - sum;
    for (int i = 0; i < each; i++) {
        uint number = numbers[t * each + i];

        numbers[t * each + i] = sum;
        sum += number;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(SORT_THREADS, 1, 1))) void
sort_count(__global const uint *keys, int shift, __global uint *counts)
{
    __local uint local_counts[SORT_DIGITS];
    int t = get_local_id(0);
    int first = get_group_id(0) * SORT_THREADS * SORT_EACH;

    if (t < SORT_DIGITS) {
        local_counts[t] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < SORT_EACH; i++) {
        uint key = keys[first + i * SORT_THREADS + t];

        atomic_add(&local_counts[key >> shift & (SORT_DIGITS - 1)], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < SORT_DIGITS) {
        counts[t * SORT_BLOCKS + get_group_id(0)] = local_counts[t];
    }
}

__kernel __attribute__((reqd_work_group_size(SORT_THREADS, 1, 1))) void
sort_sum(__global uint *numbers)
{
    __local uint sums[SORT_THREADS];
    int t = get_local_id(0);
    int each = SORT_DIGITS * SORT_BLOCKS / SORT_THREADS;
    uint sum = 0;

    for (int i = 0; i < each; i++) {
        sum += numbers[t * each + i];
    }
    sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < SORT_THREADS; d *= 2) {
        uint before = t >= d ? sums[t - d] : 0;

        barrier(CLK_LOCAL_MEM_FENCE);
        sums[t] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = sums[t] - sum;
    for (int i = 0; i < each; i++) {
        uint number = numbers[t * each + i];

        numbers[t * each + i] = sum;
        sum += number;
    }
}

__kernel __attribute__((reqd_work_group_size(SORT_THREADS, 1, 1))) void
sort_scatter(__global const uint *keys, int shift, __global const uint *counts,
             __global uint *sorted)
{
    __local uint rank[SORT_DIGITS * SORT_THREADS];
    __local uint sums[SORT_THREADS], begin[SORT_DIGITS];
    int t = get_local_id(0);
    int first = (get_group_id(0) * SORT_THREADS + t) * SORT_EACH;
    uint key[SORT_EACH];

    for (int d = 0; d < SORT_DIGITS; d++) {
        rank[d * SORT_THREADS + t] = 0;
    }
    for (int i = 0; i < SORT_EACH; i++) {
        key[i] = keys[first + i];
        rank[(key[i] >> shift & (SORT_DIGITS - 1)) * SORT_THREADS + t]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    exclusive_sums_local(rank, sums, SORT_DIGITS * SORT_THREADS);
    if (t < SORT_DIGITS) {
        begin[t] = counts[t * SORT_BLOCKS + get_group_id(0)] -
                   rank[t * SORT_THREADS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < SORT_EACH; i++) {
        uint digit = key[i] >> shift & (SORT_DIGITS - 1);

        sorted[begin[digit] + rank[digit * SORT_THREADS + t]++] = key[i];
    }
}

__kernel __attribute__((reqd_work_group_size(STENCIL_X, STENCIL_Y, 1))) void
stencil(__global const float *from, __global float *to, int n)
{
    __local float tile[STENCIL_Y + 2][STENCIL_X + 2];
    int tx = get_local_id(0) + 1, ty = get_local_id(1) + 1;
    int x = get_global_id(0), y = get_global_id(1);

    tile[ty][tx] = from[y * n + x];
    if (tx == 1 && x > 0) {
        tile[ty][0] = from[y * n + x - 1];
    }
    if (tx == STENCIL_X && x < n - 1) {
        tile[ty][STENCIL_X + 1] = from[y * n + x + 1];
    }
    if (ty == 1 && y > 0) {
        tile[0][tx] = from[(y - 1) * n + x];
    }
    if (ty == STENCIL_Y && y < n - 1) {
        tile[STENCIL_Y + 1][tx] = from[(y + 1) * n + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
        to[y * n + x] = 0.5f * tile[ty][tx] +
                        0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] +
                                  tile[ty - 1][tx] + tile[ty + 1][tx]);
    }
}

__kernel void queens(__global const uint *jobs, int count, __global uint *total)
{
    int job = get_global_id(0);
    uint columns[QUEENS], left[QUEENS], right[QUEENS], free[QUEENS];
    uint found = 0;
    int row = QUEENS_SET;

    if (job >= count) {
        return;
    }
    columns[row] = jobs[3 * job];
    left[row] = jobs[3 * job + 1];
    right[row] = jobs[3 * job + 2];
    free[row] = QUEENS_ALL & ~(columns[row] | left[row] | right[row]);
    while (row >= QUEENS_SET) {
        uint bit = free[row] & -free[row];

        if (!bit) {
            row--;
        } else if (row == QUEENS - 1) {
            found++;
            row--;
        } else {
            free[row] ^= bit;
            columns[row + 1] = columns[row] | bit;
            left[row + 1] = (left[row] | bit) << 1;
            right[row + 1] = (right[row] | bit) >> 1;
            row++;
            free[row] = QUEENS_ALL & ~(columns[row] | left[row] | right[row]);
        }
    }
    atomic_add(total, found);
}

__kernel __attribute__((reqd_work_group_size(ALIGN_QUERY, 1, 1))) void
align_pairs(__global const char *query, __global const char *target,
            __global int *scores)
{
    __local int line[2][ALIGN_QUERY + 1];
    __local char letters[ALIGN_TARGET];
    __local int best_of_all;
    int j = get_local_id(0), pair = get_group_id(0);
    char letter = query[pair * ALIGN_QUERY + j];
    int own = 0, corner = 0, best = 0;

    for (int i = j; i < ALIGN_TARGET; i += ALIGN_QUERY) {
        letters[i] = target[pair * ALIGN_TARGET + i];
    }
    line[0][j + 1] = line[1][j + 1] = 0;
    if (j == 0) {
        line[0][0] = line[1][0] = best_of_all = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < ALIGN_QUERY + ALIGN_TARGET - 1; d++) {
        int i = d - j;

        if (i >= 0 && i < ALIGN_TARGET) {
            int before = line[(d + 1) & 1][j];
            int h = corner +
                    (letters[i] == letter ? ALIGN_MATCH : ALIGN_MISMATCH);

            h = max(max(h, 0), max(own, before) - ALIGN_GAP);
            corner = before;
            own = h;
            best = max(best, h);
            line[d & 1][j + 1] = h;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_max(&best_of_all, best);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (j == 0) {
        scores[pair] = best_of_all;
    }
}

static uint reversed(uint x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

__kernel __attribute__((reqd_work_group_size(FFT_THREADS, 1, 1))) void
fft(__global const float2 *signals, __global const float2 *roots,
    __global float2 *out)
{
    __local float2 x[FFT_N];
    int base = get_group_id(0) * FFT_N;

    for (int i = get_local_id(0); i < FFT_N; i += FFT_THREADS) {
        x[reversed(i) >> (32 - FFT_LOG)] = signals[base + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = 1; half_size < FFT_N; half_size *= 2) {
        for (int i = get_local_id(0); i < FFT_N / 2; i += FFT_THREADS) {
            int at = i & (half_size - 1), low = 2 * i - at;
            float2 w = roots[at * (FFT_N / 2 / half_size)];
            float2 a = x[low], b = x[low + half_size];
            float re = b.x * w.x - b.y * w.y;
            float im = b.x * w.y + b.y * w.x;

            x[low] = (float2)(a.x + re, a.y + im);
            x[low + half_size] = (float2)(a.x - re, a.y - im);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = get_local_id(0); i < FFT_N; i += FFT_THREADS) {
        out[base + i] = x[i];
    }
}

struct sums {
    float x[MEANS], y[MEANS];
    int members[MEANS];
};

/* OpenCL 1.2 has no atomic sums of floats: what everybody writes instead. */
#define ADD_FLOAT(space)                                                       \
    static void add_##space(volatile __##space float *p, float value)          \
    {                                                                          \
        volatile __##space int *word = (volatile __##space int *)p;            \
        int old = *word, seen;                                                 \
                                                                               \
        while ((seen = atomic_cmpxchg(                                         \
                    word, old, as_int(as_float(old) + value))) != old) {       \
            old = seen;                                                        \
        }                                                                      \
    }
ADD_FLOAT(local)
ADD_FLOAT(global)

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
means_assign(__global const float2 *points, int n, __global const float2 *means,
             __global struct sums *sums)
{
    __local float2 mean[MEANS];
    __local struct sums own;
    int t = get_local_id(0), i = get_global_id(0);

    if (t < MEANS) {
        mean[t] = means[t];
        own.x[t] = own.y[t] = 0;
        own.members[t] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
        float2 p = points[i];
        float best = 1e30f;
        int nearest = 0;

        for (int k = 0; k < MEANS; k++) {
            float dx = p.x - mean[k].x, dy = p.y - mean[k].y;
            float d = dx * dx + dy * dy;

            if (d < best) {
                best = d;
                nearest = k;
            }
        }
        add_local(&own.x[nearest], p.x);
        add_local(&own.y[nearest], p.y);
        atomic_add(&own.members[nearest], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < MEANS) {
        add_global(&sums->x[t], own.x[t]);
        add_global(&sums->y[t], own.y[t]);
        atomic_add(&sums->members[t], own.members[t]);
    }
}

__kernel void means_move(__global float2 *means, __global struct sums *sums)
{
    int k = get_local_id(0), n = sums->members[k];

    if (n) {
        means[k] = (float2)(sums->x[k] / n, sums->y[k] / n);
    }
    sums->x[k] = sums->y[k] = 0;
    sums->members[k] = 0;
}

static uint slot_of(uint key)
{
    key = (key ^ key >> 16) * 0x7feb352du;
    key = (key ^ key >> 15) * 0x846ca68bu;
    return (key ^ key >> 16) & (TABLE_SLOTS - 1);
}

__kernel void table_insert(__global const uint *keys, __global uint *slot,
                           __global uint *value)
{
    uint i = get_global_id(0);

    if (i < TABLE_KEYS) {
        uint at = slot_of(keys[i]);

        while (atomic_cmpxchg(&slot[at], 0, keys[i]) != 0) {
            at = (at + 1) & (TABLE_SLOTS - 1);
        }
        value[at] = i + 1;
    }
}

__kernel void table_look_up(__global const uint *keys, __global const uint *slot,
                            __global const uint *value, __global uint *found)
{
    uint i = get_global_id(0);

    if (i < TABLE_LOOKUPS) {
        uint key = keys[i], at = slot_of(key);

        while (slot[at] != 0 && slot[at] != key) {
            at = (at + 1) & (TABLE_SLOTS - 1);
        }
        found[i] = slot[at] == 0 ? 0 : value[at];
    }
}

static float uniform(uint *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (float)((*state >> 8) + 1) * 0x1p-24f;
}

__kernel __attribute__((reqd_work_group_size(OPTION_BLOCK, 1, 1))) void
option_paths(float drift, float spread, float price, float strike,
             __global float *sums)
{
    __local float part[OPTION_BLOCK];
    int t = get_local_id(0);
    uint state = (uint)get_global_id(0) * 2654435761u + 12345;
    float sum = 0;

    for (int i = 0; i < OPTION_PATHS; i++) {
        float u = uniform(&state), v = uniform(&state);
        float normal = sqrt(-2 * log(u)) * cos(6.2831853f * v);
        float end = price * exp(drift + spread * normal);

        sum += fmax(end - strike, 0.0f);
    }
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = OPTION_BLOCK / 2; half_size; half_size /= 2) {
        if (t < half_size) {
            part[t] += part[t + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
        sums[get_group_id(0)] = part[0];
    }
}
