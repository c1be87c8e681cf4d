//! MQTT: topics, messages, the session with the broker.
