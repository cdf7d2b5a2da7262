/*
 * Stands in for macOS's ps(1): its options, its key words, its dates. It reads the process table under PROC, which
 * bench/mac-way.mjs sets, and takes 4 ms, as on a Mac.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST 16
#define LEAST_MS 3

enum column { PID, PPID, PGID, USER_ID, STAT, LSTART, UCOMM, COMM, COMMAND };

static const struct {
  const char *word, *head;
  enum column column;
  int width; /* negative: left-aligned */
} known[] = {
  {"pid", "PID", PID, 5}, {"ppid", "PPID", PPID, 5}, {"pgid", "PGID", PGID, 5}, {"uid", "UID", USER_ID, 5},
  {"stat", "STAT", STAT, -4}, {"state", "STAT", STAT, -4}, {"lstart", "STARTED", LSTART, -28},
  {"ucomm", "UCOMM", UCOMM, -16}, {"comm", "COMM", COMM, -16}, {"command", "COMMAND", COMMAND, -16},
  {"args", "ARGS", COMMAND, -16},
};

struct process {
  long pid, parent, group, session, terminal, foreground, nice, uid;
  unsigned long long start;
  char state, name[64];
};

static struct { int known; const char *head; } columns[MOST];
static int column_count;
static long width = 79; /* applies to pipes, too; -ww removes the limit */

static ssize_t read_file(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY);
  ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
  if (file >= 0) close(file);
  if (length >= 0) text[length] = 0;
  return length;
}

static void add_columns(char *list) {
  for (char *word; (word = strsep(&list, " ,\t\n")) != NULL;) {
    char *head = strchr(word, '=');
    size_t at = 0;
    if (*word == 0) continue;
    if (head != NULL) *head++ = 0;
    while (at < sizeof known / sizeof *known && strcmp(known[at].word, word) != 0) at++;
    if (at == sizeof known / sizeof *known || column_count == MOST) {
      fprintf(stderr, "ps: %s: keyword not found\n", word);
      exit(1);
    }
    columns[column_count].known = (int)at;
    columns[column_count++].head = head != NULL ? head : known[at].head;
  }
}

static int read_process(long pid, struct process *process) {
  char path[256], text[2048];
  struct stat owner;
  snprintf(path, sizeof path, PROC "/%ld", pid);
  if (stat(path, &owner) != 0) return 0;
  strcat(path, "/stat");
  if (read_file(path, text, sizeof text) <= 0) return 0;
  char *name = strchr(text, '('), *end = strrchr(text, ')');
  if (name == NULL || end == NULL) return 0;
  *end = 0;
  snprintf(process->name, sizeof process->name, "%.60s", name + 1);
  process->pid = pid;
  process->uid = (long)owner.st_uid;
  return sscanf(end + 2, "%c %ld %ld %ld %ld %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %*s %llu", &process->state,
                &process->parent, &process->group, &process->session, &process->terminal, &process->foreground,
                &process->nice, &process->start) == 8;
}

/* The command line of a process, or its name in parentheses if it has no command line. */
static void command_of(const struct process *process, int first_only, char *text, size_t size) {
  char path[256];
  snprintf(path, sizeof path, PROC "/%ld/cmdline", process->pid);
  ssize_t length = read_file(path, text, size);
  if (length <= 0) {
    snprintf(text, size, "(%s)", process->name);
    return;
  }
  for (ssize_t at = 0; !first_only && at < length - 1; at++) {
    if (text[at] == 0) text[at] = ' ';
  }
}

static long long boot_time(void) {
  static char text[1 << 20];
  const char *at = read_file(PROC "/stat", text, sizeof text) > 0 ? strstr(text, "\nbtime ") : NULL;
  return at == NULL ? 0 : atoll(at + 7);
}

static void print_process(const struct process *process, long long boot) {
  static char line[1 << 17], text[1 << 16];
  size_t used = 0;
  for (int n = 0; n < column_count; n++) {
    enum column column = known[columns[n].known].column;
    long number[] = {process->pid, process->parent, process->group, process->uid};
    time_t start = (time_t)(boot + (long long)process->start / sysconf(_SC_CLK_TCK));
    switch (column) {
      case STAT:
        /* Linux's D and t are U and T on a Mac. */
        snprintf(text, sizeof text, "%c%s%s%s", process->state == 'D' ? 'U' : process->state == 't' ? 'T' : process->state,
                 process->nice > 0 ? "N" : process->nice < 0 ? "<" : "", process->session == process->pid ? "s" : "",
                 process->terminal != 0 && process->foreground == process->group ? "+" : "");
        break;
      case LSTART: strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", localtime(&start)); break;
      case UCOMM: snprintf(text, sizeof text, "%s", process->name); break;
      case COMM: command_of(process, 1, text, sizeof text); break;
      case COMMAND: command_of(process, 0, text, sizeof text); break;
      default: snprintf(text, sizeof text, "%ld", number[column]);
    }
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%*s", n == 0 ? "" : " ",
                             known[columns[n].known].width, text);
  }
  printf("%.*s\n", width < 0 ? (int)used : (int)width, line);
}

static void print_heads(void) {
  int is_any = 0;
  for (int n = 0; n < column_count; n++) is_any |= *columns[n].head != 0;
  for (int n = 0; is_any && n < column_count; n++) {
    printf("%s%*s%s", n == 0 ? "" : " ", known[columns[n].known].width, columns[n].head, n == column_count - 1 ? "\n" : "");
  }
}

static int by_number(const void *one, const void *other) {
  long a = *(const long *)one, b = *(const long *)other;
  return (a > b) - (a < b);
}

static long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(int count, char **words) {
  static long pids[1 << 16];
  long began = now_us(), own = -1;
  size_t pid_count = 0, found = 0;
  int is_all = 0, is_named = 0;
  for (int option; (option = getopt(count, words, "AaexwSo:p:")) != -1;) {
    switch (option) {
      case 'A':
      case 'e':
      case 'x': is_all = 1; break;
      case 'a':
      case 'S': break;
      case 'w': width = width == 79 ? 131 : -1; break;
      case 'o': add_columns(optarg); break;
      case 'p':
        is_named = 1;
        for (char *word; (word = strsep(&optarg, " ,")) != NULL;) {
          if (*word != 0 && pid_count < sizeof pids / sizeof *pids) pids[pid_count++] = atol(word);
        }
        break;
      default:
        fprintf(stderr, "usage: ps [-Aaexw] [-o fmt] [-p pid[,pid]] (all that bench/mac-ps.c imitates)\n");
        return 1;
    }
  }
  if (optind < count) {
    fprintf(stderr, "ps: illegal argument: %s\n", words[optind]);
    return 1;
  }
  if (column_count == 0) add_columns(strdup("pid,stat,command"));
  if (!is_named) {
    DIR *folder = opendir(PROC);
    if (folder == NULL) return 1;
    if (!is_all) own = (long)getuid();
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
      long pid = atol(entry->d_name);
      if (pid > 0 && pid_count < sizeof pids / sizeof *pids) pids[pid_count++] = pid;
    }
    closedir(folder);
    qsort(pids, pid_count, sizeof *pids, by_number);
  }
  long long boot = boot_time();
  print_heads();
  for (size_t n = 0; n < pid_count; n++) {
    struct process process;
    if (!read_process(pids[n], &process)) continue;
    if (own >= 0 && (process.uid != own || process.terminal == 0)) continue;
    print_process(&process, boot);
    found++;
  }
  fflush(stdout);
  while (now_us() - began < LEAST_MS * 1000) {
  }
  return found == 0;
}
