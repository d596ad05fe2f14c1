/* The least that a referee can do, to compare with: two bots on pipes, `poll` with a deadline, one write
 * and one read a move, and no rules at all. It relays moves for a fixed number of turns a game.
 *
 *     minimal_referee BOT GAMES TURNS    prints the nanoseconds per move
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bot {
    int in, out;
    unsigned asked;
    char news[8192]; /* what it has not been told yet */
};

static void start(struct bot *bot, char *command)
{
    int to[2], from[2];
    if (pipe(to) || pipe(from))
        exit(1);
    if (fork() == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int i = 3; i < 64; i++)
            close(i);
        execl(command, command, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    bot->in = to[1];
    bot->out = from[0];
}

static void tell(struct bot *bot, const char *text)
{
    size_t size = strlen(text);
    if (write(bot->in, text, size) != (ssize_t)size)
        exit(1);
}

/* A line of the bot's, or the end of everything. */
static void hear(struct bot *bot, char *line, size_t size)
{
    size_t have = 0;
    struct timespec now;
    do {
        struct pollfd fd = {bot->out, POLLIN, 0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (poll(&fd, 1, 10000) != 1)
            exit(1);
        ssize_t count = read(bot->out, line + have, size - have - 1);
        if (count <= 0)
            exit(1);
        have += (size_t)count;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (line[have - 1] != '\n');
    line[have - 1] = '\0';
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int games = atoi(argv[2]), turns = atoi(argv[3]);
    static struct bot bots[2];
    char line[4096], text[16384];
    for (int seat = 0; seat < 2; seat++) {
        start(&bots[seat], argv[1]);
        tell(&bots[seat], "hello 1 list\n");
        hear(&bots[seat], line, sizeof line);
    }
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int game = 0; game < games; game++) {
        for (int seat = 0; seat < 2; seat++) {
            sprintf(text, "game blooms 1 %d 2\noption size 5\noption target 100\nclock 10000 0 0 0\n"
                    "seed %d\nprepare\n", seat + 1, game * 2 + seat);
            tell(&bots[seat], text);
            bots[seat].asked = 0;
            bots[seat].news[0] = '\0';
        }
        for (int seat = 0; seat < 2; seat++)
            hear(&bots[seat], line, sizeof line);
        for (int turn = 0; turn < turns; turn++) {
            struct bot *bot = &bots[turn % 2];
            sprintf(text, "%sask %u 10000 0\n", bot->news, ++bot->asked);
            tell(bot, text);
            bot->news[0] = '\0';
            hear(bot, line, sizeof line);
            char *move = strchr(strchr(line, ' ') + 1, ' ') + 1;
            for (int seat = 0; seat < 2; seat++)
                sprintf(bots[seat].news + strlen(bots[seat].news), "news move %d %s\n", turn % 2 + 1, move);
        }
        for (int seat = 0; seat < 2; seat++)
            tell(&bots[seat], "end 1,1 rules that is enough\n");
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    long long ns = (ended.tv_sec - began.tv_sec) * 1000000000LL + (ended.tv_nsec - began.tv_nsec);
    printf("%lld\n", ns / ((long long)games * turns));
    for (int seat = 0; seat < 2; seat++)
        tell(&bots[seat], "quit\n");
    return 0;
}
