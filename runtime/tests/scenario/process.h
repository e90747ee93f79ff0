/* SPDX-License-Identifier: MIT */
/*
 * Other processes of a scenario: the program itself, started anew as a role,
 * with a socket over which bytes and file descriptors pass. main() asks role()
 * first.
 */
#ifndef MC_TESTS_SCENARIO_PROCESS_H
#define MC_TESTS_SCENARIO_PROCESS_H

#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace scenario {

constexpr int SOCKET = 10; // of a process that was started

static inline void put(int socket, const void *data, size_t size)
{
    if (send(socket, data, size, MSG_NOSIGNAL) != (ssize_t)size) {
        perror("# send");
        exit(3);
    }
}

// False: the other side has ended.
static inline bool get(int socket, void *data, size_t size)
{
    return recv(socket, data, size, MSG_WAITALL) == (ssize_t)size;
}

static inline void put_fd(int socket, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {};
    iovec iov = {&byte, 1};
    msghdr message = {};

    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(int));
    if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1) {
        perror("# sendmsg");
        exit(3);
    }
}

static inline int get_fd(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))] = {};
    iovec iov = {&byte, 1};
    msghdr message = {};
    int fd = -1;

    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 &&
        CMSG_FIRSTHDR(&message)) {
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    }
    return fd;
}

class Process {
public:
    explicit Process(const char *role)
    {
        char name[] = "scenario", option[] = "--role";
        char *argv[] = {name, option, const_cast<char *>(role), nullptr};
        posix_spawn_file_actions_t actions;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
            perror("# socketpair");
            exit(3);
        }
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pair[1], SOCKET);
        fflush(stdout);
        if (posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv,
                        environ)) {
            perror("# posix_spawn");
            exit(3);
        }
        posix_spawn_file_actions_destroy(&actions);
        close(pair[1]);
        socket = pair[0];
    }
    ~Process()
    {
        if (socket >= 0) {
            end();
        }
    }
    // Its exit status; -1: a signal.
    int end()
    {
        int status;

        close(socket);
        socket = -1;
        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
            return -1;
        }
        return WEXITSTATUS(status);
    }
    void put(const void *data, size_t size)
    {
        scenario::put(socket, data, size);
    }
    bool get(void *data, size_t size)
    {
        return scenario::get(socket, data, size);
    }
    void put_fd(int fd) { scenario::put_fd(socket, fd); }
    int get_fd() { return scenario::get_fd(socket); }

private:
    pid_t pid;
    int socket;
};

// What this process is to be, or NULL: the first one.
static inline const char *role(int argc, char **argv)
{
    return argc == 3 && !strcmp(argv[1], "--role") ? argv[2] : nullptr;
}

// Runs a role; what fails in it is its exit status.
static inline int play(int (*body)())
{
    try {
        int status = body();
        return status ? status : mistakes != 0;
    } catch (Stop) {
        return 1;
    }
}

} // namespace scenario

#endif
