/* SPDX-License-Identifier: MIT */
/*
 * LLVM trusts its input: bitcode that is damaged can make it crash, never end,
 * or take all memory there is. The work is done in a child with limits, so that this
 * too ends in a message and status 1.
 */
#include "kl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_MAX  ((rlim_t)8 << 30) /* bytes */
/* Of processor time: to read the input, which takes less than one, and in
 * all. */
#define SECONDS_READ 30
#define SECONDS_MAX  1800

void kl_guard_input_read(void)
{
    const struct rlimit seconds = { SECONDS_MAX, SECONDS_MAX };

    setrlimit(RLIMIT_CPU, &seconds);
}

static void set_limits(void)
{
    const struct rlimit no_core = { 0, 0 };
    const struct rlimit seconds = { SECONDS_READ, SECONDS_MAX };

    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* These reserve more than that for themselves. */
    const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };

    setrlimit(RLIMIT_AS, &memory);
#endif
}

int kl_guard(int (*work)(void *), void *opaque)
{
    pid_t parent = getpid(), child;
    int status;

    fflush(NULL);
    child = fork();
    if (!child) {
        /* Not left behind when the parent is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        for (int i = 0; i < 3; i++) { /* what is written is the parent's */
            signal((const int[]){ SIGHUP, SIGINT, SIGTERM }[i], SIG_DFL);
        }
        set_limits();
        status = work(opaque);
        fflush(NULL);
        _exit(status); /* LLVM's own tables go with the process */
    }
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            child = -1;
        }
    }
    if (child < 0) {
        kl_error("%s", strerror(errno));
        return 1;
    }
    if (WIFSIGNALED(status)) {
        kl_error("the code generator ended by signal %d (%s): damaged bitcode, "
                 "or a defect of LLVM", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        return 1;
    }
    return WEXITSTATUS(status);
}
