/*
 * The least that can be done with a program's output: read it and forget it. What crannog's throughput is a share of.
 *
 *     bare_reader pipe|terminal TEXT     runs TEXT by /bin/sh, reads all it prints, prints {"bytes": N, "seconds": S}
 *     bare_reader produce N              prints N bytes of lines as fast as one process can
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024 };

static char chunk[CHUNK_BYTES];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int open_terminal(int *peer)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
        fail("opening a terminal");
    *peer = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    if (*peer < 0 || ioctl(*peer, TIOCSWINSZ, &size) < 0)
        fail("opening the terminal's other side");
    return terminal;
}

static void run(int output, int is_terminal, const char *text)
{
    setsid();
    if (is_terminal && (ioctl(output, TIOCSCTTY, 0) < 0 || dup2(output, 0) < 0))
        fail("taking the terminal");
    if (dup2(output, 1) < 0 || dup2(output, 2) < 0)
        fail("dup2");
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    fail("exec");
}

static int measure(int is_terminal, const char *text)
{
    double began = now();
    int ends[2];
    if (is_terminal)
        ends[0] = open_terminal(&ends[1]);
    else if (pipe2(ends, O_CLOEXEC) < 0)
        fail("pipe");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        run(ends[1], is_terminal, text);
    close(ends[1]);
    unsigned long long bytes = 0;
    for (;;) {
        ssize_t count = read(ends[0], chunk, sizeof chunk);
        if (count > 0)
            bytes += (unsigned long long)count;
        else if (count == 0 || errno == EIO)
            break;
        else if (errno != EINTR)
            fail("read");
    }
    int status;
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    printf("{\"bytes\": %llu, \"seconds\": %.6f}\n", bytes, now() - began);
    return 0;
}

static int produce(unsigned long long bytes)
{
    static const char line[] = "the quick brown fox jumps over the lazy dog, again and again and again\n";
    for (size_t at = 0; at < sizeof chunk; at++)
        chunk[at] = line[at % (sizeof line - 1)];
    while (bytes > 0) {
        ssize_t count = write(1, chunk, bytes < sizeof chunk ? (size_t)bytes : sizeof chunk);
        if (count < 0)
            fail("write");
        bytes -= (unsigned long long)count;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "pipe") == 0)
        return measure(0, argv[2]);
    if (argc == 3 && strcmp(argv[1], "terminal") == 0)
        return measure(1, argv[2]);
    if (argc == 3 && strcmp(argv[1], "produce") == 0)
        return produce(strtoull(argv[2], NULL, 10));
    fprintf(stderr, "usage: bare_reader pipe|terminal TEXT | produce BYTES\n");
    return 2;
}
