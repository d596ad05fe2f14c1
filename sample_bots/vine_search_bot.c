/* Plays Beautiful Vine Tree, in C: cc -O2 -o vine_search_bot vine_search_bot.c
 *
 *     vine_search_bot --playouts 1500
 *     vine_search_bot --time 200
 *
 * Who makes the last move loses, so what counts is whether an even or an odd number of moves remains. It tries to
 * solve the position by complete search; where that takes too long, it plays the move after which random games,
 * whose ends are solved, go best. The number of positions and playouts is fixed, so that the same seed plays the
 * same game; with --time there are as many playouts as there is time for, in milliseconds. */

#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LINE = 4096,
    WIDTH = 15,              /* of the largest board, of size 13, with a wall around it */
    CELLS = WIDTH * WIDTH,
    LONGEST = 13,            /* steps of a vine: no straight segment is longer than the board */
    FLOWERS = CELLS,
    VINES = 1500,            /* a flower with more vines than this is not searched, */
    MOVES = 3000,            /* nor a position with more moves than this */
    DEPTH = 40,              /* the most moves that the search looks ahead */
    CANDIDATES = 32,         /* moves that are compared by playouts */
    TRIES = 6,               /* random walks from a flower before its vines are listed */
    LAST_TRIES = 40,         /* random walks from a flower that has too many vines to list */
    TABLE = 1 << 20
};

static const long POSITIONS = 60000;    /* searched to solve a position, at most */
static const long ENDING = 150;          /* searched to solve a position in a playout, at most */
static const int FEW_ROOM = 22;         /* a playout tries that when no more cells than this are empty */

/* ---- The board ---- */

enum { EMPTY, WALL, VINE, FLOWER };

static const char LETTERS[] = "DLRU";   /* in alphabetical order, as are moves */
static const int STEP[4] = {WIDTH, -1, 1, -WIDTH};

static int size, bend_counts;
static uint64_t zobrist[CELLS][4];      /* random numbers, whose sum identifies a position */

typedef struct {
    uint8_t kind[CELLS];
    uint8_t joins[CELLS];    /* bits: the sides by which a vine leaves a cell, in the order of LETTERS */
    uint8_t growing[FLOWERS];/* the flowers that are not known to be dead */
    int count;               /* of them */
    int room;                /* the number of empty cells */
    uint64_t key;
} Position;

typedef struct {
    uint64_t cells[4];       /* as bits */
    uint8_t sides[LONGEST];  /* the steps, as places in LETTERS */
} Vine;

typedef struct {
    uint8_t flower, length;
    uint8_t one[LONGEST], other[LONGEST];
} Move;

static int cell_at(int row, int column) { return (row + 1) * WIDTH + column + 1; }

static void begin(Position *position)
{
    memset(position, 0, sizeof *position);
    memset(position->kind, WALL, sizeof position->kind);
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            position->kind[cell_at(row, column)] = EMPTY;
    int centre = cell_at(size / 2, size / 2);
    position->kind[centre] = FLOWER;
    position->growing[position->count++] = (uint8_t)centre;
    position->room = size * size - 1;
}

static void grow_vine(Position *position, int cell, const uint8_t *sides, int length)
{
    for (int i = 0; i < length; i++) {
        int side = sides[i];
        position->joins[cell] |= (uint8_t)(1 << side);
        position->key += zobrist[cell][side];
        cell += STEP[side];
        position->joins[cell] |= (uint8_t)(1 << (3 - side));    /* the opposite side */
        position->kind[cell] = VINE;
    }
    position->kind[cell] = FLOWER;
    position->growing[position->count++] = (uint8_t)cell;
    position->room -= length;
}

static void play(Position *position, const Move *move)
{
    grow_vine(position, move->flower, move->one, move->length);
    grow_vine(position, move->flower, move->other, move->length);
}

/* The number of steps of vines that grow out of a flower: its longest straight segment of vine, in cells. */
static int length_of(const Position *position, int flower)
{
    int longest = 0;
    for (int side = 0; side < 4; side++) {
        int cell = flower, steps = 0;
        while (position->joins[cell] >> side & 1) {
            cell += STEP[side];
            steps++;
        }
        if (steps && !bend_counts && position->kind[cell] != FLOWER)
            steps--;                    /* the vine turns in that cell */
        if (steps > longest)
            longest = steps;
    }
    return longest + 1;
}

/* ---- Moves ---- */

/* Lists the vines of a length out of a cell that fit when there is no other; returns their number, more than VINES
 * if there are too many. */
static int list_vines(Position *position, int cell, int length, int depth, Vine *current, Vine *vines, int count)
{
    if (depth == length) {
        if (count < VINES)
            vines[count] = *current;
        return count + 1;
    }
    for (int side = 0; side < 4 && count <= VINES; side++) {
        int next = cell + STEP[side];
        if (position->kind[next] != EMPTY)
            continue;
        position->kind[next] = VINE;
        current->cells[next / 64] |= 1ULL << next % 64;
        current->sides[depth] = (uint8_t)side;
        count = list_vines(position, next, length, depth + 1, current, vines, count);
        current->cells[next / 64] &= ~(1ULL << next % 64);
        position->kind[next] = EMPTY;
    }
    return count;
}

static int apart(const Vine *one, const Vine *other)
{
    return !((one->cells[0] & other->cells[0]) | (one->cells[1] & other->cells[1]) |
             (one->cells[2] & other->cells[2]) | (one->cells[3] & other->cells[3]));
}

static Move move_of(int flower, int length, const uint8_t *one, const uint8_t *other)
{
    Move move = {(uint8_t)flower, (uint8_t)length, {0}, {0}};
    memcpy(move.one, one, (size_t)length);
    memcpy(move.other, other, (size_t)length);
    return move;
}

/* Lists the moves of a flower behind those that there are; returns the number of all, more than MOVES if there are
 * too many. */
static int list_moves_of(Position *position, int flower, Move *moves, int count)
{
    static Vine vines[VINES];
    Vine current = {{0}, {0}};
    int length = length_of(position, flower);
    int found = list_vines(position, flower, length, 0, &current, vines, 0);
    if (found > VINES)
        return MOVES + 1;
    for (int i = 0; i < found; i++)
        for (int k = i + 1; k < found; k++)
            if (apart(&vines[i], &vines[k])) {
                if (count == MOVES)
                    return MOVES + 1;
                moves[count++] = move_of(flower, length, vines[i].sides, vines[k].sides);
            }
    return count;
}

/* Lists all moves, and forgets flowers without any; returns their number, more than MOVES if there are too many. */
static int list_moves(Position *position, Move *moves)
{
    int count = 0;
    for (int i = position->count - 1; i >= 0; i--) {
        int before = count;
        count = list_moves_of(position, position->growing[i], moves, count);
        if (count > MOVES)
            return count;
        if (count == before)
            position->growing[i] = position->growing[--position->count];
    }
    return count;
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

static int below(int most) { return (int)(next_random() % (uint64_t)most); }

/* Two random walks out of a flower; false where one gets stuck. Leaves the position as it is. */
static int walk(Position *position, int flower, int length, Move *move)
{
    uint8_t trail[2 * LONGEST];
    int count = 0, stuck = 0;
    move->flower = (uint8_t)flower;
    move->length = (uint8_t)length;
    for (int vine = 0; vine < 2 && !stuck; vine++) {
        int cell = flower;
        for (int i = 0; i < length; i++) {
            int sides[4], ways = 0;
            for (int side = 0; side < 4; side++)
                if (position->kind[cell + STEP[side]] == EMPTY)
                    sides[ways++] = side;
            if ((stuck = ways == 0))
                break;
            int side = sides[below(ways)];
            (vine ? move->other : move->one)[i] = (uint8_t)side;
            cell += STEP[side];
            position->kind[cell] = VINE;
            trail[count++] = (uint8_t)cell;
        }
    }
    while (count)
        position->kind[trail[--count]] = EMPTY;
    return !stuck;
}

/* A random move; false where none is found, which nearly always means that there is none. */
static int random_move(Position *position, Move *move)
{
    static Move moves[MOVES];
    while (position->count) {
        int i = below(position->count), flower = position->growing[i];
        int length = length_of(position, flower);
        for (int k = 0; k < TRIES; k++)
            if (walk(position, flower, length, move))
                return 1;
        int count = list_moves_of(position, flower, moves, 0);
        if (count > MOVES) {
            for (int k = 0; k < LAST_TRIES; k++)
                if (walk(position, flower, length, move))
                    return 1;
        } else if (count) {
            *move = moves[below(count)];
            return 1;
        }
        position->growing[i] = position->growing[--position->count];
    }
    return 0;
}

/* ---- The search ---- */

enum { UNKNOWN, LOSES, WINS };          /* the seat to move */

static struct { uint64_t key; int result; } known[TABLE];
static long budget;                     /* positions that may still be searched */
static double deadline_ms;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Who wins with the best play. A seat that cannot move has won. */
static int solve(Position *position, int depth)
{
    static Move lists[DEPTH][MOVES];
    size_t place = position->key % TABLE;
    if (known[place].key == position->key && known[place].result)
        return known[place].result;
    if (depth == DEPTH || budget <= 0 || (budget % 64 == 0 && now_ms() > deadline_ms)) {
        budget = 0;
        return UNKNOWN;
    }
    budget--;
    Move *moves = lists[depth];
    int count = list_moves(position, moves);
    if (count > MOVES)
        return UNKNOWN;
    int result = count ? LOSES : WINS;
    for (int i = 0; i < count; i++) {
        Position after = *position;
        play(&after, &moves[i]);
        int reply = solve(&after, depth + 1);
        if (reply == LOSES) {
            result = WINS;
            break;
        }
        if (reply == UNKNOWN) {
            if (budget <= 0)
                return UNKNOWN;
            result = UNKNOWN;
        }
    }
    if (result) {
        known[place].key = position->key;
        known[place].result = result;
    }
    return result;
}

/* Whether the seat to move wins when both move at random until the end can be solved. */
static int playout(const Position *start)
{
    Position position = *start;
    Move move;
    for (int mine = 1;; mine = !mine) {
        if (position.room <= FEW_ROOM) {
            budget = ENDING;
            int result = solve(&position, 0);
            if (result)
                return (result == WINS) == mine;
        }
        if (!random_move(&position, &move))
            return mine;
        play(&position, &move);
    }
}

typedef struct {
    Move move;
    int lost;                           /* playouts */
} Candidate;

static int better(const void *one, const void *other)
{
    const Candidate *a = one, *b = other;
    if (a->lost != b->lost)
        return a->lost - b->lost;
    return memcmp(&a->move, &b->move, sizeof a->move);     /* so that a sort is the same everywhere */
}

/* The move after which the other side wins the fewest playouts. In each round every move gets as many, and the
 * better half goes on to the next (sequential halving). */
static Move try_out(const Position *position, Candidate *candidates, int count, int playouts, double ms)
{
    int rounds = 1, all = 0, each = 0;
    while (1 << rounds < count)
        rounds++;
    double began = now_ms();
    for (int round = 1; count > 1; round++) {
        int games = playouts / rounds / count + 1, done = 0;
        do {
            for (int i = 0; i < count; i++) {
                Position after = *position;
                play(&after, &candidates[i].move);
                candidates[i].lost += playout(&after);
                all++;
            }
            done++;
            each++;
        } while ((ms > 0 ? now_ms() < began + ms * round / rounds : done < games) && now_ms() < deadline_ms);
        qsort(candidates, (size_t)count, sizeof *candidates, better);
        count /= 2;
    }
    if (each)
        printf("info value %.2f of %d playouts\n", 1 - (double)candidates[0].lost / each, all);
    return candidates[0].move;
}

/* Finds a move; false where it finds none. */
static int choose(const Position *now, int playouts, double ms, Move *chosen)
{
    static Move moves[MOVES];
    static Candidate candidates[CANDIDATES];
    Position position = *now;
    int count = list_moves(&position, moves), candidate = 0;
    if (count <= MOVES) {
        for (int i = count - 1; i > 0; i--) {
            int k = below(i + 1);
            Move other = moves[i];
            moves[i] = moves[k];
            moves[k] = other;
        }
        long left = POSITIONS;
        int losing = 0;
        for (int i = 0; i < count; i++) {
            Position after = position;
            play(&after, &moves[i]);
            budget = left;
            int reply = solve(&after, 0);
            left = budget;
            if (reply == LOSES) {
                printf("info value 1 nodes %ld\n", POSITIONS - left);
                *chosen = moves[i];
                return 1;
            }
            losing += reply == WINS;
            if (reply == UNKNOWN && candidate < CANDIDATES)
                candidates[candidate++] = (Candidate){moves[i], 0};
        }
        printf("info %d of %d moves lose, %ld positions\n", losing, count, POSITIONS - left);
        if (candidate == 0 && count) {
            *chosen = moves[0];
            return 1;
        }
    } else {
        position = *now;                /* it may have forgotten flowers that only seem to be dead */
        for (int i = 0; i < CANDIDATES; i++) {
            memset(&candidates[candidate], 0, sizeof *candidates);
            candidate += random_move(&position, &candidates[candidate].move);
        }
    }
    if (candidate == 0)
        return 0;
    *chosen = try_out(&position, candidates, candidate, playouts, ms);
    return 1;
}

/* ---- The protocol ---- */

static Position position;

/* "news move 1 E5 LLU UUR" */
static void hear(char *news)
{
    Move move;
    strtok(news, " ");
    strtok(NULL, " ");                  /* the seat */
    char *name = strtok(NULL, " "), *one = strtok(NULL, " "), *other = strtok(NULL, " ");
    move.flower = (uint8_t)cell_at(name[0] - 'A', atoi(name + 1) - 1);
    move.length = (uint8_t)strlen(one);
    for (int i = 0; i < move.length; i++) {
        move.one[i] = (uint8_t)(strchr(LETTERS, one[i]) - LETTERS);
        move.other[i] = (uint8_t)(strchr(LETTERS, other[i]) - LETTERS);
    }
    play(&position, &move);
}

static void write_move(unsigned question, const Move *move)
{
    printf("move %u %c%d ", question, 'A' + move->flower / WIDTH - 1, move->flower % WIDTH);
    for (int i = 0; i < move->length; i++)
        putchar(LETTERS[move->one[i]]);
    putchar(' ');
    for (int i = 0; i < move->length; i++)
        putchar(LETTERS[move->other[i]]);
    putchar('\n');
}

int main(int count, char **words)
{
    char line[LINE + 1], bend[16];
    unsigned asked = 0;
    int playouts = 1500;
    double most_ms = 0;                 /* 0: playouts are counted instead */
    for (int i = 1; i < count; i += 2) {
        if (i + 1 < count && strcmp(words[i], "--playouts") == 0)
            playouts = atoi(words[i + 1]);
        else if (i + 1 < count && strcmp(words[i], "--time") == 0)
            most_ms = atof(words[i + 1]);
        else {
            fprintf(stderr, "usage: vine_search_bot [--playouts N | --time MILLISECONDS]\n");
            return 2;
        }
    }
    for (int cell = 0; cell < CELLS; cell++)
        for (int side = 0; side < 4; side++)
            zobrist[cell][side] = next_random();
    setvbuf(stdout, NULL, _IOLBF, 0);   /* every line leaves at once, on a pipe too */
    while (fgets(line, sizeof line, stdin)) {
        unsigned question;
        unsigned long long seed;
        double allowance_ms, reserve_ms;
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "hello ", 6) == 0)
            puts("hello 1");
        else if (sscanf(line, "option size %d", &size) == 1)
            continue;
        else if (sscanf(line, "option bend %15s", bend) == 1)
            bend_counts = strcmp(bend, "included") == 0;
        else if (sscanf(line, "seed %llu", &seed) == 1)
            state = seed;
        else if (strcmp(line, "prepare") == 0) {
            begin(&position);
            memset(known, 0, sizeof known);
            puts("ready");
        } else if (strncmp(line, "news ", 5) == 0)
            hear(line + 5);
        else if (sscanf(line, "ask %u %lf %lf", &question, &allowance_ms, &reserve_ms) == 3) {
            Move move;
            /* However many playouts it may make: never longer than half of what it has for a move. */
            deadline_ms = now_ms() + (allowance_ms + reserve_ms / 20) / 2;
            if (choose(&position, playouts, most_ms, &move))
                write_move(question, &move);
            else
                printf("list %u 1\n", question);    /* the answer is a line "choice MOVE" */
            asked = question;
        } else if (strncmp(line, "choice ", 7) == 0)
            printf("move %u %s\n", asked, line + 7);
        else if (strcmp(line, "quit") == 0)
            break;
    }
    return 0;
}
