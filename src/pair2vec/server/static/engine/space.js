/** The pair space of an opened model: its networks R and C, its words, and how pairs are compared. */

import { PatternEncoder } from "./context_encoder.js";
import { Kernels } from "./kernels.js";
import { Layer, openPairNetwork } from "./pair_encoder.js";
import { Vocabulary } from "./vocabulary.js";

const FREQUENT_WORDS = 20_000;

export class PairSpace {
  /**
   * @param {import("./model.js").ModelFiles} files
   * @param tokeniser Of queries.
   */
  constructor({ tensors, derived, vocabulary, config, engine }, tokeniser) {
    const kernels = (this.kernels = new Kernels());
    this.vocabulary = new Vocabulary(vocabulary, tensors.stored("counts"), tokeniser);
    this.pairs = openPairNetwork(kernels, tensors, config.recipe.pair);
    /** R as pairs are compared with it, before normalisation. */
    this.whitenedPairs = derived.has("whitening.weight")
      ? this.pairs.followedBy(new Layer(kernels, derived.array("whitening.weight"), derived.array("whitening.bias")))
      : this.pairs;
    const sentences = config.corpus?.sentences ?? 0;
    const options = { openWords: engine.constants.OPEN_WORDS, sentences };
    this.patternEncoder = new PatternEncoder(kernels, tensors, this.vocabulary, options);
  }

  /** How many of the words are frequent: what is fast looks at these alone. */
  get frequentWords() {
    return Math.min(FREQUENT_WORDS, this.pairs.words);
  }

  /** The word's vector of unit norm. */
  unitWord(id) {
    return this.kernels.scope(() => this.pairs.unitInputs([id]).row(0).slice());
  }
}
