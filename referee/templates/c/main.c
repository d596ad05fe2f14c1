/* @NAME@: a bot for the referee, in C. Your own idea goes into `choose`; the rest is the protocol. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 4096,                    /* bytes of the longest line of the protocol */
    MOST = 200                      /* legal moves to ask for; if there are more, a random sample (up to 2000) */
};

struct lines {
    char **line;
    size_t count, room;
};

static struct {
    char slug[64];                  /* which game it is */
    int seat, seats;                /* this bot's seat, from 1 to seats */
    struct lines options;           /* as "size 4" */
    struct lines news;              /* all news of this game, oldest first */
    struct lines legal;             /* legal moves, as the referee listed them */
    uint64_t random;                /* state of the random numbers, from the referee's seed */
    unsigned question;              /* the number of the open question */
    long allowance_ms, reserve_ms;  /* what remains of the time for this move, and for the whole game */
} game;

/* A random number below n: SplitMix64. The same seed gives the same game again. */
static uint64_t random_below(uint64_t n)
{
    uint64_t z = (game.random += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % n;
}

/* Prepares for a game; its clock does not run yet. The same process plays several games: forget the last
 * one here. */
static void start(void)
{
}

/* Follows a line of news, such as "move 1 L:D4 D:D6" in Blooms: update your position here. The news
 * is explained by @DOCS@. It includes the bot's own moves, and the first question may come in
 * the middle of a game, so rely on the news alone. */
static void hear(const char *news)
{
    (void)news;                     /* for example: sscanf(news, "move %d %s", &seat, stone) */
}

/* The move to make. Your idea: take the best of these moves instead. Printing to stderr does no harm,
 * and the referee shows it if the game is lost; printf("info value 0.62 depth 4\n") has your chance to win
 * drawn in replays. */
static const char *choose(void)
{
    return game.legal.line[random_below(game.legal.count)];
}

static void add(struct lines *lines, const char *text)
{
    if (lines->count == lines->room) {
        lines->room = 2 * lines->room + 16;
        lines->line = realloc(lines->line, lines->room * sizeof *lines->line);
    }
    char *copy = malloc(strlen(text) + 1);
    if (!lines->line || !copy)
        abort();
    lines->line[lines->count++] = strcpy(copy, text);
}

static void clear(struct lines *lines)
{
    while (lines->count > 0)
        free(lines->line[--lines->count]);
}

/* Ends the first word of a text and returns the rest. */
static char *cut(char *text)
{
    text += strcspn(text, " ");
    if (*text)
        *text++ = '\0';
    return text;
}

int main(void)
{
    char line[LINE + 1];
    setvbuf(stdout, NULL, _IOLBF, 0); /* every line leaves at once, on a pipe too */
    while (fgets(line, sizeof line, stdin)) {
        unsigned count;
        line[strcspn(line, "\r\n")] = '\0';
        char *rest = cut(line);
        if (strcmp(line, "hello") == 0) {
            puts("hello 1");
        } else if (strcmp(line, "game") == 0) {
            clear(&game.options);
            clear(&game.news);
            sscanf(rest, "%63s %*s %d %d", game.slug, &game.seat, &game.seats);
        } else if (strcmp(line, "option") == 0) {
            add(&game.options, rest);
        } else if (strcmp(line, "seed") == 0) {
            game.random = strtoull(rest, NULL, 10);
        } else if (strcmp(line, "prepare") == 0) {
            start();
            puts("ready");
        } else if (strcmp(line, "news") == 0) {
            add(&game.news, rest);
            hear(rest);
        } else if (strcmp(line, "rejected") == 0) { /* the same question follows, with the next number */
            fprintf(stderr, "rejected: %s\n", rest);
        } else if (strcmp(line, "ask") == 0) {
            sscanf(rest, "%u %ld %ld", &game.question, &game.allowance_ms, &game.reserve_ms);
            printf("list %u %d\n", game.question, MOST);
        } else if (strcmp(line, "legal") == 0 && sscanf(rest, "%*u %*s %u", &count) == 1) {
            clear(&game.legal);
            while (game.legal.count < count) { /* as many lines "choice MOVE" */
                if (!fgets(line, sizeof line, stdin))
                    return 0;
                line[strcspn(line, "\r\n")] = '\0';
                add(&game.legal, cut(line));
            }
            printf("move %u %s\n", game.question, choose());
        } else if (strcmp(line, "quit") == 0) {
            break;
        }                           /* unknown words are ignored */
    }
    return 0;
}
