//! One module per promise to the user; each runs the real binary on real recordings.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod a_bag_is_as_good_as_a_video;
mod a_door_over_http;
mod a_kill_loses_nothing;
mod a_killed_daemon_owes_no_answer;
mod a_language_model_may_fail;
mod a_live_robot_remembers;
mod a_memory_can_be_encrypted;
mod a_network_crashes_or_hangs;
mod a_question_over_mqtt;
mod a_recorder_can_be_killed;
mod a_recording_gives_the_same_memory;
mod a_replay_shares_its_terminal;
mod a_ring_is_kept_from;
mod a_robot_hears_itself;
mod a_robot_survives_its_faults;
mod a_store_without_its_daemon;
mod an_embedder_can_be_changed;
mod an_empty_room_costs_nothing;
mod another_memory_is_taken_over;
mod another_model_keeps_everybody;
mod bad_input_is_refused_clearly;
mod documents_are_cited;
mod english_has_its_places;
mod nothing_leaves_the_robot;
mod recordings_are_understood;
mod replay_is_deterministic;
mod sounds_are_remembered;
mod support;
mod ten_robots_share_a_broker;
mod the_brokers_rights_agree;
mod the_demo_is_answered;
mod the_service_talks_to_systemd;
mod things_are_remembered;
mod watches_and_visits_are_told;
mod what_people_do_is_remembered;
mod what_was_said_is_found_again;
mod words_in_view_are_remembered;
