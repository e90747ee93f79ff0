/* SPDX-License-Identifier: MIT */
/* The FIFO of printf as kernels leave it: good records, and what they forge. */
#include "services/fifo.h"

#include <glib.h>
#include <stdlib.h>

#include "fuzz/fuzz-fifo.h"

#define LIMIT 8192u
#define SIZE  (LIMIT + MC_FIFO_SPARE)

typedef struct Bench {
    McFifo fifo;
    struct mc_fifo *shared;
} Bench;

static void setup(Bench *b)
{
    b->shared = g_malloc(sizeof(*b->shared) + SIZE);
    mc_fifo_init(&b->fifo, b->shared, LIMIT);
}

static void teardown(Bench *b)
{
    mc_fifo_free(&b->fifo);
    g_free(b->shared);
}

static uint64_t *word(Bench *b, uint64_t at)
{
    return &b->shared->ring[at % SIZE / 8];
}

/* As a kernel's printf of a text without arguments; returns where it is. */
static uint64_t say(Bench *b, const char *text, enum mc_record_state state)
{
    uint64_t at = b->shared->head, length = strlen(text), copy[8] = {0};

    memcpy(copy, text, length);
    b->shared->head += 16 + (length + 7) / 8 * 8;
    *word(b, at) = MC_RECORD(b->shared->head - at, MC_RECORD_PRINTF, state);
    *word(b, at + 8) = length;
    for (uint64_t i = 0; i < length; i += 8) {
        *word(b, at + 16 + i) = copy[i / 8];
    }
    return at;
}

#define SORRY                                                                  \
    "printf: kernels have written over the FIFO; lines are missing or wrong\n"

static void drained(Bench *b, McFifoWriters writers, const char *out_want,
                    const char *err_want)
{
    char *out = NULL, *err = NULL;
    size_t out_size, err_size;
    FILE *o = open_memstream(&out, &out_size);
    FILE *e = open_memstream(&err, &err_size);

    mc_fifo_drain(&b->fifo, mc_fifo_head(&b->fifo), writers, o, e);
    fclose(o);
    fclose(e);
    g_assert_cmpstr(out, ==, out_want);
    g_assert_cmpstr(err, ==, err_want);
    g_assert_cmpuint(b->shared->tail, ==, b->fifo.tail);
    if (writers != MC_FIFO_RUN) {
        g_assert_cmpuint(b->shared->tail, ==, b->shared->head);
        for (unsigned i = 0; i < SIZE / 8; i++) {
            g_assert_cmpuint(b->shared->ring[i], ==, 0);
        }
    }
    free(out);
    free(err);
}

/* Records are printed once, in their order; those that are not complete keep
 * their room. */
static void test_order(void)
{
    Bench b;
    uint64_t open;

    setup(&b);
    g_assert_false(mc_fifo_news(&b.fifo));
    say(&b, "one", MC_RECORD_READY);
    open = say(&b, "two", MC_RECORD_OPEN);
    say(&b, "three", MC_RECORD_READY);
    g_assert_true(mc_fifo_news(&b.fifo));
    drained(&b, MC_FIFO_RUN, "onethree", "");
    g_assert_cmpuint(b.shared->tail, ==, open);
    drained(&b, MC_FIFO_RUN, "", "");
    *word(&b, open) = MC_RECORD(24, MC_RECORD_PRINTF, MC_RECORD_READY);
    drained(&b, MC_FIFO_ENDED, "two", "");
    g_assert_false(mc_fifo_news(&b.fifo));
    /* around the ring */
    for (unsigned i = 0; i < 2 * SIZE / 24; i++) {
        say(&b, "round", MC_RECORD_READY);
        drained(&b, MC_FIFO_RUN, "round", "");
    }
    b.shared->dropped = 3;
    drained(&b, MC_FIFO_ENDED, "",
            "printf: 3 lines lost, the FIFO of 8192 bytes was full "
            "(mcLimitPrintfFifoSize)\n");
    teardown(&b);
}

/* A kernel that was aborted leaves records that nobody completes. */
static void test_aborted(void)
{
    Bench b;

    setup(&b);
    say(&b, "one", MC_RECORD_OPEN);
    b.shared->head += 24;
    say(&b, "two", MC_RECORD_READY);
    drained(&b, MC_FIFO_ABORTED, "two", "");
    teardown(&b);
}

/* Room that somebody took and wrote nothing to: what follows is printed while
 * kernels run, and when none does, the room is given back. */
static void test_hole(void)
{
    Bench b;

    setup(&b);
    say(&b, "one", MC_RECORD_READY);
    b.shared->head += 4096;
    say(&b, "two", MC_RECORD_READY);
    drained(&b, MC_FIFO_RUN, "onetwo", "");
    say(&b, "three", MC_RECORD_READY);
    drained(&b, MC_FIFO_RUN, "three", "");
    g_assert_cmpuint(b.shared->head - b.shared->tail, >, 4096);
    say(&b, "four", MC_RECORD_READY);
    drained(&b, MC_FIFO_ENDED, "four", SORRY);
    b.shared->head += 800;
    say(&b, "five", MC_RECORD_READY);
    drained(&b, MC_FIFO_ENDED, "five", ""); /* said once */
    teardown(&b);
}

/* A record that says it is longer, and in the end hides others. */
static void test_long(void)
{
    Bench b;
    uint64_t at;

    setup(&b);
    at = say(&b, "one", MC_RECORD_READY);
    say(&b, "two", MC_RECORD_READY);
    say(&b, "three", MC_RECORD_READY);
    *word(&b, at) = MC_RECORD(48, MC_RECORD_PRINTF, MC_RECORD_OPEN);
    drained(&b, MC_FIFO_RUN, "three", "");
    say(&b, "four", MC_RECORD_READY);
    drained(&b, MC_FIFO_ENDED, "four", SORRY);
    teardown(&b);
}

/* Sizes and bytes that make no sense: what follows is found again. */
static void test_garbage(void)
{
    static const uint64_t words[] = {
        MC_RECORD(0, MC_RECORD_PRINTF, MC_RECORD_READY),
        MC_RECORD(12, MC_RECORD_PRINTF, MC_RECORD_READY),
        MC_RECORD(UINT32_MAX, MC_RECORD_PRINTF, MC_RECORD_READY),
        MC_RECORD(4096, MC_RECORD_PRINTF, MC_RECORD_OPEN),
        MC_RECORD(24, MC_RECORD_PRINTF, 77),
        0x1234567812345678,
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        for (unsigned writers = MC_FIFO_RUN; writers <= MC_FIFO_ABORTED;
             writers++) {
            Bench b;
            uint64_t at;

            setup(&b);
            say(&b, "one", MC_RECORD_READY);
            at = say(&b, "", MC_RECORD_READY);
            say(&b, "three", MC_RECORD_READY);
            *word(&b, at) = words[i];
            drained(&b, writers, "onethree", SORRY);
            say(&b, "four", MC_RECORD_READY);
            drained(&b, writers, "four", "");
            drained(&b, MC_FIFO_ABORTED, "", "");
            teardown(&b);
        }
    }
}

/* The words in front of the ring. */
static void test_head(void)
{
    static const int64_t moves[] = {1, -8, SIZE + 8, 1ll << 40, INT64_MIN};

    for (unsigned i = 0; i < G_N_ELEMENTS(moves); i++) {
        Bench b;

        setup(&b);
        say(&b, "one", MC_RECORD_READY);
        drained(&b, MC_FIFO_ENDED, "one", "");
        say(&b, "two", MC_RECORD_READY);
        b.shared->head = b.shared->tail + moves[i];
        drained(&b, MC_FIFO_RUN, "two", SORRY);
        say(&b, "three", MC_RECORD_READY);
        drained(&b, MC_FIFO_ENDED, "three", "");
        b.shared->size = i * 1024;
        b.shared->limit = UINT64_MAX;
        b.shared->tail = i;
        g_assert_true(mc_fifo_news(&b.fifo));
        drained(&b, MC_FIFO_ENDED, "", "");
        g_assert_cmpuint(b.shared->size, ==, SIZE);
        g_assert_cmpuint(b.shared->limit, ==, LIMIT);
        teardown(&b);
    }
}

static void test_fuzz(void)
{
    FILE *sink = fopen("/dev/null", "w");
    GRand *rng = g_rand_new_with_seed(7);
    uint8_t data[2048];

    for (unsigned round = 0; round < 3000; round++) {
        for (size_t i = 0; i < sizeof(data); i++) {
            data[i] = g_rand_int(rng) >> g_rand_int(rng) % 32;
        }
        fuzz_fifo(data, g_rand_int(rng) % sizeof(data), sink);
    }
    g_rand_free(rng);
    fclose(sink);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fifo/order", test_order);
    g_test_add_func("/fifo/aborted", test_aborted);
    g_test_add_func("/fifo/hole", test_hole);
    g_test_add_func("/fifo/long", test_long);
    g_test_add_func("/fifo/garbage", test_garbage);
    g_test_add_func("/fifo/head", test_head);
    g_test_add_func("/fifo/fuzz", test_fuzz);
    return g_test_run();
}
