//! Questions that demand more than a name: a note about the same person that does not tell it is no answer.

use super::told::{check, told};

#[test]
fn what_is_asked_for_weighs_more_than_the_name() {
    let house = told(&[
        (40.0, "Ruth drove Edgar to the clinic. The wound needed four stitches."),
        (41.0, "The nurse took Edgar's stitches out."),
        (42.0, "Edgar is a potter and runs the kiln."),
        (43.0, "The green kayak is in the van because Edgar builds a jetty in Husum."),
        (44.0, "The green kayak is in the barn."),
        (45.0, "The green kayak belongs to Edgar and the white kayak is Ruth's."),
        (46.0, "The pump in the barn was leaking."),
        (47.0, "Ruth put a new valve in the pump."),
    ]);
    check(
        &house,
        &[
            ("Who took Edgar to the clinic?", &["Ruth drove Edgar"]),
            ("How many stitches did Edgar get?", &["four stitches"]),
            ("What does Edgar build in Husum?", &["a jetty"]),
            ("Who owns the green kayak?", &["belongs to Edgar"]),
            ("Who fixed the pump?", &["new valve"]),
        ],
    );
}

#[test]
fn what_holds_of_another_is_no_answer() {
    let house = told(&[
        (40.0, "Ruth brought a basket of plums from Husum."),
        (41.0, "Ruth has a rabbit called Pepper."),
        (42.0, "Edgar repaired the pump."),
        (43.0, "Edgar flew to Malmo on Friday."),
        (44.0, "The oak planks are in the barn."),
        (45.0, "Ava has a parrot called Pirate."),
    ]);
    check(
        &house,
        &[
            ("What did Ruth bring from Husum?", &["plums"]),
            ("What did Ruth bring from Malmo?", &["?"]),
            ("When did Ruth fly to Malmo?", &["?"]),
            ("What is the name of Ruth's rabbit?", &["Pepper"]),
            ("What is the name of Edgar's rabbit?", &["?"]),
            ("What is the name of Ava's parrot?", &["Pirate", "-I saw"]),
            ("Who repaired the anvil?", &["?"]),
            ("When was the anvil repaired?", &["?"]),
            ("How much did the oak planks cost?", &["?"]),
        ],
    );
}
