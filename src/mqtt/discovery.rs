//! Home Assistant: what it is to show of this robot, in the form of its MQTT discovery.
//!
//! One retained message per sensor on `<discovery prefix>/<component>/<robot>/<sensor>/config`
//! (<https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>); the values come from the topics `home`, `status` and
//! `event/visit`. What names somebody is not retained: [`person`].

use serde_json::{Value, json};

use super::Topics;
use crate::ids::EntityId;

/// Topic and payload of every sensor of `robot`, with Home Assistant's own `prefix` (`homeassistant`); with `visits` also
/// those of the event that somebody has gone.
#[must_use]
pub fn discovery(prefix: &str, robot: &str, topics: &Topics, visits: bool) -> Vec<(String, Value)> {
    let (home, status, there) = (topics.at("home"), topics.at("status"), there(topics));
    let visit = (
        "event",
        "engram_visit",
        json!({
            "name": "Visit",
            "icon": "mdi:account-arrow-right",
            "state_topic": topics.at("event/visit"),
            "event_types": ["visit"],
            "value_template": "{{ dict(value_json, event_type='visit') | tojson }}",
            "availability": there,
        }),
    );
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
    let visit = visits.then_some(visit);
    sensors.into_iter().chain(visit).map(|sensor| message(prefix, robot, sensor)).collect()
}

/// Topic and payload of what tells whether somebody is here. It holds a name: sent again and again, it need not be retained.
#[must_use]
pub fn person(
    prefix: &str,
    robot: &str,
    topics: &Topics,
    (id, name): (EntityId, &str),
) -> (String, Value) {
    let config = json!({
        "name": name,
        "device_class": "presence",
        "state_topic": topics.at("home"),
        // (An id has no letter that a template could trip over.)
        "value_template": format!("{{{{ 'ON' if '{id}' in value_json.here else 'OFF' }}}}"),
        "availability": there(topics),
    });
    message(prefix, robot, (PRESENCE, &format!("engram_{id}"), config))
}

/// Its topic: an empty message there takes it away again.
#[must_use]
pub fn person_topic(prefix: &str, robot: &str, id: EntityId) -> String {
    topic(prefix, PRESENCE, robot, &format!("engram_{id}"))
}

/// What tells whether somebody is here.
const PRESENCE: &str = "binary_sensor";

fn topic(prefix: &str, component: &str, robot: &str, sensor: &str) -> String {
    format!("{prefix}/{component}/{robot}/{sensor}/config")
}

/// When the values are to be believed.
fn there(topics: &Topics) -> Value {
    json!([{
        "topic": topics.at("status"),
        "value_template": "{{ 'online' if value_json.state == 'online' else 'offline' }}",
    }])
}

/// With what all have in common.
fn message(
    prefix: &str,
    robot: &str,
    (component, sensor, mut config): (&str, &str, Value),
) -> (String, Value) {
    config["unique_id"] = format!("{robot}_{sensor}").into();
    // The one before Home Assistant 2025.10, the other since.
    config["object_id"] = format!("{robot}_{sensor}").into();
    config["default_entity_id"] = format!("{component}.{}_{sensor}", slug(robot)).into();
    config["device"] = json!({
        "identifiers": [format!("engram_{robot}")],
        "name": robot,
        "manufacturer": "engram",
        "model": "engramd",
        "sw_version": env!("CARGO_PKG_VERSION"),
    });
    config["origin"] = json!({ "name": "engramd", "sw_version": env!("CARGO_PKG_VERSION") });
    (topic(prefix, component, robot, sensor), config)
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
    use crate::ids::EntityKind;

    #[test]
    fn every_sensor_is_what_home_assistant_documents_and_its_own() {
        let of = |robot: &str| {
            let topics = Topics::new("engram", robot);
            let ava = EntityId::new(EntityKind::Person, 4);
            let mut all = discovery("homeassistant", robot, &topics, true);
            all.push(person("homeassistant", robot, &topics, (ava, "Ava \"'}} Lind")));
            assert_eq!(all[5].0, person_topic("homeassistant", robot, ava));
            all
        };
        let mut ids = BTreeSet::new();
        for robot in ["kitchen-9f3c", "hall_2"] {
            for (topic, config) in of(robot) {
                crate::mqtt::tests::schemas::check("home-discovery", &config);
                let levels: Vec<&str> = topic.split('/').collect();
                assert_eq!(levels.len(), 5, "{topic}");
                assert_eq!((levels[0], levels[2], levels[4]), ("homeassistant", robot, "config"));
                for key in ["state_topic", "json_attributes_topic"] {
                    let Some(topic) = config[key].as_str() else { continue };
                    assert!(topic.starts_with(&format!("engram/{robot}/")), "{topic}");
                }
                assert!(ids.insert(config["unique_id"].as_str().unwrap().to_owned()));
            }
        }
        assert_eq!(ids.len(), 12);
        let plain = discovery("homeassistant", "hall_2", &Topics::new("engram", "hall_2"), false);
        assert_eq!(plain.len(), 4);
    }
}
