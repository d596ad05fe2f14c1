/* Plays Blooms by alpha-beta search, in C: cc -O2 -o blooms_bot blooms_bot.c
 *
 *     blooms_bot --positions 30000
 *     blooms_bot --time 200
 *
 * It searches deeper turn by turn (iterative deepening) until it has evaluated that many positions, or for so
 * many milliseconds. Positions are the default, so that the same seed plays the same game. There are more than a
 * thousand moves for a turn, so only those that look best one turn deep are followed. */

#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LINE = 4096,
    CELLS = 169,         /* on the largest board, of side 8 */
    ROWS = 15,
    NOWHERE = -1,
    SINGLES = 6,         /* the best cells of each shade, of which pairs are made */
    MOVES = 2 * CELLS + CELLS * CELLS,
    DEEPEST = 12,
    WON = 1000000,
    STONE = 100          /* the value of a captured stone */
};

static const int WIDTH[DEEPEST + 1] = {24, 14, 10, 8, 6, 6, 6, 6, 6, 6, 6, 6, 6};
/* How many moves are followed, by the distance from the position on the board. */

static const int ATTACKED[] = {100, 80, 60, 15};
/* The value for the seat to move of each stone of a bloom of the other side with 0, 1, 2, 3 liberties, which
 * are the empty cells beside it. With two stones in a turn, one with two liberties can be captured at once. */

static const int DEFENDED[] = {100, 50, 35, 10};
/* What it loses by each stone of its own bloom with so few liberties. */

static const int LIBERTY = 2;
/* The value of each liberty, of at most MOST_LIBERTIES of a bloom. */

enum { MOST_LIBERTIES = 8 };

/* ---- The board ---- */

static int side, cells, target;
static int near[CELLS][6], degree[CELLS];
static int row_of[CELLS], number_of[CELLS];     /* both from 0 */
static int cell_at[ROWS][ROWS];

typedef struct {
    uint8_t at[CELLS];   /* 0 for an empty cell, else the stone there */
    int captured[2];     /* by seat */
    int seat;            /* the seat to move, 0 or 1 */
    int turn;
} Position;

typedef struct {
    int light, dark;     /* cells, or NOWHERE */
    int value;
} Move;

static int stone(int seat, int shade) { return 1 + 2 * seat + shade; }
static int owner(int stone) { return (stone - 1) >> 1; }

static int row_length(int row)
{
    return 2 * side - 1 - abs(side - 1 - row);
}

static void make_board(void)
{
    cells = 0;
    for (int row = 0; row < 2 * side - 1; row++)
        for (int i = 0; i < row_length(row); i++) {
            row_of[cells] = row;
            number_of[cells] = i;
            cell_at[row][i] = cells++;
        }
    for (int cell = 0; cell < cells; cell++) {
        degree[cell] = 0;
        for (int other = 0; other < cells; other++) {
            /* In units of half a cell, neighbours are 2 apart in a row, and 1 apart in adjacent rows. */
            int down = row_of[other] - row_of[cell];
            int x = 2 * number_of[cell] + abs(side - 1 - row_of[cell]);
            int across = 2 * number_of[other] + abs(side - 1 - row_of[other]) - x;
            if ((down == 0 && abs(across) == 2) || (abs(down) == 1 && abs(across) == 1))
                near[cell][degree[cell]++] = other;
        }
    }
}

/* ---- Blooms ---- */

typedef struct {
    int size, liberties;
    int member[CELLS];
} Bloom;

static unsigned seen[CELLS], touched[CELLS];    /* the search, and the bloom, that saw a cell last */
static unsigned searches, blooms;

/* The bloom that a stone belongs to. Its stones are marked as seen. */
static void find_bloom(const Position *position, int start, Bloom *bloom)
{
    int colour = position->at[start];
    blooms++;
    bloom->size = 0;
    bloom->liberties = 0;
    bloom->member[bloom->size++] = start;
    seen[start] = searches;
    for (int i = 0; i < bloom->size; i++) {
        int cell = bloom->member[i];
        for (int k = 0; k < degree[cell]; k++) {
            int other = near[cell][k];
            if (position->at[other] == 0) {
                bloom->liberties += touched[other] != blooms;
                touched[other] = blooms;
            } else if (position->at[other] == colour && seen[other] != searches) {
                seen[other] = searches;
                bloom->member[bloom->size++] = other;
            }
        }
    }
}

/* Places the stones of a move, captures every fenced bloom of the other side, and gives the turn to it. */
static void play(Position *position, const Move *move)
{
    static Bloom bloom;
    static int fenced[CELLS];
    int count = 0, mover = position->seat;
    if (move->light != NOWHERE)
        position->at[move->light] = (uint8_t)stone(mover, 0);
    if (move->dark != NOWHERE)
        position->at[move->dark] = (uint8_t)stone(mover, 1);
    searches++;
    for (int cell = 0; cell < cells; cell++)
        if (position->at[cell] && owner(position->at[cell]) != mover && seen[cell] != searches) {
            find_bloom(position, cell, &bloom);
            if (bloom.liberties == 0)
                for (int i = 0; i < bloom.size; i++)
                    fenced[count++] = bloom.member[i];
        }
    for (int i = 0; i < count; i++)
        position->at[fenced[i]] = 0;
    position->captured[mover] += count;
    position->seat = 1 - mover;
    position->turn++;
}

/* The value of a position for the seat to move. */
static int evaluate(const Position *position)
{
    static Bloom bloom;
    int mover = position->seat;
    if (position->captured[1 - mover] >= target)
        return -WON;
    int value = STONE * (position->captured[mover] - position->captured[1 - mover]);
    searches++;
    for (int cell = 0; cell < cells; cell++) {
        if (!position->at[cell] || seen[cell] == searches)
            continue;
        find_bloom(position, cell, &bloom);
        int room = bloom.liberties < MOST_LIBERTIES ? bloom.liberties : MOST_LIBERTIES;
        if (owner(position->at[cell]) == mover)
            value += LIBERTY * room - (room < 4 ? DEFENDED[room] * bloom.size : 0);
        else
            value -= LIBERTY * room - (room < 4 ? ATTACKED[room] * bloom.size : 0);
    }
    return value;
}

/* ---- The search ---- */

static long positions, limit;   /* evaluated for this move, and at most */
static double deadline_ms;
static int out_of_time;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* What a move is worth for its mover, one turn deep. */
static int worth(const Position *position, const Move *move)
{
    Position after = *position;
    play(&after, move);
    if (++positions % 256 == 0 && now_ms() > deadline_ms)
        out_of_time = 1;
    return -evaluate(&after);
}

static int better(const void *one, const void *other)
{
    const Move *a = one, *b = other;
    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    /* A sort may arrange equals as it likes: so that it is the same everywhere, none are equal. */
    if (a->light != b->light)
        return a->light < b->light ? 1 : -1;
    return a->dark < b->dark ? 1 : -1;
}

/* The single stones, and the pairs of the best of them; the best moves first. */
static int list_moves(const Position *position, Move *moves)
{
    Move single[2][CELLS];
    int count = 0, empty = 0;
    for (int cell = 0; cell < cells; cell++)
        if (!position->at[cell]) {
            single[0][empty] = (Move){cell, NOWHERE, 0};
            single[1][empty] = (Move){NOWHERE, cell, 0};
            for (int shade = 0; shade < 2; shade++) {
                single[shade][empty].value = worth(position, &single[shade][empty]);
                moves[count++] = single[shade][empty];
            }
            empty++;
        }
    if (position->turn > 0) {
        qsort(single[0], (size_t)empty, sizeof(Move), better);
        qsort(single[1], (size_t)empty, sizeof(Move), better);
        int best = empty < SINGLES ? empty : SINGLES;
        for (int i = 0; i < best; i++)
            for (int k = 0; k < best; k++) {
                Move pair = {single[0][i].light, single[1][k].dark, 0};
                if (pair.light == pair.dark)
                    continue;
                pair.value = worth(position, &pair);
                moves[count++] = pair;
            }
    }
    qsort(moves, (size_t)count, sizeof(Move), better);
    return count;
}

static int spent(void)
{
    return positions > limit || out_of_time;
}

/* The value for the seat to move when both sides look so many turns ahead, if it is between low and high. */
static int search(const Position *position, int depth, int distance, int low, int high)
{
    if (position->captured[1 - position->seat] >= target)
        return -WON + distance;
    static Move lists[DEEPEST + 1][MOVES];
    Move *moves = lists[distance];
    int count = list_moves(position, moves);
    if (depth == 1)
        return moves[0].value >= WON ? WON - distance - 1 : moves[0].value;
    int best = -WON;
    for (int i = 0; i < count && i < WIDTH[distance]; i++) {
        Position after = *position;
        play(&after, &moves[i]);
        int value = -search(&after, depth - 1, distance + 1, -high, -low);
        if (value > best)
            best = value;
        if (best > low)
            low = best;
        if (low >= high || spent())
            break;
    }
    return best;
}

static uint64_t state;                  /* of the random generator */

/* SplitMix64: small, and the same everywhere. */
static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The best move, found by searching one turn deeper again and again. */
static Move choose(const Position *position)
{
    static Move moves[MOVES];
    positions = 0;
    out_of_time = 0;
    int count = list_moves(position, moves), depth = 1;
    if (position->turn == 0)            /* all first moves are much the same */
        return moves[next_random() % (uint64_t)count];
    if (count > WIDTH[0])
        count = WIDTH[0];
    /* Moves that look the same are tried in a random order. */
    for (int i = count - 1; i > 0; i--) {
        int k = (int)(next_random() % (uint64_t)(i + 1));
        if (moves[i].value == moves[k].value) {
            Move other = moves[i];
            moves[i] = moves[k];
            moves[k] = other;
        }
    }
    while (depth < DEEPEST && count > 1 && !spent() && abs(moves[0].value) < WON - DEEPEST) {
        depth++;
        int low = -2 * WON, done = 0;
        for (; done < count; done++) {
            Position after = *position;
            play(&after, &moves[done]);
            int value = -search(&after, depth - 1, 1, -2 * WON, -low);
            if (spent())
                break;                  /* this value is not to be relied on */
            moves[done].value = value;
            if (value <= low)
                continue;
            low = value;
            /* The best move so far comes first: it is searched first at the next depth too. */
            Move best = moves[done];
            memmove(moves + 1, moves, (size_t)done * sizeof(Move));
            moves[0] = best;
        }
    }
    printf("info depth %d score %d nodes %ld captured %d : %d\n", depth, moves[0].value, positions,
           position->captured[position->seat], position->captured[1 - position->seat]);
    return moves[0];
}

/* ---- The protocol ---- */

static Position position;
static long most_positions = 30000;
static double most_ms = 0;              /* 0: positions are counted instead */

/* "news move 1 L:D4 D:D6"; what is captured then follows from the rules. */
static void hear(char *news)
{
    Move move = {NOWHERE, NOWHERE, 0};
    if (strcmp(strtok(news, " "), "move") != 0)
        return;
    strtok(NULL, " ");                  /* the seat */
    for (char *part; (part = strtok(NULL, " ")) != NULL;) {
        int cell = cell_at[part[2] - 'A'][atoi(part + 3) - 1];
        *(part[0] == 'L' ? &move.light : &move.dark) = cell;
    }
    play(&position, &move);
}

static void answer(unsigned question, double allowance_ms, double reserve_ms)
{
    /* However many positions it may search: never longer than half of what it has for a move. */
    double ms = (allowance_ms + reserve_ms / 20) / 2;
    limit = most_positions;
    if (most_ms > 0) {
        limit = 1L << 40;
        ms = ms < most_ms ? ms : most_ms;
    }
    deadline_ms = now_ms() + ms;
    Move move = choose(&position);
    printf("move %u", question);
    if (move.light != NOWHERE)
        printf(" L:%c%d", 'A' + row_of[move.light], number_of[move.light] + 1);
    if (move.dark != NOWHERE)
        printf(" D:%c%d", 'A' + row_of[move.dark], number_of[move.dark] + 1);
    putchar('\n');
}

int main(int count, char **words)
{
    char line[LINE + 1];
    for (int i = 1; i < count; i += 2) {
        if (i + 1 < count && strcmp(words[i], "--positions") == 0)
            most_positions = atol(words[i + 1]);
        else if (i + 1 < count && strcmp(words[i], "--time") == 0)
            most_ms = atof(words[i + 1]);
        else {
            fprintf(stderr, "usage: blooms_bot [--positions N | --time MILLISECONDS]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);   /* every line leaves at once, on a pipe too */
    while (fgets(line, sizeof line, stdin)) {
        unsigned question;
        unsigned long long seed;
        double allowance_ms, reserve_ms;
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "hello ", 6) == 0)
            puts("hello 1");
        else if (sscanf(line, "option size %d", &side) == 1 || sscanf(line, "option target %d", &target) == 1)
            continue;
        else if (sscanf(line, "seed %llu", &seed) == 1)
            state = seed;
        else if (strcmp(line, "prepare") == 0) {
            make_board();
            memset(&position, 0, sizeof position);
            puts("ready");
        } else if (strncmp(line, "news ", 5) == 0)
            hear(line + 5);
        else if (sscanf(line, "ask %u %lf %lf", &question, &allowance_ms, &reserve_ms) == 3)
            answer(question, allowance_ms, reserve_ms);
        else if (strcmp(line, "quit") == 0)
            break;
    }
    return 0;
}
