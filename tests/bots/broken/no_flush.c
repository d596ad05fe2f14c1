/* Never flushes what `printf` writes to a pipe. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4200];
    int number;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "hello ", 6))
            printf("hello 1\n");
        else if (!strncmp(line, "prepare", 7))
            printf("ready\n");
        else if (sscanf(line, "ask %d", &number) == 1)
            printf("move %d L:A1\n", number);
        else if (!strncmp(line, "quit", 4))
            break;
    }
    return 0;
}
