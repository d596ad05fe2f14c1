"""What goes wrong with the referee, its machine and its files, whatever the bots do."""

from __future__ import annotations

from tests.catalogue.row import Elsewhere, Rows, Why

OURS: Rows = {
    (113, "the referee is killed at any instant"): (
        Elsewhere("test_tournament.py::test_continuing_after_being_killed_and_stopped"),
        Elsewhere("test_tournament.py::test_nothing_lives_on_when_the_referee_is_killed"),
        Elsewhere(
            "test_crash_points.py::test_no_game_is_lost_doubled_or_another_one_wherever_the_referee_is_killed"
        ),
    ),
    (114, "the referee and what it starts bots by are killed"): (
        Elsewhere("test_catalogue.py::test_no_bot_lives_on_when_all_above_it_is_killed"),
    ),
    (115, "torn last line"): (
        Elsewhere("test_tournament.py::test_a_torn_last_line_is_played_again"),
        Elsewhere("test_records.py::test_a_torn_line"),
    ),
    (116, "damaged line"): (Elsewhere("test_tournament.py::test_a_damaged_line_is_not_built_upon"),),
    (117, "power cut"): (Why("it takes a machine to lose; a game counts when its line is on the disk"),),
    (118, "two referees in one folder"): (Elsewhere("test_tournament.py::test_two_referees_on_one_folder"),),
    (119, "the tournament file was changed"): (
        Elsewhere("test_tournament.py::test_anything_else_that_changed_is_named"),
        Elsewhere("test_tournament.py::test_bots_and_rounds_may_be_added"),
    ),
    (120, "a bot's program was changed"): (
        Elsewhere("test_tournament.py::test_a_changed_program_is_recorded_and_reported"),
    ),
    (121, "a game that ends the referee each time"): (
        Elsewhere("test_catalogue.py::test_a_game_that_kills_its_worker_each_time_holds_up_no_other"),
    ),
    (122, "no room for a result"): (
        Elsewhere("test_tournament.py::test_a_full_disk_stops_the_run_and_it_continues"),
        Elsewhere("test_cli.py::test_a_full_disk_is_its_own_exit_code"),
    ),
    (123, "a result cannot be synced"): (
        Elsewhere("test_tournament.py::test_a_full_disk_stops_the_run_and_it_continues"),
        Elsewhere("test_records.py::test_what_cannot_be_stored_is_an_error"),
    ),
    (124, "a folder that cannot be written to"): (
        Elsewhere("test_tournament.py::test_folders_that_will_not_do"),
        Elsewhere(
            "test_catalogue.py::test_a_folder_that_may_not_be_written_to_is_said_before_the_first_game"
        ),
    ),
    (125, "no descriptors or processes for a bot"): (
        Elsewhere("test_processes.py::test_a_lack_of_the_machine_s_is_no_fault_of_a_bot_s"),
        Elsewhere("test_catalogue.py::test_few_descriptors_are_enough_or_the_environment_s_lack"),
        Elsewhere("test_catalogue.py::test_a_user_who_may_start_no_more_processes_lacks_something"),
    ),
    (126, "one signal, two signals"): (
        Elsewhere("test_cli.py::test_the_first_signal_lets_the_game_finish"),
        Elsewhere("test_cli.py::test_the_second_signal_ends_it_at_once"),
        Elsewhere("test_cli.py::test_ctrl_c_in_a_terminal_does_not_reach_the_bots"),
    ),
    (127, "nobody reads what it prints"): (
        Elsewhere("test_cli.py::test_the_reader_of_the_output_may_close_it"),
        Elsewhere("test_tournament.py::test_exit_codes_do_not_depend_on_who_reads"),
    ),
    (128, "the terminal is closed"): (
        Elsewhere("test_cli.py::test_the_first_signal_lets_the_game_finish[signal.SIGHUP]"),
    ),
    (129, "the rules fail"): (
        Elsewhere("test_tournament.py::test_a_game_that_the_referee_failed_at_is_void_and_played_again"),
        Elsewhere("test_tournament.py::test_a_game_that_stays_void_ends_the_run_with_1"),
    ),
    (130, "a game without end"): (Elsewhere("test_games.py::test_every_game_keeps_to_what_games_have_to"),),
    (131, "the referee's memory grows"): (
        Why("it takes hours to see, and `python -m tests.tools.fault_soak` to measure"),
    ),
    (132, "its descriptors grow"): (Elsewhere("conftest.py::nothing_is_left"),),
    (133, "a part of it dies unseen"): (
        Elsewhere("test_tournament.py::test_a_worker_that_dies_costs_no_game"),
        Elsewhere("test_tournament.py::test_workers_that_die_in_the_midst_of_a_report_do_not_hang_the_run"),
    ),
    (134, "the clock of the record goes backwards"): (
        Elsewhere("test_catalogue.py::test_when_a_game_began_decides_nothing"),
        Elsewhere("test_records.py::test_lines_that_are_missing_moved_or_doubled"),
    ),
    (135, "continued elsewhere"): (
        Elsewhere("test_tournament.py::test_relative_paths_are_the_file_s_also_where_it_moves"),
        Elsewhere("test_seeds.py::test_numbers_that_must_never_change"),
        Elsewhere("test_catalogue.py::test_the_seed_of_hashes_changes_no_game"),
    ),
    (136, "games end in another order"): (
        Elsewhere("test_tournament.py::test_the_same_games_whatever_the_workers"),
        Elsewhere("test_ratings.py::test_names_and_order_change_nothing"),
    ),
}
