//! `engramd places`: where the robot stayed, and what was near a point.

use clap::Args;
use serde_json::json;

use super::context::Context;
use super::print;
use super::reader::Reader;
use super::times::{AsOfArg, known};
use crate::daemon::queries::Places;
use crate::mqtt::message::QueryVerb;

/// Where the robot stayed, and what and who was near a point.
///
/// Places are made of poses (where the robot stood still for a while), and of what is told: `engramd name here kitchen`,
/// `engramd remember "We are in the kitchen now."`. `engramd name place_1 kitchen` names one; so does saying there "this
/// is the kitchen".
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd places
  engramd places --near 1.5,-2 --radius 3          what was seen and told there
  engramd places --near 1.5,-2 --json")]
pub(super) struct PlacesArgs {
    /// A point, metres.
    #[arg(long, value_name = "X,Y", value_parser = point, allow_hyphen_values = true)]
    near: Option<(f64, f64)>,
    /// How far around it, metres.
    #[arg(long, value_name = "M", default_value_t = 2.0, requires = "near")]
    radius: f64,
    /// Its coordinate frame [default: that of the newest pose].
    #[arg(long, value_name = "NAME", requires = "near")]
    frame: Option<String>,
    /// What was known at that time or after that commit (seq:N).
    #[arg(long, value_name = "T|seq:N", value_parser = AsOfArg::parse)]
    as_of: Option<AsOfArg>,
}

fn point(text: &str) -> Result<(f64, f64), String> {
    let (x, y) = text.split_once(',').ok_or_else(|| format!("{text:?} is no point; write X,Y"))?;
    let metres = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("{text:?} is no number of metres"))
    };
    Ok((metres(x)?, metres(y)?))
}

pub(super) fn run(args: &PlacesArgs, context: &Context) -> anyhow::Result<u8> {
    let mut arguments = json!({});
    if let Some((x, y)) = args.near {
        arguments = json!({ "x": x, "y": y, "radius_m": args.radius });
    }
    if let Some(frame) = &args.frame {
        arguments["frame"] = json!(frame);
    }
    if let Some(as_of) = known(args.as_of.as_ref(), context)? {
        arguments["as_of"] = json!(as_of);
    }
    let document = Reader::open(context)?.query(QueryVerb::Places, &arguments)?;
    if context.json {
        print::json(&document)?;
        return Ok(0);
    }
    let found: Places = serde_json::from_value(print::for_people(document))?;
    let zone = context.config.timezone();
    if found.places.is_empty() {
        print::line(
            "no place is known yet: they are made of poses (docs/mqtt.md, topic pose), and of what is told (\"We are in \
             the kitchen now.\")",
        )?;
    } else {
        let mut table = print::table(["id", "name", "frame", "x", "y", "stays", "in all", "since"]);
        for row in &found.places {
            let point = row.place.position.as_ref();
            table.add_row([
                row.place.id.to_string(),
                row.place.name.clone().unwrap_or_default(),
                point.map(|point| point.frame.clone()).unwrap_or_default(),
                point.map(|point| format!("{:.1}", point.x)).unwrap_or_default(),
                point.map(|point| format!("{:.1}", point.y)).unwrap_or_default(),
                row.stays.to_string(),
                print::duration(row.secs),
                print::local(row.place.since, &zone),
            ]);
        }
        print::line(table)?;
    }
    if let Some(near) = &found.near {
        for stay in &near.stays {
            let (from, secs) = (print::local(stay.start, &zone), print::duration(stay.secs()));
            print::line(format!("here at {from} for {secs}"))?;
        }
        for (id, name, at) in &near.persons {
            let name = name.clone().unwrap_or_else(|| id.to_string());
            print::line(format!("{name}, last at {}", print::local(*at, &zone)))?;
        }
        for thing in &near.things {
            let (object, place) = (&thing.object, &thing.place);
            print::line(format!(
                "{object}: {place} ({:.1} m, {})",
                thing.distance_m, thing.memory
            ))?;
        }
        if let (true, Some((x, y, at, distance))) = (near.stays.is_empty(), found.nearest) {
            let at = print::local(at, &zone);
            print::line(format!(
                "never there; nearest {distance:.1} m away, at x {x:.1}, y {y:.1}, {at}"
            ))?;
        }
    }
    Ok(0)
}
