/* Follows a null pointer when it is asked. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4200];
    char *volatile best = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "hello ", 6))
            printf("hello 1\n");
        else if (!strncmp(line, "prepare", 7))
            printf("ready\n");
        else if (!strncmp(line, "ask ", 4)) {
            best[0] = 'L';
            printf("move 1 %s\n", best);
        } else if (!strncmp(line, "quit", 4))
            break;
    }
    return 0;
}
