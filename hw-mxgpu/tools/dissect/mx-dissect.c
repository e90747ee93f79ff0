/* SPDX-License-Identifier: MIT */
/* mx-dissect: a capture of a device, a line for each record. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture_text.h"
#include "mxgpu/capture.h"

static void usage(FILE *out)
{
    fprintf(out, "usage: mx-dissect [-k KIND]... FILE\n"
            "Prints a capture of -device mxgpu,capture=FILE or of "
            "MXGPU_CAPTURE=FILE.\n"
            "-k: only records of these kinds:\n");
#define F(name, value) fprintf(out, "  " #name "\n");
    MXGPU_CAPTURE_KINDS(F)
#undef F
}

static void put(void *opaque, const char *line)
{
    puts(line);
}

static int dissect(const char *path, const MxCaptureOut *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *error = NULL;
    void *data = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st)) {
        fprintf(stderr, "mx-dissect: %s: %s\n", path, strerror(errno));
        return 1;
    }
    if (!S_ISREG(st.st_mode)) {
        error = "this is no file";
    } else if (st.st_size) {
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        error = data == MAP_FAILED ? strerror(errno) : NULL;
    }
    close(fd);
    if (!error) {
        error = mx_capture_text(data, (size_t)st.st_size, out);
    }
    if (error) {
        fflush(stdout);
        fprintf(stderr, "mx-dissect: %s: %s\n", path, error);
    }
    return error != NULL;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"kind", required_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    MxCaptureOut out = {.put = put, .kinds = 0};
    int option;

    while ((option = getopt_long(argc, argv, "k:h", options, NULL)) != -1) {
        unsigned kind;

        switch (option) {
        case 'k':
            kind = mx_capture_kind(optarg);
            if (!kind) {
                fprintf(stderr, "mx-dissect: no kind %s\n", optarg);
                return 2;
            }
            out.kinds |= 1ull << kind;
            break;
        case 'h':
            usage(stdout);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    }
    if (optind + 1 != argc) {
        usage(stderr);
        return 2;
    }
    out.kinds = out.kinds ? out.kinds : UINT64_MAX;
    return dissect(argv[optind], &out);
}
