//! The list of every case. Forgetting one here is a warning about unused code, which the checks refuse.

use crate::place::Place;
use crate::runner::{self, Case};

/// Hands the list of all cases, theme by theme, to the macro named `$then`: `theme: case, case; theme: …`.
#[macro_export]
macro_rules! for_every_case {
    ($then:ident) => {
        $then! {
            utf8_split:
                a_character_split_over_two_windows_arrives_whole,
                a_character_in_four_windows_arrives_whole,
                every_cut_of_every_length_arrives_whole,
                characters_of_two_streams_torn_into_each_other_arrive_whole,
                an_unfinished_character_at_the_end_is_delivered,
                an_unfinished_character_before_a_late_end_is_delivered_once,
                a_late_reader_still_delivers_the_last_byte_before_the_end,
                ill_formed_bytes_do_not_swallow_their_neighbours;
            binary_output:
                a_nul_byte_survives_in_text_bytes_and_json,
                a_lone_surrogate_is_replaced_in_text_and_json,
                invalid_text_is_neither_guessed_nor_decoded_twice,
                all_byte_values_come_back_as_they_were,
                random_bytes_of_two_streams_hash_alike,
                all_byte_values_go_in_as_they_are;
            exit_last_output:
                a_long_listing_keeps_its_last_line,
                a_quick_failure_keeps_its_error_text,
                a_thousand_terminals_each_deliver_their_line,
                nothing_comes_after_the_end,
                an_exit_at_once_is_never_missed,
                the_first_command_of_a_sandbox_is_like_any_other,
                the_last_write_of_both_streams_is_complete,
                an_end_seen_together_with_its_bytes_comes_after_them,
                an_end_that_is_listed_has_its_output_already;
            background_holders:
                a_background_child_of_a_terminal_does_not_delay_the_end,
                a_background_child_with_pipes_does_not_delay_the_end,
                a_detached_child_holding_the_terminal_does_not_delay_the_end,
                output_through_a_substitution_that_ends_later_is_complete,
                a_child_that_writes_on_stays_in_its_own_transcript,
                a_fifo_pair_is_ended_by_the_timeout,
                burners_in_the_background_end_with_the_sandbox,
                a_child_without_any_tie_ends_with_the_sandbox,
                a_stopped_child_holding_the_output_delays_nothing;
            kill_tree:
                a_timeout_reaches_grandchildren,
                a_timeout_reaches_a_child_in_its_own_session,
                a_kill_reaches_every_way_out_of_the_tree,
                a_stopped_process_is_ended,
                no_zombies_and_no_descriptors_pile_up,
                orphans_are_reaped,
                a_process_outlives_half_a_minute_of_idleness,
                a_program_that_buffers_shows_nothing_before_its_timeout,
                a_flood_does_not_starve_its_timeout,
                a_caller_that_goes_away_ends_its_exec_but_no_started_process,
                a_tree_that_keeps_forking_is_ended,
                the_grace_lets_a_handler_say_its_last_words,
                a_signal_reaches_its_target_only,
                a_timeout_that_is_not_reached_has_no_effect;
            stdin_keys:
                ctrl_c_without_a_terminal_interrupts_the_group,
                ctrl_d_ends_input_only_at_the_start_of_a_line,
                ctrl_z_is_not_an_end,
                a_write_after_the_end_is_refused,
                writes_around_an_exit_do_no_harm,
                a_password_prompt_on_the_terminal_is_asked_and_not_echoed,
                without_a_terminal_dev_tty_fails_and_the_callers_terminal_stays_clean,
                a_background_reader_is_stopped_and_the_call_returns,
                a_carriage_return_ends_a_line,
                ctrl_c_loses_no_output_that_nobody_collected,
                the_terminal_controls_its_process,
                closing_the_input_completes_it,
                a_process_without_input_refuses_it,
                an_empty_write_is_a_collect,
                control_keys_reach_the_whole_foreground_group,
                an_interpreter_is_driven_through_several_windows;
            bulk_input:
                after_a_line_that_is_too_long_the_terminal_is_usable,
                a_megabyte_is_pasted_into_an_echoing_program,
                a_stuck_write_tells_its_part_and_does_not_block_the_end,
                a_bracketed_paste_passes_untouched,
                large_writes_through_a_pipe_arrive_whole_and_in_order,
                a_slow_reader_gets_everything;
            output_bounds:
                an_endless_flood_that_nobody_collects_stays_small,
                a_cut_keeps_both_ends_and_counts_the_rest,
                what_one_answer_left_out_does_not_come_with_the_next,
                exec_keeps_streams_apart_and_start_merges_them_in_order,
                pipes_are_merged_in_arrival_order,
                a_million_tiny_writes_cost_little,
                every_budget_is_kept,
                one_endless_line_is_cut_like_any_text;
            terminal_behaviour:
                line_feeds_become_two_characters_on_a_terminal_only,
                a_full_screen_editor_starts_and_leaves,
                a_program_that_asks_for_attributes_hangs_nothing,
                answers_to_a_query_never_become_commands,
                query_bytes_on_pipes_are_only_output,
                a_resize_is_seen_and_harmless_after_the_end,
                a_terminal_has_a_known_type,
                a_pager_that_is_asked_for_runs_and_can_be_left,
                without_a_terminal_nothing_is_paged,
                a_commit_without_a_message_returns_and_can_be_left,
                modes_that_a_program_changed_do_not_outlive_it,
                erasing_takes_a_whole_character,
                terminals_do_not_share_their_fate;
            child_environment:
                signals_that_the_creator_ignores_are_not_ignored,
                secrets_of_the_creator_do_not_leak,
                no_terminal_leaks_into_a_neighbour,
                a_command_has_three_descriptors,
                a_directory_that_went_away_is_named_and_wedges_nothing,
                arguments_are_passed_byte_for_byte,
                too_large_arguments_or_environment_are_refused_or_work,
                what_a_command_does_to_its_shell_stays_in_it,
                the_creators_mask_and_limits_distort_nothing,
                another_user_brings_name_group_and_home,
                a_terminal_is_the_controlling_one,
                the_nearest_environment_wins,
                programs_are_looked_up_in_the_commands_own_path,
                dispositions_are_default_for_every_command,
                the_guest_is_its_own_session_and_has_a_clean_environment;
            exit_status:
                death_by_signal_is_128_and_the_number,
                every_exit_code_is_told_as_it_is,
                a_shell_that_cannot_run_something_says_127_or_126,
                a_program_that_cannot_start_is_an_error_and_no_exit,
                a_core_dump_does_not_change_the_code,
                ends_that_look_alike_are_told_apart,
                a_stop_is_no_end;
            lifecycle_concurrency:
                two_writes_at_the_same_time_do_not_mix,
                a_cancelled_collect_loses_nothing,
                a_blocked_write_blocks_nobody,
                many_terminals_leak_nothing,
                a_late_kill_does_not_reach_a_recycled_number,
                ids_are_not_reused_and_old_ids_reach_nobody,
                closing_hangs_up_first,
                ten_floods_are_served_fairly,
                at_the_live_limit_a_start_fails_and_nothing_is_killed,
                sandboxes_do_not_share_their_fate;
            waiting:
                every_kind_of_reader_is_seen_waiting,
                who_does_something_else_is_not_waiting_for_input,
                after_input_the_wait_is_for_the_next_prompt,
                echo_off_is_reported,
                a_text_is_found_across_its_pieces,
                a_condition_counts_from_the_cursor,
                silence_is_counted_from_the_last_byte,
                bytes_are_counted,
                the_end_and_the_window_end_every_wait,
                without_a_condition_only_the_end_closes_a_window,
                a_costly_pattern_costs_others_nothing,
                impossible_conditions_are_refused;
            retries:
                a_start_is_repeated_by_its_request_id,
                a_write_is_repeated_by_its_id,
                a_write_that_was_given_up_on_is_written_once,
                endings_may_be_repeated,
                any_number_of_readers_see_the_same;
            retention:
                the_gap_is_stated_in_exact_bytes,
                any_offset_is_a_cursor,
                a_run_is_slowed_to_its_reader_and_loses_nothing,
                exec_counts_what_it_leaves_out,
                a_follower_starts_anywhere,
                ended_transcripts_stay_readable;
            refusals:
                an_unknown_process_is_not_found_by_any_verb,
                impossible_starts_are_refused,
                verbs_that_do_not_fit_are_refused,
                impossible_sandboxes_are_refused;
        }
    };
}

macro_rules! table {
    ($($theme:ident: $($case:ident),+;)+) => {
        /// Every case.
        pub const CASES: &[Case] = &[$($(Case {
            name: concat!(stringify!($theme), "::", stringify!($case)),
            run: {
                fn run(room: &$crate::room::Room) -> runner::Running<'_> {
                    Box::pin($crate::cases::$theme::$case(room))
                }
                run
            },
        },)+)+];
    };
}

for_every_case!(table);

/// Runs the case with this name on a place.
pub fn run(place: &std::sync::Arc<dyn Place>, name: &str) {
    let case = CASES.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
    runner::run(place, case);
}
