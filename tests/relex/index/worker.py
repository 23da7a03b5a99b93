"""A process that claims identities: `worker.py URL SEED COUNT BATCH`. It reports each one when its claim has ended."""

from __future__ import annotations

import asyncio
import random
import sys

from incognote.errors import IndexUnavailable
from incognote.keys import Keyring
from incognote.relex.index.nouns import Conflict, IdentityPlace, SurrogateClaimed, SurrogateProposal, SurrogateTaken
from incognote.relex.index.opening import open_index


def proposals(seed: int, count: int) -> list[SurrogateProposal]:
    """Return proposals for the same identities as other workers, in another order, with other forms and surrogates."""
    draw = random.Random(seed)
    made = []
    for n in draw.sample(range(count), count):
        scope, name = f"patient {n % 7}", f"Zebulon{n} Quartermain{n}"
        variants = (name, *draw.sample([f"dr. {name}", f"mr. {name}", f"{name} jr."], 2))
        whole = f"surrogate {seed}-{n}"
        made.append(
            SurrogateProposal(IdentityPlace("clinic", scope, "PERSON"), "PATIENT", variants, {"full": whole}, whole)
        )
    return made


async def main(url: str, seed: int, count: int, size: int) -> None:
    """Claim in batches. If the index does not answer, report that and exit."""
    async with await open_index(url, Keyring(b"one master key, 32 bytes of it.." * 2)) as index:
        print("open", flush=True)
        rest = proposals(seed, count)
        for start in range(0, count, size):
            batch = rest[start : start + size]
            try:
                outcomes = await index.claim_all(batch)
            except IndexUnavailable:
                print("unavailable", flush=True)
                return
            for one, outcome in zip(batch, outcomes, strict=True):
                assert not isinstance(outcome, Conflict | SurrogateTaken), outcome
                assert isinstance(outcome, SurrogateClaimed)
                print(f"{one.variants[0]}\t{outcome.identity.whole}", flush=True)
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
