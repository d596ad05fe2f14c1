/* The least that a referee can do, to compare with: two bots on pipes, `poll` with a deadline, one write
 * and one read a move, and no rules at all. It relays moves. How long each game is, and what each turn of it
 * captures, stands in a script, so that the games are those of another referee.
 *
 *     minimal_referee BOT SCRIPT    prints the nanoseconds per move
 *
 * For each game the script has a line with the seeds of both bots and the number of turns, and for each turn
 * a line with the news of what it captured, which may be empty.
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
    FILE *script;
    if (argc != 3 || (script = fopen(argv[2], "r")) == NULL)
        return 2;
    static struct bot bots[2];
    char line[4096], captured[4096], text[16384];
    unsigned long long seeds[2];
    long long moves = 0;
    int turns;
    for (int seat = 0; seat < 2; seat++) {
        start(&bots[seat], argv[1]);
        tell(&bots[seat], "hello 1 list\n");
        hear(&bots[seat], line, sizeof line);
    }
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    while (fgets(line, sizeof line, script) &&
           sscanf(line, "%llu %llu %d", &seeds[0], &seeds[1], &turns) == 3) {
        for (int seat = 0; seat < 2; seat++) {
            sprintf(text, "game blooms 1 %d 2\noption size 5\noption target 100\nclock 10000 0 0 0\n"
                    "seed %llu\nprepare\n", seat + 1, seeds[seat]);
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
            if (fgets(captured, sizeof captured, script) == NULL)
                return 2;
            for (int seat = 0; seat < 2; seat++)
                sprintf(bots[seat].news + strlen(bots[seat].news), "news move %d %s\n%s%s", turn % 2 + 1, move,
                        captured[0] == '\n' ? "" : "news ", captured[0] == '\n' ? "" : captured);
        }
        for (int seat = 0; seat < 2; seat++)
            tell(&bots[seat], "end 1,1 rules that is enough\n");
        moves += turns;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    long long ns = (ended.tv_sec - began.tv_sec) * 1000000000LL + (ended.tv_nsec - began.tv_nsec);
    printf("%lld\n", moves ? ns / moves : 0);
    for (int seat = 0; seat < 2; seat++)
        tell(&bots[seat], "quit\n");
    return 0;
}
