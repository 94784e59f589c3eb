import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { layerMemory } from "../../src/testing.ts"
import { parseNameProof } from "../../src/verify/nameProof.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { INFO } from "../support/fakeDaemon.ts"
import { proofOf } from "../support/nameProofs.ts"
import { text } from "../support/regtest.ts"
import { callsOf, client, shown } from "./daemonClients.ts"

const NAME = "d/kelp38c6"

const PROOF = proofOf({ network: "regtest", low: 0, blocks: fixtureBlocks("regtest-names/blocks.dat") }, text(NAME))

/** A daemon that knows the name, and answers `name_proof` in its way. */
const proving = (answer: Parameters<typeof client>[0]) =>
  client((call) => {
    if (call.method === "getblockchaininfo") return { result: INFO }
    if (call.method === "name_show") return { result: shown(NAME) }
    return call.method === "name_proof" ? answer(call) : undefined
  })

describe("NameClient.proveName", () => {
  it.scopedLive("hands over the proof of a daemon, which its reader verifies", () =>
    Effect.gen(function*() {
      const { calls, client: names } = yield* proving(() => ({ result: PROOF }))
      const proof = yield* names.proveName(NAME, { headers: 12, chain: true })
      assert.deepStrictEqual(proof, parseNameProof(JSON.stringify(PROOF)))
      assert.deepInclude(verifyNameProof(proof, { network: "regtest", now: 1_900_000_000 }), { name: NAME })
      assert.deepStrictEqual(callsOf(calls, "name_proof")[0]?.params, [
        toHex(text(NAME)),
        { nameEncoding: "hex", chain: true, headers: 12 }
      ])
    }))

  it.scopedLive("has typed failures of a daemon", () =>
    Effect.gen(function*() {
      const failure = (answer: Parameters<typeof proving>[0]) =>
        Effect.flatMap(proving(answer), ({ client: names }) => Effect.flip(names.proveName(NAME)))
      const message = "the operation at height 690 cannot be proven: its block was pruned. Ask another node"
      const pruned = yield* failure(() => ({ code: -1, message, data: { reason: "proof-unavailable" } }))
      assert.deepInclude(pruned, { _tag: "ProofUnavailable", message })
      assert.include((yield* failure(() => ({ code: -32601, message: "Method not found" }))).message, "older version")
      assert.include((yield* failure(() => ({ result: { ...PROOF, svcd: "other" } }))).message, "proof is invalid")
      const { asOf, name, network } = PROOF
      const absence = { svcd: "name-absence/1", network, name, absent: { from: 0, to: asOf.height }, asOf }
      assert.strictEqual((yield* failure(() => ({ result: absence })))._tag, "NameNotFound")
    }))

  it.effect("says of a source without blocks that it has none, after what the name lacks", () =>
    Effect.gen(function*() {
      const names = yield* NameClient
      assert.strictEqual((yield* Effect.flip(names.proveName("d/here")))._tag, "ProofUnavailable")
      assert.strictEqual((yield* Effect.flip(names.proveName("d/nowhere")))._tag, "NameNotFound")
      for (const headers of [-1, 25, 0.5]) {
        assert.strictEqual((yield* Effect.flip(names.proveName("d/here", { headers })))._tag, "InvalidRequest")
      }
    }).pipe(Effect.provide(layerMemory({ "d/here": "{}" }))))
})
