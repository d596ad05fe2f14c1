/* Starts the program of a bot: what its new process does before the program is executed. `starter.py` calls
 * `start`; `execution.py` does the same in Python, for those who have no compiler.
 *
 * Until then the process shares the memory of its parent, which waits for it, as after vfork(2). So nothing is
 * copied, errors are simply stored, and only the kernel is called, with all signals blocked.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STREAMS = 3, NAMESPACES = 2, INSIDE = 2, CAPABILITIES = 64, DAC_OVERRIDE = 1, READ_SEARCH = 2, SIGNAL_BYTES = 8 };
enum { CLONE3 = 435, ADD_RULE = 445, RESTRICT_SELF = 446, WAIT_KILLABLE = 1 << 5 };
enum place { OTHER, FOLDER, PROGRAM, FILTER };

struct limit { long number; unsigned long values[2]; };
struct rule { const char *path; unsigned long rights; };
struct path_beneath { unsigned long rights; int place; } __attribute__((packed));

/* What is to be done. Numbers are 0 or -1 where there is nothing to do, and pointers 0. */
struct start {
    long group, streams[STREAMS], is_terminal, limit_count;
    const struct limit *limits;
    const char *folder;
    long user, user_group, group_count;
    const unsigned *groups;
    long namespaces[NAMESPACES], drops_capabilities, ruleset, rule_count;
    const struct rule *rules;
    unsigned long on_files; /* the rights that a file can have, and not only a folder */
    const void *filter, *asking;
    long report;
    /* For a program that confines the bot: the bot's streams and a filter are put on these descriptors. */
    long inside[INSIDE], nothing, filter_inside, filters[2];
    char *const *places, *const *argv, *const *env;
    long error, place; /* the result: why it failed, and at what */
};

static _Noreturn void fail(struct start *start, long error, enum place place)
{
    start->error = error;
    start->place = place;
    _exit(127);
}

static void must(struct start *start, long result)
{
    if (result < 0)
        fail(start, errno, OTHER);
}

static void die_with_warden(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* guard: killed-warden-compiled */
}

static void drop_capabilities(struct start *start)
{
    for (long number = 0; number < CAPABILITIES; number++)
        if (number != READ_SEARCH && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
            break; /* the kernel has no more, or this is not root */
    if (syscall(SYS_geteuid) != 0)
        return;
    unsigned header[] = {0x20080522, 0}, kept = 1 << READ_SEARCH, sets[6] = {kept, kept};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    must(start, syscall(SYS_capset, header, sets));
}

static void restrict_files(struct start *start)
{
    for (long i = 0; i < start->rule_count; i++) {
        long place = syscall(SYS_openat, AT_FDCWD, start->rules[i].path, O_PATH | O_CLOEXEC);
        struct path_beneath rule = {start->rules[i].rights, (int)place};
        if (syscall(ADD_RULE, start->ruleset, 1, &rule, 0) < 0) {
            rule.rights &= start->on_files;
            syscall(ADD_RULE, start->ruleset, 1, &rule, 0);
        }
        syscall(SYS_close, place);
    }
    must(start, syscall(RESTRICT_SELF, start->ruleset, 0)); /* guard: landlock-compiled */
}

/* Sends a descriptor to the parent: only memory is shared. */
static void hand_over(struct start *start, long descriptor)
{
    union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(int))]; } room = {
        {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec data = {"L", 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    *(int *)CMSG_DATA(&room.head) = (int)descriptor;
    must(start, syscall(SYS_sendmsg, start->report, &message, 0));
}

/* Returns whether the filter asks about the calls. */
static int filter_calls(struct start *start)
{
    if (start->asking) {
        must(start, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
        long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE;
        long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, start->asking);
        if (listener >= 0) {
            hand_over(start, listener);
            return 1;
        }
    }
    if (start->filter && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, start->filter, 0, 0) < 0)
        fail(start, errno, FILTER);
    return 0;
}

static void put(struct start *start, long descriptor, long number)
{
    must(start, descriptor == number ? fcntl((int)number, F_SETFD, 0) : syscall(SYS_dup3, descriptor, number, 0));
}

static _Noreturn __attribute__((noinline)) void child(struct start *start, const unsigned long *signals)
{
    must(start, syscall(SYS_setsid));
    for (int i = 0; i < STREAMS; i++)
        put(start, start->streams[i], i);
    if (start->is_terminal)
        must(start, ioctl(0, TIOCSCTTY, 0));
    die_with_warden();
    for (long i = 0; i < start->limit_count; i++)
        must(start, syscall(SYS_prlimit64, 0, start->limits[i].number, start->limits[i].values, 0)); /* guard: limits-compiled */
    if (syscall(SYS_chdir, start->folder) < 0)
        fail(start, errno, FOLDER);
    if (start->user >= 0) {
        must(start, syscall(SYS_setgroups, start->group_count, start->groups));
        must(start, syscall(SYS_setresgid, start->user_group, start->user_group, start->user_group));
        must(start, syscall(SYS_setresuid, start->user, start->user, start->user)); /* guard: user-compiled */
    }
    die_with_warden(); /* a change of user has reset it */
    for (int i = 0; i < NAMESPACES && start->namespaces[i] >= 0; i++)
        must(start, syscall(SYS_setns, start->namespaces[i], 0));
    if (start->drops_capabilities) {
        drop_capabilities(start); /* guard: capabilities-compiled */
        must(start, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); /* guard: no-new-privileges-compiled */
    }
    if (start->ruleset >= 0)
        restrict_files(start);
    if (start->nothing >= 0)
        prctl(PR_CAPBSET_DROP, DAC_OVERRIDE, 0, 0, 0); /* see `keep_from_proc` in `confinement.py` */
    int asks = 0;
    asks = filter_calls(start); /* guard: system-calls-compiled */
    if (start->nothing >= 0) {
        for (int i = 0; i < INSIDE; i++) {
            put(start, i, start->inside[i]);
            put(start, start->nothing, i);
        }
        put(start, start->filters[asks], start->filter_inside);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, signals, 0, SIGNAL_BYTES);
    long error = ENOENT;
    for (char *const *place = start->places; *place; place++) {
        syscall(SYS_execve, *place, start->argv, start->env);
        /* A file that exists but cannot be executed says more than one that does not exist. */
        if (error == ENOENT && errno != ENOTDIR)
            error = errno;
    }
    fail(start, error, PROGRAM);
}

/* Returns the process, or a negative number where the kernel cannot do this. */
long start(struct start *start)
{
    struct clone_args arguments = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};
    if (start->group >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (unsigned long)start->group;
    }
    unsigned long all = ~0UL, before;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, SIGNAL_BYTES);
    /* Not by a function of the C library: from that the child would return, and use its stack anew. */
#if defined(__x86_64__) && defined(__LP64__)
    long pid;
    __asm__ volatile("syscall" : "=a"(pid) : "a"(CLONE3), "D"(&arguments), "S"(sizeof arguments) : "rcx", "r11", "memory");
#elif defined(__aarch64__) && defined(__LP64__)
    register long number __asm__("x8") = CLONE3, pid __asm__("x0") = (long)&arguments, size __asm__("x1") = sizeof arguments;
    __asm__ volatile("svc 0" : "+r"(pid) : "r"(number), "r"(size) : "memory");
#else
#error "how this machine calls its kernel is not known here"
#endif
    if (pid == 0)
        child(start, &before);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, SIGNAL_BYTES);
    return pid;
}
