//! Home Assistant: what it is to show of this robot, in the form of its MQTT discovery.
//!
//! One retained message per sensor on `<discovery prefix>/<component>/<robot>/<sensor>/config`
//! (<https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>); the values come from the topics `home` and
//! `status`.

use serde_json::{Value, json};

use super::Topics;

/// Topic and payload of every sensor of `robot`, with Home Assistant's own `prefix` (`homeassistant`).
#[must_use]
pub fn discovery(prefix: &str, robot: &str, topics: &Topics) -> Vec<(String, Value)> {
    let (home, status) = (topics.at("home"), topics.at("status"));
    let there = json!([{
        "topic": status,
        "value_template": "{{ 'online' if value_json.state == 'online' else 'offline' }}",
    }]);
    let sensors = [
        (
            "sensor",
            "engram_persons",
            json!({
                "name": "Persons present",
                "icon": "mdi:account-group",
                "state_topic": home,
                "value_template": "{{ value_json.persons | count }}",
                "state_class": "measurement",
                "json_attributes_topic": home,
                "json_attributes_template": "{{ {'persons': value_json.persons} | tojson }}",
                "availability": there,
            }),
        ),
        (
            "sensor",
            "engram_last_words",
            json!({
                "name": "Last words",
                "icon": "mdi:message-text",
                "state_topic": home,
                "value_template": "{{ (value_json.last_words.text if value_json.last_words else '')[:255] }}",
                "json_attributes_topic": home,
                "json_attributes_template": "{{ (value_json.last_words or {}) | tojson }}",
                "availability": there,
            }),
        ),
        (
            "sensor",
            "engram_last_answer",
            json!({
                "name": "Last answer",
                "icon": "mdi:comment-question",
                "state_topic": home,
                "value_template": "{{ (value_json.last_answer.answer if value_json.last_answer else '')[:255] }}",
                "json_attributes_topic": home,
                "json_attributes_template": "{{ (value_json.last_answer or {}) | tojson }}",
                "availability": there,
            }),
        ),
        // Without availability: a robot that is gone is a problem, not an unknown.
        (
            "binary_sensor",
            "engram_health",
            json!({
                "name": "Health",
                "device_class": "problem",
                "entity_category": "diagnostic",
                "state_topic": status,
                "value_template":
                    "{{ 'OFF' if value_json.state == 'online' and value_json.degraded | count == 0 else 'ON' }}",
                "json_attributes_topic": status,
            }),
        ),
    ];
    let device = json!({
        "identifiers": [format!("engram_{robot}")],
        "name": robot,
        "manufacturer": "engram",
        "model": "engramd",
        "sw_version": env!("CARGO_PKG_VERSION"),
    });
    let origin = json!({ "name": "engramd", "sw_version": env!("CARGO_PKG_VERSION") });
    let message = |(component, sensor, mut config): (&str, &str, Value)| {
        config["unique_id"] = format!("{robot}_{sensor}").into();
        // The one before Home Assistant 2025.10, the other since.
        config["object_id"] = format!("{robot}_{sensor}").into();
        config["default_entity_id"] = format!("{component}.{}_{sensor}", slug(robot)).into();
        config["device"] = device.clone();
        config["origin"] = origin.clone();
        (format!("{prefix}/{component}/{robot}/{sensor}/config"), config)
    };
    sensors.into_iter().map(message).collect()
}

/// As entity ids are written: small letters, digits and `_`.
fn slug(robot: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    robot.chars().map(plain).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_sensor_is_what_home_assistant_documents_and_its_own() {
        let of = |robot: &str| discovery("homeassistant", robot, &Topics::new("engram", robot));
        let mut ids = BTreeSet::new();
        for robot in ["kitchen-9f3c", "hall_2"] {
            for (topic, config) in of(robot) {
                crate::mqtt::tests::schemas::check("home-discovery", &config);
                let levels: Vec<&str> = topic.split('/').collect();
                assert_eq!(levels.len(), 5, "{topic}");
                assert_eq!((levels[0], levels[2], levels[4]), ("homeassistant", robot, "config"));
                for key in ["state_topic", "json_attributes_topic"] {
                    let topic = config[key].as_str().unwrap();
                    assert!(topic.starts_with(&format!("engram/{robot}/")), "{topic}");
                }
                assert!(ids.insert(config["unique_id"].as_str().unwrap().to_owned()));
            }
        }
        assert_eq!(ids.len(), 8);
    }
}
