// Changes proofs of names at random, and looks for one that the verifier takes though the chain does not have what it shows. Proofs of
// regtest, whose work costs nothing: half of all changed headers meet their target. Usage: mutations.js [COUNT] [SEED]

import process from "node:process"
import { signatures } from "../../src/verify/signatures.ts"
import { livingNames, namedChain } from "../../test/support/namedChain.ts"
import { proofOf } from "../../test/support/nameProofs.ts"
import { countMutations, realProof } from "../../test/verify/proofMutations.ts"

const [count, seed] = [Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 1)]
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) throw new Error("usage: mutations.js [COUNT] [SEED]")

const options = { network: "regtest", now: namedChain.now, signatures } as const

const real = livingNames.flatMap((name, i) =>
  realProof(proofOf(namedChain, name, { following: i % 4, whole: i % 2 === 0 }), options) ?? []
)

const ROUND = 10_000
let accepted = 0
let wrong = 0
for (let done = 0; done < count; done += ROUND) {
  const found = countMutations({ real, options }, { count: Math.min(ROUND, count - done), seed: seed + done })
  accepted += found.accepted
  wrong += found.wrong.length
  for (const proof of found.wrong) console.log(proof)
}
console.log(`${count} changed proofs of ${real.length} names: ${accepted} still count, ${wrong} of them wrongly`)
process.exitCode = wrong === 0 ? 0 : 1
