//! Synonym groups, words that are kin to a search: forms of one verb that no stem joins ("lose", "lost"), and a few everyday words that
//! mean the same ("mend", "repair"). They find sentences; what a fact says is compared word for word.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::lexical::{Concept, stems};

/// Forms of one word, a line each; what may as well be another word ("rose", "saw") is left out.
const FORMS: &str = "\
    lose lost\nbring brought\nbreak broke broken\ngive gave given\ntake took taken\neat ate eaten\ndrink drank drunk\n\
    drive drove driven\nwrite wrote written\nspeak spoke spoken\nsteal stole stolen\nsell sold\ntell told\nfind found\n\
    think thought\nteach taught\ncatch caught\nfight fought\nfeel felt\nkeep kept\nsleep slept\nsweep swept\nleave left\n\
    meet met\nsend sent\nspend spent\nlend lent\nbuild built\nbend bent\ngo goes went gone\ncome came\nrun ran\n\
    begin began begun\nswim swam swum\nsing sang sung\nring rang rung\nsink sank sunk\nsit sat\nstand stood\n\
    understand understood\nwin won\nwear wore worn\ntear tore torn\nthrow threw thrown\nknow knew known\n\
    grow grew grown\nblow blew blown\nfly flew flown\ndraw drew drawn\nfall fell fallen\nfeed fed\nlead led\n\
    ride rode ridden\nshake shook shaken\nchoose chose chosen\nfreeze froze frozen\nforget forgot forgotten\nget got\n\
    hang hung\nhear heard\nhide hid hidden\nhold held\nlay laid\nlight lit\nmake made\nmean meant\npay paid\nsay said\n\
    see seen\nshine shone\nshoot shot\nshow shown\nstrike struck\nswear swore sworn\nwake woke woken\nbite bit bitten\n\
    bleed bled\ndig dug\ndeal dealt\nburn burnt\nlearn learnt\ndream dreamt\nspill spilt\nbeat beaten\nbecome became\n\
    creep crept\nflee fled\nforbid forbade forbidden\nforgive forgave forgiven\nkneel knelt\nlean leant\n\
    sew sewn\nshrink shrank shrunk\nslide slid\nspin spun\nstick stuck\nsting stung\nswing swung\nbuy bought\n\
    man men\nwoman women\nchild children\nfoot feet\ntooth teeth\ngoose geese\nmouse mice\nknife knives\nwife wives\n\
    shelf shelves\nhalf halves\nloaf loaves\nscarf scarves\nmislay mislaid\noversee oversaw overseen";

/// Words that mean the same where people talk of a house and who lives in it, a line each, with their forms.
const SAME: &str = "\
    repair fix mend\nbuy bought purchase\nbegin began begun start\nclose shut\npresent gift\nsofa couch\ntap faucet\n\
    bike bicycle\nfridge refrigerator\ntv television telly\nphone telephone\nbreak broke broken smash shatter\n\
    doctor physician\ncar automobile\ntrash rubbish garbage\nphoto photograph\nmother mum mom\nfather dad\n\
    grandmother grandma granny\ngrandfather grandpa\nill sick\nreturn back\nleave left depart away\n\
    backpack rucksack\ncellar basement\nattic loft\nrug carpet";

/// Of each stem those that are kin to it.
static KIN: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut kin: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in FORMS.lines().chain(SAME.lines()) {
        let words = stems(line);
        for word in &words {
            let known = kin.entry(word.clone()).or_default();
            known.extend(words.iter().filter(|other| *other != word).cloned());
        }
    }
    for known in kin.values_mut() {
        known.sort_unstable();
        known.dedup();
    }
    kin
});

/// The stems that are kin to one.
pub(in crate::memory) fn kin(stem: &str) -> &'static [String] {
    KIN.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// Whether two stems are the same, or kin.
pub(crate) fn is_kin(one: &str, other: &str) -> bool {
    one == other || kin(one).iter().any(|stem| stem == other)
}

/// Words of a search, each with its kin.
pub(crate) fn with_kin(words: impl IntoIterator<Item = Concept>) -> impl Iterator<Item = Concept> {
    words.into_iter().map(|concept| {
        let more: Vec<String> = concept.iter().flat_map(|stem| kin(stem)).cloned().collect();
        concept.into_iter().chain(more).collect::<Concept>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_synonyms_are_kin_and_nothing_else() {
        let kin = |one: &str, other: &str| is_kin(&stems(one).concat(), &stems(other).concat());
        for (one, other) in
            [("lose", "lost"), ("losing", "lost"), ("repaired", "fixed"), ("tap", "faucet")]
        {
            assert!(kin(one, other) && kin(other, one), "{one}, {other}");
        }
        // Over two corners they mean no longer the same.
        for (one, other) in [("bought", "sold"), ("lent", "lost"), ("went", "left"), ("tap", "mug")]
        {
            assert!(!kin(one, other), "{one}, {other}");
        }
        let words = Concept::from([stems("lose").concat()]);
        let wide: Vec<Concept> = with_kin([words]).collect();
        assert_eq!(wide, [Concept::from([stems("lose").concat(), stems("lost").concat()])]);
    }
}
