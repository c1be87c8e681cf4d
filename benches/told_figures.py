"""Figures and tables of judged answers. Pure functions."""

from told_judge import VERDICTS, consistent, reliability, tally

JUDGES = ("lenient", "strict")


def both(rows):
    return {judge: tally(row[judge] for row in rows) for judge in JUDGES}


def kinds(rows):
    return {kind: both([row for row in rows if row["kind"] == kind]) for kind in dict.fromkeys(row["kind"] for row in rows)}


def consistency(forms):
    """`forms`: the rows of each form of the questions, the story's own first; figures by judge."""
    numbers = range(len(forms[0]))
    by = {judge: [[] for _ in numbers] for judge in JUDGES}
    for rows in forms:
        for row in rows:
            for judge in JUDGES:
                by[judge][row["of"]].append(row[judge])
    return {judge: consistent(by[judge]) for judge in JUDGES}


def calibration(rows):
    """Of the answers that were told, and came with a confidence."""
    told = [row for row in rows if not row["abstained"] and "confidence" in row]
    return {judge: reliability([(row["confidence"], row[judge] == "right") for row in told]) for judge in JUDGES}


# ---------------------------------------------------------------- tables


HEAD = f"{'':<24}{'asked':>6}" + "".join(f"{f'{word} %':>10}" for word in VERDICTS) + f"{'score':>8}"


def line(name, counts):
    asked = max(counts["asked"], 1)
    shares = "".join(f"{100 * counts[word] / asked:>10.0f}" for word in VERDICTS)
    score = "" if counts["score"] is None else f"{counts['score']:>8.2f}"
    return f"{name:<24}{counts['asked']:>6}{shares}{score}"


def compared(name, by_answerer):
    """A row for each answerer and judge."""
    for answerer, figures in by_answerer.items():
        for judge in JUDGES:
            yield line(f"{name} {answerer} {judge}"[:24] if name else f"{answerer}, {judge}", figures[judge])


def tables(document):
    known = "known" if document["known"] else "not known here"
    yield f"{document['scenario']} ({known})"
    yield HEAD
    yield from compared("", document["answerers"])
    if document["kinds"]:
        yield from ["", "by kind, lenient" + HEAD[16:]]
        yield from (line(kind, figures["lenient"]) for kind, figures in document["kinds"].items())
    for name, figures in document.get("sets", {}).items():
        yield from ["", f"{name:<24}" + HEAD[24:]]
        yield from compared("", figures)
    if "consistency" in document:
        yield from ["", f"{'right in every form':<24}{'in one':>10}{'in every':>10}{'share':>8}"]
        for answerer, figures in document["consistency"].items():
            for judge, found in figures.items():
                share = "" if found["share"] is None else f"{found['share']:>8.2f}"
                yield f"{f'{answerer}, {judge}':<24}{found['right_in_one']:>10}{found['right_in_every']:>10}{share}"
    if "followups" in document:
        yield from ["", f"{'follow-ups':<24}" + HEAD[24:]]
        yield from compared("", document["followups"])
        if document["conversation"] is False:
            yield "the daemon takes no `conversation`: follow-ups were asked without"
    for judge, found in document.get("reliability", {}).items():
        yield from ["", f"{f'confidence, {judge}':<24}{'answers':>10}{'told':>8}{'right':>8}"]
        for row in found["bins"]:
            yield f"from {row['from']:<19.1f}{row['told']:>10}{row['confidence']:>8.2f}{row['right']:>8.2f}"
        if found["gap"] is not None:
            yield f"mean gap {found['gap']:.3f} over {found['told']} answers"
