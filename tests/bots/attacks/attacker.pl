# An attacker in Perl: `perl attacker.pl ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder.
use strict;
use warnings;
use Fcntl ':flock';
use Socket;

$| = 1;
my ($names, $game) = @ARGV;
my ($games, $asks, $tried, $asked, %t) = (0, 0, 0, 0);
my @held;

sub connected {
    my ($family, $type, $address) = @_;
    socket(my $socket, $family, $type, 0) or return 0;
    push @held, $socket;
    return connect($socket, $address) && defined(send($socket, "$t{TOKEN}\n", 0));
}

my %attacks = (
    'stop' => sub { kill 'STOP', $t{VICTIM} },
    'stop-worker' => sub { kill 'STOP', $t{WORKER} },
    'stop-referee' => sub { kill 'STOP', $t{REFEREE} },
    'stop-warden' => sub { kill 'STOP', $t{VICTIM_WARDEN} },
    'interrupt-referee' => sub { kill 'INT', $t{REFEREE} },
    'udp' => sub { connected(PF_INET, SOCK_DGRAM, pack_sockaddr_in($t{PORT}, INADDR_LOOPBACK)) },
    'abstract-socket' => sub { connected(PF_UNIX, SOCK_STREAM, pack('Sa*', PF_UNIX, "\0$t{TOKEN}")) },
    'flock' => sub {
        open(my $file, '<', '/usr/bin/env') or return 0;
        push @held, $file;
        for (1 .. 50) {  # who looks for locks holds one for a moment
            if (flock($file, LOCK_EX | LOCK_NB)) {
                select(undef, undef, undef, 0.5);  # the lock ends with this process: wait until it was seen
                return 1;
            }
            select(undef, undef, undef, 0.01);
        }
        return 0;
    },
    'sysv-memory' => sub {
        my $id = shmget($t{KEY}, 4096, 01000 | 0600);
        defined $id && shmwrite($id, $t{TOKEN}, 0, 64);
    },
    'sysv-messages' => sub {
        my $id = msgget($t{KEY}, 01000 | 0600);
        defined $id && msgsnd($id, pack('l! a*', 1, $t{TOKEN}), 0);
    },
);

sub targets {
    while (1) {
        if (open(my $file, '<', 'targets')) {
            my @lines = <$file>;
            if (@lines && $lines[-1] =~ /^END=/) {
                for (@lines) { chomp; my ($key, $value) = split /=/, $_, 2; $t{$key} = $value; }
                return;
            }
        }
        select undef, undef, undef, 0.05;
    }
}

while (my $line = <STDIN>) {
    my ($word, @rest) = split ' ', $line;
    if ($word eq 'hello') { print "hello 1\n" }
    elsif ($word eq 'game') { $games++; $asks = 0 }
    elsif ($word eq 'prepare') { targets() if $games == $game; print "ready\n" }
    elsif ($word eq 'ask') {
        if ($games == $game && !$tried) {
            $tried = 1;
            for my $name (split /,/, $names) {
                print STDERR "ATTACK tries $name\n";
                my $done = exists $attacks{$name} && $attacks{$name}->();
                print STDERR $done ? "ATTACK did\n" : "ATTACK failed $!\n";
            }
        }
        $asked = $rest[0];
        print ++$asks == 4 ? "resign $asked\n" : "list $asked 1\n";
    }
    elsif ($word eq 'choice') { print "move $asked @rest\n" }
    elsif ($word eq 'quit') { exit }
}
