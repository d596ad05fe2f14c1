/* Reads lines into a buffer that is too short for some of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char taken[16][16];

static void take(const char *part, int captured)
{
    const char *colon = strchr(part, ':');
    const char *cell = colon ? colon + 1 : part;
    taken[cell[0] - 'A'][atoi(cell + 1)] = !captured;
}

int main(void)
{
    char line[16], *word, *part;
    int side = 4, number;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (!(word = strtok(line, " \n")))
            continue;
        if (!strcmp(word, "hello"))
            printf("hello 1\n");
        else if (!strcmp(word, "game"))
            memset(taken, 0, sizeof taken);
        else if (!strcmp(word, "option") && !strcmp(strtok(NULL, " \n"), "size"))
            side = atoi(strtok(NULL, " \n"));
        else if (!strcmp(word, "prepare"))
            printf("ready\n");
        else if (!strcmp(word, "news")) {
            int captured = !strcmp(strtok(NULL, " \n"), "captured");
            strtok(NULL, " \n");
            while ((part = strtok(NULL, " \n")))
                take(part, captured);
        } else if (!strcmp(word, "ask")) {
            number = atoi(strtok(NULL, " \n"));
            int rows = 2 * side - 1, done = 0;
            for (int r = 0; r < rows && !done; r++)
                for (int i = 1; i <= rows - abs(side - 1 - r) && !done; i++)
                    if (!taken[r][i]) {
                        printf("move %d L:%c%d\n", number, 'A' + r, i);
                        done = 1;
                    }
        } else if (!strcmp(word, "quit"))
            break;
    }
    return 0;
}
