import { grouped } from "../base/quantities.ts"
import { EXPIRATION_DEPTH } from "../consensus/expiry.ts"
import { anchorKind } from "./chainKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, oneOption } from "./optionRow.ts"

export const LIGHT_OPTIONS = {
  ...inGroup("Chain", {
    sync: oneOption(Kind.choiceKind(["full", "light"]), "chain.sync", {
      description: "what to sync: the whole chain, or light, which is headers and the names of the last " +
        `${grouped(EXPIRATION_DEPTH)} blocks`,
      default: "full"
    }),
    anchor: oneOption(anchorKind, "chain.anchor", {
      description:
        "block at which the headers of a light chain begin; none to begin at genesis, and for -sync full without a light start",
      defaultNote: "those of the network"
    }),
    nameproofs: oneOption(Kind.onOffKind, "chain.nameProofs", {
      description:
        "keep what proofs of names need while only the names of the last blocks are known, with -sync light: " +
        "some 75 MB; whole blocks prove names without it"
    })
  }),
  ...inGroup("Names and wallet", {
    requireproof: oneOption(Kind.choiceKind(["work", "signatures", "full"]), "answers.requireProof", {
      description: "minimum proof of an answer about a name, unless a call sets it",
      default: "work"
    })
  })
}
