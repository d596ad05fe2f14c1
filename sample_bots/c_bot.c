/* Plays Blooms at random, in C: cc -O2 -o c_bot c_bot.c */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 4096, ROWS = 15, LONGEST = 15 };

static char taken[ROWS][LONGEST + 1];   /* by row, and number from 1 */
static int side;
static int turns;                       /* so far in this game, of both seats */
static uint64_t state;                  /* of the random generator */

/* SplitMix64: small, and the same everywhere. */
static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int row_length(int row)
{
    int off = side - 1 - row;
    return 2 * side - 1 - (off < 0 ? -off : off);
}

/* "news move 1 L:D4 D:D6" takes cells, "news captured 2 E5 E6" frees them. */
static void hear(char *news)
{
    char *kind = strtok(news, " ");
    int captured = strcmp(kind, "captured") == 0;
    strtok(NULL, " ");                  /* the seat */
    turns += !captured;
    for (char *part; (part = strtok(NULL, " ")) != NULL;) {
        char row;
        int number;
        if (sscanf(captured ? part : part + 2, "%c%d", &row, &number) == 2)
            taken[row - 'A'][number] = !captured;
    }
}

/* Takes a random empty cell; writes its name, or returns 0 if there is none. */
static int take_cell(char *name)
{
    int empty = 0;
    for (int row = 0; row < 2 * side - 1; row++)
        for (int i = 1; i <= row_length(row); i++)
            empty += !taken[row][i];
    if (empty == 0)
        return 0;
    int chosen = (int)(next_random() % (uint64_t)empty);
    for (int row = 0; row < 2 * side - 1; row++)
        for (int i = 1; i <= row_length(row); i++)
            if (!taken[row][i] && chosen-- == 0) {
                taken[row][i] = 1;
                sprintf(name, "%c%d", 'A' + row, i);
                return 1;
            }
    return 0;
}

static void answer(unsigned question)
{
    char light[8], dark[8];
    char before[sizeof taken];
    memcpy(before, taken, sizeof taken);
    take_cell(light);
    if (turns > 0 && take_cell(dark))
        printf("move %u L:%s D:%s\n", question, light, dark);
    else
        printf("move %u L:%s\n", question, light);
    memcpy(taken, before, sizeof taken); /* the news will tell what we did */
}

int main(void)
{
    char line[LINE + 1];
    setvbuf(stdout, NULL, _IOLBF, 0);   /* every line leaves at once, on a pipe too */
    while (fgets(line, sizeof line, stdin)) {
        unsigned question;
        unsigned long long seed;
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "hello ", 6) == 0)
            puts("hello 1");
        else if (strncmp(line, "game ", 5) == 0) {
            memset(taken, 0, sizeof taken);
            turns = 0;
        } else if (sscanf(line, "option size %d", &side) == 1)
            continue;
        else if (sscanf(line, "seed %llu", &seed) == 1)
            state = seed;
        else if (strcmp(line, "prepare") == 0)
            puts("ready");
        else if (strncmp(line, "news ", 5) == 0)
            hear(line + 5);
        else if (sscanf(line, "ask %u", &question) == 1)
            answer(question);
        else if (strcmp(line, "quit") == 0)
            break;
    }
    return 0;
}
