"""The cosine from which a hit counts, by default, for a model that nobody has looked at before.

Each of `PAIRS` is a question and a sentence that answers it; no two pairs share a subject. The cosines between
the question of one pair and the sentence of every other, 48 × 47 = 2,256 of them, are those of texts that have
nothing to do with each other, and

    threshold = the QUANTILE-quantile of these cosines, linear between neighbours, cut to three decimals.

all-MiniLM-L6-v2, whose threshold is 0.3, has QUANTILE of them below 0.3. So as little that is unrelated passes
another model's threshold as passes this one's, however its scores crowd. Measured there: the unrelated cosines
have mean 0.029 and standard deviation 0.077, ten of them are 0.3 or more; of the 48 pairs themselves 44 are, and
their mean is 0.446.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infospace.core.errors import ModelError

if TYPE_CHECKING:
    from infospace.search.embedding.embedder import Embedder

QUANTILE = 0.99593
"""Measured: the quantile of all-MiniLM-L6-v2's unrelated cosines that is 0.3 (2,246 of 2,256 lie below)."""

PAIRS: tuple[tuple[str, str], ...] = (
    ("why is the sky blue", "Air scatters short waves of sunlight far more than long ones."),
    ("how to keep sourdough starter alive", "Feed the leaven with flour and water once a week, and keep it cold."),
    ("when was the Berlin wall opened", "On 9 November 1989 crowds crossed the border between East and West Berlin."),
    ("symptoms of iron deficiency", "Tiredness, pale skin and brittle nails may mean that the blood lacks iron."),
    ("how does a heat pump warm a house", "It takes warmth from cold air outside and gives it off in the rooms."),
    (
        "rules for castling in chess",
        "King and rook move together if neither has moved and no square between is attacked.",
    ),
    ("what do honey bees eat in winter", "The colony lives on the honey that it stored in its combs during summer."),
    ("how to change a bicycle tube", "Lever the tyre off the rim, pull the old tube out and put in a new one."),
    ("deadline for the tax return", "The declaration of income has to reach the tax office by the end of July."),
    ("who painted the Mona Lisa", "Leonardo da Vinci worked on the portrait of a Florentine lady from 1503."),
    ("how do vaccines work", "The immune system learns to know a germ from a harmless part of it."),
    ("sorting a list in linear time", "Counting sort puts small integers in order without comparing them."),
    ("what causes earthquakes", "Plates of the Earth's crust get stuck at a fault and slip with a jolt."),
    ("refund for a delayed train", "Passengers who arrive an hour late get back a quarter of the fare."),
    ("how to prune apple trees", "Cut out crossing branches of the fruit tree in late winter, before the buds open."),
    ("capital requirements for banks", "Lenders must hold equity against their risk-weighted assets."),
    ("learning to play the violin", "Beginners on the fiddle spend months on bowing and intonation."),
    ("how salmon find their river", "The fish return to spawn where they hatched, led by its smell."),
    ("what is a black hole", "Where mass is packed so densely, not even light gets away from its gravity."),
    ("minutes of the budget meeting", "The committee met on Monday and agreed to cut spending by a tenth."),
    ("removing red wine from a carpet", "Blot the stain on the rug, pour on soda water, and blot again."),
    ("how tall is Mount Everest", "The highest mountain on Earth rises 8,849 metres above the sea."),
    ("password reset does not work", "The mail with the link for a new password never arrives in the user's inbox."),
    ("training for a first marathon", "New runners should raise their weekly distance slowly over four months."),
    ("how glass is made", "Sand, soda and lime are melted together at 1,500 degrees and cooled."),
    ("rent increase notice", "The landlord wants 40 more a month for the flat from January on."),
    ("what did Darwin see on the Galápagos", "Finches of neighbouring islands had beaks of different shapes."),
    ("how to fold a paper crane", "Start the origami bird from a square sheet with both diagonals creased."),
    ("why do leaves turn red", "In autumn trees take back their green pigment and other colours show."),
    ("safety of nuclear power plants", "A reactor has several cooling systems and a containment of concrete."),
    ("invention of the printing press", "Gutenberg cast movable type of metal in Mainz about 1450."),
    ("feeding a newborn baby", "Infants drink milk every two to three hours, at night as well."),
    ("how do submarines dive", "Tanks are flooded with sea water until the boat is heavier than what it displaces."),
    ("the plot of Hamlet", "A Danish prince is told by his father's ghost to avenge a murder."),
    ("what is inflation", "Prices in general rise, and money buys less than it did a year ago."),
    ("treating a sprained ankle", "Rest the joint, cool it, bandage the foot and put it up."),
    ("languages spoken in Switzerland", "The Swiss speak German, French, Italian and Romansh."),
    ("how does public key encryption work", "Anyone may encrypt with the open key; only the secret one decrypts."),
    ("caring for wool sweaters", "Wash the pullover by hand in cool water and dry it lying flat."),
    ("why did the dinosaurs die out", "An asteroid hit what is now Mexico 66 million years ago, and reptiles starved."),
    ("noise from the wind farm", "People living near the turbines complain of a low hum at night."),
    ("brewing good coffee", "Grind the beans fresh and pour water of about 94 degrees over them."),
    ("how elections to parliament work", "Half of the deputies are voted for in districts, the rest by party lists."),
    ("the dog is afraid of thunder", "During storms our puppy trembles and hides under the bed."),
    ("insulation of old attics", "Mineral wool between the rafters keeps warmth from leaving through the roof."),
    ("how pearls are formed", "An oyster coats a grain that got into its shell with layer upon layer."),
    ("job interview preparation", "Read about the company and practise answers before you meet the employer."),
    ("why is the Dead Sea so salty", "Water leaves that lake only by evaporation, and its minerals remain."),
)


def measure_threshold(embedder: Embedder) -> float:
    """Return the threshold of a model by the formula above; deterministic, some 100 short texts' work.

    Raises ModelError when the model cannot be run, or its vectors are all alike or no numbers.
    """
    import numpy as np

    questions = np.array([embedder.embed_query(question) for question, _ in PAIRS]).astype(np.float64)
    sentences = embedder.embed([sentence for _, sentence in PAIRS]).astype(np.float64)
    cosines = np.vecdot(questions[:, None], sentences)  # `@` may spread over threads, which wait for each other
    if not np.isfinite(cosines).all() or np.ptp(cosines) == 0:
        raise ModelError(
            f"the model in {str(embedder.model.folder)!r} gives vectors that tell nothing apart",
            hint="its graph does not fit its tokenizer, or is damaged",
        )
    unrelated = cosines[~np.eye(len(PAIRS), dtype=bool)]
    return float(np.floor(np.quantile(unrelated, QUANTILE) * 1000) / 1000)
