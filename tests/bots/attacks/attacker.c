/* An attacker in C: `attacker ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder. Linux only. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char *keys[100], *values[100];
static int count;

static const char *target(const char *key) {
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i], key)) return values[i];
    return "";
}

static pid_t process(const char *key) { return atoi(target(key)); }

static int read_targets(void) {
    static char text[65536];
    FILE *file = fopen("targets", "r");
    if (!file) return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = 0;
    if (!strstr(text, "END=")) return 0;
    for (char *row = strtok(text, "\n"); row && count < 100; row = strtok(NULL, "\n")) {
        char *equals = strchr(row, '=');
        if (!equals) continue;
        *equals = 0;
        keys[count] = row;
        values[count++] = equals + 1;
    }
    return 1;
}

/* Each returns 0 or more where it was done. */

static int memory_call(void) {
    char found[64] = {0};
    struct iovec to = {found, 31}, from = {(void *)strtoull(target("SECRET_ADDRESS"), NULL, 16), 31};
    ssize_t got = process_vm_readv(process("VICTIM"), &to, 1, &from, 1, 0);
    if (got > 0) fprintf(stderr, "ATTACK read %s\n", found);
    return got > 0 ? 0 : -1;
}

static int trace(pid_t pid, uintptr_t address) {
    if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0) return -1;
    waitpid(pid, NULL, __WALL);
    char found[40] = {0};
    for (int i = 0; address && i < 4; i++) {
        long word = ptrace(PTRACE_PEEKDATA, pid, address + 8 * i, 0);
        memcpy(found + 8 * i, &word, 8);
    }
    found[31] = 0;
    if (address) fprintf(stderr, "ATTACK read %s\n", found);
    return (int)ptrace(PTRACE_DETACH, pid, 0, 0);
}

static int ptrace_victim(void) { return trace(process("VICTIM"), strtoull(target("SECRET_ADDRESS"), NULL, 16)); }
static int ptrace_worker(void) { return trace(process("WORKER"), 0); }

static int source_by_handle(void) {
    struct { struct file_handle head; unsigned char bytes[128]; } handle;
    const char *hex = target("SOURCE_HANDLE");
    handle.head.handle_type = atoi(target("SOURCE_HANDLE_TYPE"));
    handle.head.handle_bytes = strlen(hex) / 2;
    for (unsigned i = 0; i < handle.head.handle_bytes && i < 128; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return -1;
        handle.head.f_handle[i] = byte;
    }
    int here = open(".", O_RDONLY | O_DIRECTORY);
    int file = open_by_handle_at(here, &handle.head, O_RDONLY);
    static char text[65536];
    ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (got <= 0) return -1;
    char *secret = strstr(text, "SOURCE-SECRET-");
    if (secret) fprintf(stderr, "ATTACK read %.30s\n", secret);
    return 0;
}

static int pidfd_of(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }
static int taken(int pidfd, int number) { return (int)syscall(SYS_pidfd_getfd, pidfd, number, 0); }

static int move_taken(void) {
    int out = taken(pidfd_of(process("VICTIM")), 1);
    return out < 0 ? -1 : (int)write(out, "resign 2\n", 9);
}

/* Says something to the referee over all sockets of the victim's warden. */
static int warden_says(const char *words) {
    int warden = pidfd_of(process("VICTIM_WARDEN")), sent = -1;
    for (int number = 3; warden >= 0 && number < 32; number++) {
        struct stat what;
        int copy = taken(warden, number);
        if (copy < 0 || fstat(copy, &what) || !S_ISSOCK(what.st_mode)) continue;
        if (send(copy, words, strlen(words), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) sent = 0;
    }
    return sent;
}
static int warden_exited(void) { return warden_says("exited 0\n"); }
static int warden_exceeded(void) { return warden_says("exceeded all\n"); }

static int io_priority(void) { return (int)syscall(SYS_ioprio_set, 1, process("VICTIM"), 3 << 13); }

/* Has the kernel send a signal to the victim when a pipe of its own can be read. */
static int kill_by_pipe(void) {
    int ends[2];
    if (pipe(ends) || fcntl(ends[0], F_SETOWN, process("VICTIM")) < 0) return -1;
    if (fcntl(ends[0], F_SETSIG, SIGKILL) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0) return -1;
    return (int)write(ends[1], "x", 1);
}

static int watch_results(void) {
    int watch = inotify_init1(0);
    return inotify_add_watch(watch, target("RESULTS"), IN_ALL_EVENTS);
}

static int first_inherited;

static void find_inherited(void) {
    for (int number = 3; number < 4096 && !first_inherited; number++)
        if (fcntl(number, F_GETFD) >= 0) first_inherited = number;
}

static int inherited(void) {
    errno = ENOENT;
    if (!first_inherited) return -1;
    fprintf(stderr, "ATTACK read descriptor %d\n", first_inherited);
    return 0;
}

static int key_ring(void) {
    const char *token = target("TOKEN");
    return (int)syscall(SYS_add_key, "user", token, token, strlen(token), -4 /* of the user */);
}

static int message_queue(void) {
    char name[80];
    snprintf(name, sizeof name, "/%s", target("TOKEN"));
    return mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
}

static int set_user_program(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("./set_user", "set_user", "user", NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    errno = EPERM;
    return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 0 : -1;
}

static int no_such_mount(void) { /* ENODEV where mounting is allowed */
    return mount("none", ".", "nosuchfs", 0, NULL) && errno == ENODEV ? 0 : -1;
}
static int namespaces(void) {
    pid_t child = fork();
    int status;
    if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) ? errno : 0);
    waitpid(child, &status, 0);
    errno = WEXITSTATUS(status);
    return errno ? -1 : 0;
}
static int join_namespace(void) {
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/ns/net", process("VICTIM"));
    int space = open(path, O_RDONLY);
    return space < 0 ? -1 : setns(space, 0);
}
static int join_by_descriptor(void) { return setns(pidfd_of(process("REFEREE")), CLONE_NEWNET); }
static int change_root(void) {
    pid_t child = fork();
    int status;
    if (child == 0) _exit(chroot("/") ? errno : 0);
    waitpid(child, &status, 0);
    errno = WEXITSTATUS(status);
    return errno ? -1 : 0;
}
static int escape_root(void) { /* the old way out of a changed root */
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (mkdir("in", 0700) && errno != EEXIST) { if (chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") || (mkdir("in", 0700) && errno != EEXIST)) _exit(errno); }
        if (chroot("in")) _exit(errno);
        for (int i = 0; i < 20; i++) if (chdir("..")) _exit(errno);
        if (chroot(".")) _exit(errno);
        _exit(access(target("VICTIM_SOURCE"), R_OK) ? errno : 0);
    }
    waitpid(child, &status, 0);
    errno = WEXITSTATUS(status);
    return errno ? -1 : 0;
}
static int kernel_program(void) { /* refused before anything is looked at, or as bad */
    return syscall(SYS_kexec_load, 0, 1L << 20, NULL, 0) && errno == EINVAL ? 0 : -1;
}
static int restart(void) { return syscall(SYS_reboot, 1, 2, 3, NULL) && errno == EINVAL ? 0 : -1; }
static int module(void) { return syscall(SYS_delete_module, "nosuchmodule", 0) && errno == ENOENT ? 0 : -1; }
static int swap(void) { return syscall(SYS_swapon, "/no/such/file", 0) && errno == ENOENT ? 0 : -1; }
static int accounting(void) { return syscall(SYS_acct, "/no/such/file") && errno == ENOENT ? 0 : -1; }
static int host_name(void) { /* the same again */
    char name[65] = {0};
    return gethostname(name, 64) || sethostname(name, strlen(name)) ? -1 : 0;
}
static int clock_time(void) { /* nothing is changed, but leave is asked for */
    struct timex same = {.modes = ADJ_TICK};
    struct timex now = {0};
    if (adjtimex(&now) < 0) return -1;
    same.tick = now.tick;
    return adjtimex(&same) < 0 ? -1 : 0;
}
static int kernel_code(void) {
    union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map);
}
static int performance(void) {
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event};
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    return (int)syscall(SYS_perf_event_open, &event, process("VICTIM"), -1, -1, 0);
}
static int page_faults(void) { return (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* of user mode */); }
static int rings(void) {
    struct io_uring_params how = {0};
    return (int)syscall(SYS_io_uring_setup, 4, &how);
}
static int machine_socket(void) { return socket(40 /* AF_VSOCK */, SOCK_STREAM, 0); }
static int raw_socket(void) { return socket(AF_INET, SOCK_RAW, 1 /* ICMP */); }
static int packet_socket(void) { return socket(17 /* AF_PACKET */, SOCK_RAW, 0x0300); }
static int interfaces(void) { /* others than its own loopback */
    struct if_nameindex *all = if_nameindex();
    errno = all ? ENOENT : errno;
    for (struct if_nameindex *one = all; one && one->if_index; one++)
        if (strcmp(one->if_name, "lo")) return 0;
    return -1;
}
static int exotic_socket(void) { return socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0); }

/* A system call by its number in the table of 32-bit programs, whose arguments have 32 bits. */
static long call_of_32_bits(long number, long first, long second, long third) {
#ifdef __x86_64__
    pid_t child = fork(); /* a kernel without such calls ends it */
    int status;
    if (child == 0) {
        long got = number;
        __asm__ volatile("int $0x80" : "+a"(got) : "b"(first), "c"(second), "d"(third), "S"(0L) : "memory");
        _exit((int)got < 0 ? -(int)got : 0);
    }
    waitpid(child, &status, 0);
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
#else
    errno = ENOSYS;
#endif
    return errno ? -1 : 0;
}
static int calls_of_32_bits(void) { return (int)call_of_32_bits(20 /* getpid */, 0, 0, 0); }
static int limits_of_32_bits(void) { /* no processor time, lowest priority, one core */
    pid_t victim = process("VICTIM");
    long *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED) return -1;
    low[0] = 1;
    long one_core = call_of_32_bits(241, victim, sizeof *low, (long)low);
    long renice = call_of_32_bits(97, 0, victim, 19);
    low[0] = low[1] = 0;
    long limited = call_of_32_bits(340, victim, RLIMIT_CPU, (long)low);
    return one_core && renice && limited ? -1 : 0;
}
static int results_times(void) { /* 1970 */
    char path[4096];
    struct timespec times[2] = {{0}, {0}};
    snprintf(path, sizeof path, "%s/games.jsonl", target("RESULTS"));
    return utimensat(AT_FDCWD, path, times, 0);
}
static int secret_memory(void) { return (int)syscall(447 /* memfd_secret */, 0); }
static int other_personality(void) { return personality(0x400000 /* all that is read can be executed */); }
static int folder_news(void) { return fcntl(open(".", O_RDONLY), F_NOTIFY, DN_CREATE); }
static int signal_owner(void) { return fcntl(0, F_SETOWN, process("VICTIM")); }
static int lease(void) { return fcntl(open("/proc/self/exe", O_RDONLY), F_SETLEASE, F_RDLCK); }
static int datagram_pair(void) { /* the listener is of another type: that it says so shows that it was reached */
    int ends[2];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", target("SOCKET"));
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return -1;
    return sendto(ends[0], "x", 1, 0, (void *)&to, sizeof to) >= 0 || errno == EPROTOTYPE ? 0 : -1;
}
static int segments_counted(void) {
    struct shmid_ds found;
    return shmctl(0, SHM_INFO, &found);
}
static int disk_flush(void) { return (int)syscall(SYS_sync); }
static int asynchronous(void) {
    unsigned long context = 0;
    return (int)syscall(SYS_io_setup, 1, &context);
}
static int file_flags(void) {
    int flags = 0, own = open("/proc/self/exe", O_RDONLY);
    return ioctl(own, FS_IOC_GETFLAGS, &flags) < 0 ? -1 : ioctl(own, FS_IOC_SETFLAGS, &flags);
}

static const struct { const char *name; int (*run)(void); } attacks[] = {
    {"results-times", results_times}, {"secret-memory", secret_memory}, {"personality", other_personality},
    {"folder-news", folder_news}, {"signal-owner", signal_owner}, {"lease", lease},
    {"datagram-pair", datagram_pair}, {"segments-counted", segments_counted}, {"disk-flush", disk_flush},
    {"asynchronous", asynchronous}, {"file-flags", file_flags},
    {"memory-call", memory_call}, {"ptrace", ptrace_victim}, {"ptrace-worker", ptrace_worker},
    {"source-handle", source_by_handle}, {"move-taken", move_taken}, {"warden-exited", warden_exited},
    {"warden-exceeded", warden_exceeded}, {"io-priority", io_priority}, {"kill-by-pipe", kill_by_pipe}, {"results-watched", watch_results}, {"inherited", inherited},
    {"key-ring", key_ring}, {"message-queue", message_queue}, {"set-user", set_user_program},
    {"mount", no_such_mount}, {"namespaces", namespaces}, {"join-namespace", join_namespace},
    {"join-by-descriptor", join_by_descriptor}, {"change-root", change_root}, {"escape-root", escape_root},
    {"kernel-program", kernel_program}, {"restart", restart}, {"module", module}, {"swap", swap},
    {"accounting", accounting}, {"host-name", host_name}, {"clock", clock_time}, {"kernel-code", kernel_code},
    {"performance", performance}, {"page-faults", page_faults}, {"rings", rings},
    {"machine-socket", machine_socket}, {"raw-socket", raw_socket}, {"packet-socket", packet_socket},
    {"interfaces", interfaces}, {"exotic-socket", exotic_socket},
    {"calls-of-32-bits", calls_of_32_bits}, {"limits-of-32-bits", limits_of_32_bits},
};

static void attack(const char *name) {
    fprintf(stderr, "ATTACK tries %s\n", name);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        if (!strcmp(attacks[i].name, name)) {
            if (attacks[i].run() >= 0) fprintf(stderr, "ATTACK did\n");
            else fprintf(stderr, "ATTACK failed %s\n", strerror(errno));
            return;
        }
    fprintf(stderr, "no such attack\n");
}

int main(int argc, char **argv) {
    if (argc == 2) return geteuid() == 0 && getuid() != 0 ? 42 : 43; /* has it the rights of its owner? */
    if (argc != 3) return 2;
    find_inherited();
    static char row[8192];
    int game = atoi(argv[2]), games = 0, asks = 0, tried = 0, asked = 0;
    setlinebuf(stdout);
    while (fgets(row, sizeof row, stdin)) {
        row[strcspn(row, "\n")] = 0;
        if (!strncmp(row, "hello", 5)) puts("hello 1");
        else if (!strncmp(row, "game ", 5)) { games++; asks = 0; }
        else if (!strncmp(row, "prepare", 7)) {
            while (games == game && !read_targets()) usleep(50000);
            puts("ready");
        } else if (!strncmp(row, "ask ", 4)) {
            if (games == game && !tried) {
                tried = 1;
                for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) attack(name);
            }
           
            asked = atoi(row + 4);
            if (++asks == 4) printf("resign %d\n", asked);
            else printf("list %d 1\n", asked);
        } else if (!strncmp(row, "choice ", 7)) printf("move %d %s\n", asked, row + 7);
        else if (!strncmp(row, "quit", 4)) break;
    }
    return 0;
}
