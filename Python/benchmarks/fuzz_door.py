"""Mutated files through the Python door: fuzz_door.py COUNT FOLDER [FIRST].

Each input is one or more changes of a small file of FOLDER, chosen by its number, so that a crash can be
repeated: the number of the input in progress is in `fuzz_door.last`. Every third input that decodes is also
written, with random edits, and the result is opened again. Ends with how inputs ended.
"""

import collections
import io
import random
import sys
from pathlib import Path

import zoetrope


def mutated(seeds, number):
    order = random.Random(number)
    data = bytearray(order.choice(seeds))
    for _ in range(order.randrange(1, 6)):
        place = order.randrange(len(data))
        kind = order.randrange(5)
        if kind == 0:
            data[place] = order.randrange(256)
        elif kind == 1:
            data[place] ^= 1 << order.randrange(8)
        elif kind == 2 and len(data) > 30:
            del data[place:place + order.randrange(1, 9)]
        elif kind == 3:
            data[place:place] = bytes(order.randrange(256) for _ in range(order.randrange(1, 9)))
        elif len(data) > 30:
            del data[place + 1:]
        if not data:
            return b""
    return bytes(data)


EDITS = [
    {"reverse": True}, {"back_and_forth": True}, {"speed": 2}, {"frames": slice(1, None)}, {"fps": 5}, {"plays": 3},
    {"duration": 1}, {"delay": 0.1}, {"size": (9, 7)}, {"crop": (0, 0, 2, 3)}, {"colors": 4}, {"lossy": 20},
    {"max_bytes": 300}, {"preset": "slack-emoji"}, {"effort": "fast"}, {"exact_delays": True},
]


def rewrite(animation, number):
    """Writes `animation` with random edits, and opens what was written."""
    order = random.Random(-number)
    written = io.BytesIO()
    edits = {}
    for _ in range(order.randrange(4)):
        edits.update(order.choice(EDITS))
    if edits or order.randrange(2):
        made = animation.convert(written, format=order.choice((None, "gif", "apng")), threads=1, **edits)
    else:
        made = animation.optimize(written, threads=1, lossy=order.choice((0, 30)))
    with zoetrope.open(written.getvalue(), damage="strict", threads=1) as result:
        assert len(result) == made.frame_count and len(written.getvalue()) == made.byte_count, number
        result.frame(len(result) - 1)


def main(count, folder, first="0"):
    seeds = [
        data for path in sorted(Path(folder).rglob("*")) if path.suffix in {".gif", ".png"}
        for data in [path.read_bytes()] if 0 < len(data) < 3000
    ]
    outcomes = collections.Counter()
    last = open("fuzz_door.last", "w")
    for number in range(int(first), int(first) + int(count)):
        if number % 64 == 0:
            last.seek(0)
            last.write(f"{number}\n")
            last.flush()
        try:
            with zoetrope.open(
                mutated(seeds, number), damage=("salvage", "strict", "partial")[number % 3],
                limits={"preset": "strict", "canvas_pixels": 1 << 20, "live_bytes": 1 << 25},
                threads=1,
            ) as animation:
                animation.damage
                animation.metadata
                animation.sample(2, size=(16, 16), format=("RGBA", "RGB", "L")[number % 3])
                animation.frame(len(animation) - 1)
                outcomes["decoded"] += 1
                if outcomes["decoded"] % 3 == 0:
                    rewrite(animation, number)
                    outcomes["written"] += 1
        except zoetrope.ZoetropeError as error:
            outcomes[error.code] += 1
    print(f"{count} inputs of {len(seeds)} seeds, no crash:", dict(outcomes.most_common()))


if __name__ == "__main__":
    main(*sys.argv[1:])
