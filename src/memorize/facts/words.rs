//! The vocabulary of plain statements, as data: which words say what of whom, and which make a sentence say nothing.
//!
//! English alone. All words are in lower case, contractions undone ("is not", "i am").

use crate::memory::natures;

/// A list of words.
#[derive(Clone, Copy)]
pub(super) struct Words(pub(super) &'static str);

impl Words {
    pub(super) fn has(self, word: &str) -> bool {
        self.0.split_ascii_whitespace().any(|one| one == word)
    }
}

/// A sentence with one of these says what may be, would be or usually is, or what only holds in a story.
pub(super) const HEDGES: Words = Words(
    "maybe perhaps might probably possibly presumably supposedly could would should shall will may if whether \
     unless or either never usually normally typically generally often sometimes rarely seldom occasionally hardly \
     mostly think thinks thought guess guesses believe believes hope hopes wish wishes wonder wonders doubt doubts \
     seem seems suppose imagine pretend assume dreamed dreamt gonna unsure",
);
/// A clause with this says what is to be; the others of its sentence may say what is.
pub(super) const TOMORROW: Words = Words("tomorrow");
/// These are hedges in lower case alone: "Will" and "May" are names, too.
pub(super) const NAMES_TOO: Words = Words("will may");
/// Hedges of two words.
pub(super) const HEDGING: [[&str; 2]; 6] = [
    ["used", "to"],
    ["going", "to"],
    ["about", "to"],
    ["not", "sure"],
    ["supposed", "to"],
    ["next", "week"],
];
/// What makes of a statement, at its end, what is not so ("is in the sink no longer") or only wished for.
pub(super) const TAKING_BACK: [&[&str]; 3] = [&["no", "longer"], &["no", "more"], &["please"]];
/// What is denied of all that follows a "that": "it is not true that …", "nobody said that …".
pub(super) const DENIED: Words =
    Words("true case right correct so fact say said says claim claimed claims mean meant");
/// What denies it.
pub(super) const DENYING: Words = Words("not never nobody no hardly");
/// Before a "that", what denies it alone.
pub(super) const FALSE: Words = Words("untrue false wrong incorrect lie rumour deny denies denied");
/// Who says something says it in words of their own: "Ben said, I like tea."
pub(super) const SAYING: Words = Words(
    "says said tells told asks asked replies replied answers answered writes wrote shouts shouted whispers whispered",
);
/// What makes a question of a statement, at its end, and leaves the statement as it is.
pub(super) const TAGS: [&[&str]; 4] =
    [&["and", "you"], &["what", "about", "you"], &["how", "about", "you"], &["and", "yours"]];
/// Words that join two statements.
pub(super) const JOINTS: Words =
    Words("but because so then while though although whereas since when");
/// Words before a statement that change nothing about it.
pub(super) const FILLERS: Words = Words(
    "and um uh er well oh ok okay yes yeah hey hi hello look listen now today yesterday also actually finally btw earlier later \
     meanwhile anyway no",
);

/// Words before the name of a thing.
pub(super) const DETERMINERS: Words =
    Words("the a an my your our his her their its this that these those some");
/// After these it may be another one of its kind.
pub(super) const INDEFINITE: Words = Words("a an some");
/// Words that end the name of a thing or a place in running speech.
pub(super) const STOPS: Words = Words(
    "and but because so then if when while any that which who please i you we he she they it today now as since until for \
     again already not is are was were has have had will do does did where why how or than though although am there \
     here too also yesterday tonight earlier recently lately ago anymore instead just himself herself myself \
     themselves somewhere called named",
);
/// Prepositions that begin no place: they end the name of a thing or a place all the same.
pub(super) const OTHER_PREPOSITIONS: Words =
    Words("to from off with without about during before after through along across via per except");
/// Words that stand before a place and are no part of it: "back in the hall".
pub(super) const LEADS: Words = Words(
    "back right down up out over away still now all safely again already currently somewhere both",
);
/// What begins a place.
pub(super) const PREPOSITIONS: Words = Words(
    "on in under behind beside inside at near above below beneath underneath over by between against around opposite \
     within atop upon outside into onto next close",
);
/// Of these, what tells at which side: no other place is meant by a word for another side.
pub(super) const SIDES: Words =
    Words("in on under behind beside above below beneath underneath over");
/// Of these, what needs a "to".
pub(super) const WITH_TO: Words = Words("next close");
/// What tells where something was brought, and where it then is.
pub(super) const TOWARDS: [(&str, &str); 3] = [("to", "at"), ("into", "in"), ("onto", "on")];
/// What tells from where something was taken.
pub(super) const AWAY_FROM: Words = Words("from off of");
/// Places of one word.
pub(super) const ADVERBS: Words = Words("outside upstairs downstairs outdoors indoors");

/// Units and times of the day: "in the morning" is no place.
pub(super) const TIMES: Words = Words(
    "morning afternoon evening night noon midnight midday dawn dusk second minute hour day week weekend month year \
     decade century moment season spring summer autumn winter christmas easter birthday while time date lunchtime \
     january february march april may june july august september october november december monday tuesday wednesday \
     thursday friday saturday sunday o'clock am pm past",
);
/// No place, with an article or without one.
pub(super) const NO_PLACES: Words = Words(
    "trouble general risk love danger fact theory total particular advance addition grounds conclusion detail details \
     charge doubt debt favour favor hurry rush way lead mood opinion mind tears shock pain peace silence secret vain \
     turn short shape luck common touch hope fear fun purpose average behalf condition style spite accident progress \
     question issue need service fashion pieces half least last first most best worst once all times air \
     future past present name sense order moment other others everything something anything nothing me you \
     him her them us it this that these those here there everywhere nowhere somewhere anywhere one two-thirds lurch \
     agreement contact control effect existence favourites hindsight practice principle reality return truth use view \
     sight vogue",
);
/// No place alone: "in the end", not "at the end of the hall".
pub(super) const PARTS: Words = Words("end beginning start top");
/// No place without an article: "on fire", "at work" is one.
pub(super) const BARE_NO_PLACES: Words = Words(
    "case fire hold sale strike loan holiday vacation place stock public private line tune duty ten time hand speed \
     large length war rest ease dispute stake issue heart board foot demand request display record schedule track \
     trial business bloom leaf money free life death",
);
/// Nouns in -ing; any other word in -ing ends a name: "the bike in the yard waiting for you".
pub(super) const NOUNS_IN_ING: Words = Words(
    "building ceiling landing railing painting clothing wing ring string king thing morning evening wiring flooring \
     lining opening crossing clearing meeting lighting shelving bedding swing spring sling wedding",
);
/// Words in -ing that tell what the thing behind them is for.
pub(super) const PURPOSES: Words = Words(
    "baking bathing bicycling boxing camping carving changing charging chopping cleaning climbing cooking cutting cycling \
     dancing darning dining dressing drawing drinking driving drying filing fishing fitting folding frying gardening grinding \
     hearing heating hiking ironing knitting landing living loading magnifying measuring milking mixing mowing operating \
     packing parking playing polishing reading recording riding rocking rolling rowing running sailing sanding serving \
     sewing shaving shipping shopping skating skiing sleeping smoking spinning steering swimming tracking training \
     travelling tuning typing waiting walking washing watering weaving welding working wrapping writing",
);
/// What no place is told of: events, what is thought and said, whoever is somebody and not something.
pub(super) const NO_THINGS: Words = Words(
    "meeting party birthday appointment lesson class concert wedding interview call trip holiday exam course \
     session event show journey visit train bus flight plane ferry tram answer question problem point truth idea fact \
     reason thing things stuff matter trouble risk rest weather time way job life world story conversation talk \
     discussion issue news decision price difference feeling mood chance deal shop store shops restaurant temperature \
     kids kid child children man men woman women boy boys girl girls people person persons guy guys baby visitor \
     visitors guest guests somebody someone nobody everybody everyone family parents mum mom dad grandma grandpa \
     quote grandmother grandfather girlfriend boyfriend wife husband teacher one ones two three lot lots kind sort first \
     last other others heart hearts head heads mind minds soul souls spirit spirits hair eye eyes ear ears nose mouth face \
     tongue neck throat shoulder shoulders chest arm arms hand hands finger fingers stomach belly knee knees leg legs \
     foot feet body bodies brain love hope hopes fear fears future luck faith trust loyalty patience attention focus \
     priority priorities responsibility blame fault fate freedom success happiness dream dreams thought thoughts \
     sympathy sympathies interest interests",
);
/// What one lives in without living there: "in her own world".
pub(super) const NO_HOMES: Words = Words(
    "world dream dreams head mind past future moment present bubble fantasy memories memory hope fear denial peace poverty \
     luxury harmony sin silence isolation shadow shadows misery style comfort",
);
/// What one takes without leaving it there: "took the bus to the office".
pub(super) const RIDES: Words = Words(
    "bus train tram taxi cab car bike plane lift elevator stairs road path ferry underground photo photos pic pics \
     picture pictures selfie video shot nap walk break look",
);
/// What one leaves oneself: "left the house by the garden".
pub(super) const LEFT_BEHIND: Words = Words(
    "house room building office kitchen flat apartment city country school hall garden place town hotel bathroom \
     bedroom",
);
/// Numbers in letters.
pub(super) const NUMBERS: Words = Words(
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
     eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred half quarter",
);

/// What puts a thing somewhere. The past and the present of a report alike.
pub(super) const PUTS: Words = Words(
    "put puts placed places left leaves hid hides hidden laid lays hung hangs stored stores stuck sticks parked parks \
     dropped drops stashed stashes tucked tucks stood stands leaned leans packed packs buried locked locks",
);
/// What brings a thing somewhere.
pub(super) const BRINGS: Words = Words(
    "moved moves took takes taken brought brings carried carries returned returns transferred shifted shifts pushed \
     pushes pulled pulls",
);
/// What a thing did that was found: "turned up".
pub(super) const TURNED: Words = Words("turned showed");
/// What takes a thing away.
pub(super) const REMOVES: Words =
    Words("took takes taken removed removes fetched fetches grabbed grabs got gets pulled pulls");
/// Of what was done to things, the words with which a note may begin that says nobody did it: "Moved the chairs to the hall."
pub(super) const REPORTS: Words =
    Words("moved took brought carried returned transferred shifted hid hung laid stored found");
/// Where things belong: nobody in particular put them there.
pub(super) const KEEPS: Words = Words("keep keeps store stores");
/// What a thing does where it is.
pub(super) const STANDS: Words =
    Words("lies lie stands stand hangs hang sits sit stays stay rests rest leans lean");
/// What was done to a thing: "was parked in".
pub(super) const PLACED: Words = Words(
    "put placed left hidden laid hung stored stuck parked dropped stashed tucked packed buried locked moved taken \
     brought carried returned transferred shifted pushed pulled",
);
/// What a thing is doing where it is: "is lying on".
pub(super) const RESTS: Words =
    Words("kept located attached mounted fixed lying standing hanging sitting leaning resting");
/// Words for a thing that is not where it was, wherever that is.
pub(super) const GONE: Words = Words("gone missing lost nowhere");
/// Words between somebody and what was done.
pub(super) const AUXILIARIES: Words = Words(
    "has have had just already also then now later recently finally all both quickly carefully accidentally yesterday \
     today",
);
/// Somebody, who knows who.
pub(super) const SOMEBODY: Words =
    Words("we he she they someone somebody you people everybody everyone");
/// Capitals at the beginning of a sentence that name nobody: "Just put the cup in the sink."
pub(super) const NO_NAMES: Words = Words(
    "just please always never then now don't do not let first next also maybe and but so if when after before once \
     someone somebody nobody everybody everyone who what which there here it this that these those yes no ok okay \
     have has had did does can could would should will must",
);

/// Verbs of what is done to a thing, or of what it does, that tell no place.
pub(super) const CARRYING: Words = Words(
    "gave gives bought buys found finds lent lends borrowed borrows sold made built repaired mended fixed ordered received \
     delivered cleaned washed painted sharpened charged emptied filled used needs needed picked unpacked opened closed \
     dropped came comes arrived arrives broke breaks fell works worked stopped costs cost turned showed went",
);
/// Somebody of whom no more is told, or an animal that goes by "he" and "she", too.
pub(super) const PERSONS: Words = Words(
    "man woman boy girl guy visitor guest child kid baby lady gentleman person somebody someone nobody everybody everyone he \
     she him landlord landlady lodger tenant customer client patient stranger passenger owner host hostess trainee intern \
     apprentice coworker teenager toddler parent mum mom mummy dad daddy grandmother grandfather grandma grandpa granny \
     grandson granddaughter grandchild stepmother stepfather nephew niece twin girlfriend boyfriend fiancé fiancée \
     roommate housemate dog puppy cat kitten horse pony rabbit hamster parrot budgie",
);
/// Several of them, in words of their own.
pub(super) const PEOPLE: Words = Words("people children men women family");
/// Words that tell that a clause has a subject, or a part, of its own.
pub(super) const SUBORDINATE: Words =
    Words("that who which whom whose what how why where he she they it we you i if as than");

/// Words between whoever it is about and the verb.
pub(super) const BETWEEN: Words = Words(
    "really also still now always just truly absolutely definitely currently recently very much quite actually both \
     personally already finally",
);
/// What a thing is like, which a shorter name of it leaves out: "the big globe", "the globe".
pub(super) const PLAIN: Words = Words(
    "big small large little long short tall old new heavy light thick thin wide narrow round square red blue green yellow \
     orange pink purple violet brown black white grey gray golden silver dark wooden brass steel iron leather glass plastic \
     broken spare good best beautiful precious antique ancient",
);
/// What tells that it was otherwise before.
pub(super) const NOW: Words = Words("now today meanwhile");
/// Words between somebody and what is theirs, where that has no article: "Ava takes sleeping pills".
pub(super) const HAVING: Words =
    Words("has have had takes take took uses use used wears wear wore needs need needed owns own");
/// Verbs as one says them of oneself, or after "does not", and of others.
pub(super) const THIRD_PERSON: [(&str, &str); 13] = [
    ("like", "likes"),
    ("love", "loves"),
    ("prefer", "prefers"),
    ("enjoy", "enjoys"),
    ("adore", "adores"),
    ("dislike", "dislikes"),
    ("hate", "hates"),
    ("detest", "detests"),
    ("live", "lives"),
    ("work", "works"),
    ("am", "is"),
    ("have", "has"),
    ("do", "does"),
];

/// How the value of a statement is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worded {
    /// "green tea", not "to go", "it".
    Liked,
    /// "Bonn", "a flat in Bonn".
    Town,
    /// The same after "moved to": no sofa, no second place.
    NewTown,
    /// "a nurse", whatever the trade.
    Job,
    /// "nurse", "a nurse": a trade that is known as one.
    KnownJob,
    /// The same after "is a": a trade that is known as one.
    Trade,
    /// "the post office", "Siemens".
    Firm,
    /// Capitals.
    Name,
    /// "42", "42 years old".
    Years,
    /// "12 May", "the 3rd of June".
    Date,
    /// "vegetarian".
    State,
    /// "Ben's sister", "the sister of Ben", "my sister".
    Whose,
    /// Digits.
    Number,
    /// "5 High Street", "Rose Cottage": with a number or a name.
    Address,
    /// "ava@example.org", "ava at example dot org".
    Email,
}

/// What is said of a person: the words of the verb, the attribute, how the value is worded. The first that fits counts.
pub(super) const SAID_OF: [(&str, &str, Worded); 34] = [
    ("likes", "likes", Worded::Liked),
    ("loves", "likes", Worded::Liked),
    ("prefers", "likes", Worded::Liked),
    ("enjoys", "likes", Worded::Liked),
    ("adores", "likes", Worded::Liked),
    ("is fond of", "likes", Worded::Liked),
    ("is keen on", "likes", Worded::Liked),
    ("dislikes", "dislikes", Worded::Liked),
    ("hates", "dislikes", Worded::Liked),
    ("detests", "dislikes", Worded::Liked),
    ("can not stand", "dislikes", Worded::Liked),
    ("is allergic to", "allergy", Worded::Liked),
    ("lives in", "home", Worded::Town),
    ("is living in", "home", Worded::Town),
    ("lives at", "address", Worded::Address),
    ("moved back to", "home", Worded::NewTown),
    ("moved to", "home", Worded::NewTown),
    ("works as", "job", Worded::Job),
    ("is working as", "job", Worded::Job),
    ("became", "job", Worded::Trade),
    ("works for", "employer", Worded::Firm),
    ("works at", "employer", Worded::Firm),
    ("is employed by", "employer", Worded::Firm),
    ("is called", "name", Worded::Name),
    ("is named", "name", Worded::Name),
    ("was born on", "birthday", Worded::Date),
    ("was born in", "birthday", Worded::Date),
    ("was born in", "birthplace", Worded::Town),
    ("turned", "age", Worded::Years),
    ("is", "age", Worded::Years),
    ("is", "status", Worded::State),
    ("became", "status", Worded::State),
    ("is", "job", Worded::Trade),
    ("is", "relation", Worded::Whose),
];
/// What is said of what is somebody's: "Ava's phone number is …".
pub(super) const SAID_OF_WHAT_IS_ONES: [(&str, &str, Worded); 17] = [
    ("name is", "name", Worded::Name),
    ("birthday is", "birthday", Worded::Date),
    ("phone number is", "phone", Worded::Number),
    ("telephone number is", "phone", Worded::Number),
    ("mobile number is", "phone", Worded::Number),
    ("number is", "phone", Worded::Number),
    ("phone is", "phone", Worded::Number),
    ("email address is", "email", Worded::Email),
    ("email is", "email", Worded::Email),
    ("address is", "address", Worded::Address),
    ("age is", "age", Worded::Years),
    ("job is", "job", Worded::KnownJob),
    ("profession is", "job", Worded::Job),
    ("occupation is", "job", Worded::Job),
    ("employer is", "employer", Worded::Firm),
    ("home is in", "home", Worded::Town),
    ("birthplace is", "birthplace", Worded::Town),
];
/// Who has left where: "Ava moved out of Bonn".
pub(super) const LEAVES: [&str; 2] = ["moved out of", "moved away from"];
/// What is no more once it was negated; of what else, that it is not so says only that.
pub(super) const ENDS: [&str; 8] =
    ["home", "address", "job", "employer", "status", "allergy", "phone", "email"];

/// What is not liked in so many words: "likes it", "would like to".
pub(super) const NOT_LIKED: Words = Words(
    "to it this the how what that him her them me you us when where being everything nothing",
);
/// What is liked of somebody's is told by nobody else: "your turtles", "his work".
pub(super) const SOMEONES: Words =
    Words("your his her their its our them these those this that me you him us");
/// No employer: "works at night", "works for fun".
pub(super) const NO_FIRMS: Words = Words("home work living himself herself myself free");
/// Months, short and long.
pub(super) const MONTHS: Words = Words(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug \
     sep sept oct nov dec",
);
/// Trades.
pub(super) const TRADES: Words = Words(natures::TRADES);
/// Beside a trade, what makes it none that somebody has: "a bad cook", "a former nurse".
pub(super) const NO_JOBS: Words = Words(
    "good great excellent brilliant amazing wonderful fantastic perfect better best bad terrible awful horrible poor lousy \
     worse worst decent passable fast slow careful careless reckless keen passionate avid enthusiastic \
     lovely nice former retired ex future aspiring amateur hobby unemployed failed \
     wannabe frustrated imaginary",
);

/// How a fact about somebody is worded.
pub(super) const WORDINGS: [(&str, &str); 13] = [
    ("likes", "likes"),
    ("dislikes", "dislikes"),
    ("allergy", "is allergic to"),
    ("home", "lives in"),
    ("address", "lives at"),
    ("job", "works as"),
    ("employer", "works for"),
    ("name", "is called"),
    ("status", "is"),
    ("birthplace", "was born in"),
    ("age", "is of the age"),
    ("birthday", "has the birthday"),
    ("relation", "is"),
];
