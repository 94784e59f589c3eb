import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { nameKey, nameOfKey } from "../../src/protocol/keys.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import { fixtureBlocks } from "./chainFixture.ts"
import { type ProofChain, settingsOf } from "./nameProofs.ts"

/** The chain of the fixtures for proofs. */

export const namedChain: ProofChain & { readonly tip: number; readonly now: number } = (() => {
  const blocks = fixtureBlocks("regtest-names/blocks.dat")
  return { network: "regtest", low: 0, blocks, tip: blocks.length - 1, now: blocks.at(-1)?.header.time ?? 0 }
})()

/** The names that are alive at the tip. */
export const livingNames: ReadonlyArray<Uint8Array> = [
  ...new Set(
    namedChain.blocks.flatMap(({ transactions }) => transactions).flatMap(({ outputs }) => outputs).flatMap(
      ({ script }) => {
        const operation = parseNameScript(script)?.operation
        return operation === undefined || operation.op === "name_new" ? [] : [nameKey(operation.name)]
      }
    )
  )
].map(nameOfKey).filter((name) => {
  const [newest] = settingsOf(namedChain, name)
  return newest !== undefined && !isExpired(newest, namedChain.tip, regtestParams)
})
