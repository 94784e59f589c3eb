import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { fill, openWindow } from "../light/openWindow.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { fillDirectory, nodeWithClient } from "../support/embedded.ts"

const NAME = "d/kelp38c6"

describe("NameClient.proveName of a node in this process", () => {
  it.scopedLive("makes a proof that its reader verifies, and fails as resolveName does", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* fillDirectory(dataDir, 600)
      yield* Effect.gen(function*() {
        const names = yield* NameClient
        const { height, value } = yield* names.resolveName(NAME)
        const proof = yield* names.proveName(NAME, { headers: 3, chain: true })
        const verified = verifyNameProof(JSON.stringify(proof), { network: "regtest", now: 1_900_000_000, signatures })
        assert.deepInclude(verified, { name: NAME, value, height, confirmations: 4, since: proof.since })
        const failures = ["d/nobody", "t/560/p2tr"].map((name) => Effect.flip(names.proveName(name)))
        const tags = (yield* Effect.all(failures)).map(({ _tag }) => _tag)
        assert.deepStrictEqual(tags, ["NameNotFound", "NameExpired"])
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }), 60_000)
})

describe("NameClient.proveName of a light client", () => {
  it.scopedLive("makes proofs with nameProofs, and names this field without it", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const window = openWindow(dataDir, true)
      fill(window, fixtureBlocks("regtest-names/blocks.dat").slice(1))
      window.file.close()
      const light = (config: { readonly nameProofs?: boolean }) =>
        Effect.provide(
          Effect.flatMap(NameClient, (names) => names.proveName(NAME)),
          Layer.provide(
            EmbeddedNode.layer({ network: "regtest", dataDir, maxPeers: 0, sync: "light", ...config }),
            Logger.remove(Logger.defaultLogger)
          )
        )
      const proof = yield* light({ nameProofs: true })
      assert.deepInclude(verifyNameProof(proof, { network: "regtest", now: 1_900_000_000 }), { name: NAME })
      const failure = yield* Effect.flip(light({}))
      assert.deepInclude({ ...failure }, { _tag: "ProofUnavailable" })
      assert.include(failure.message, "nameProofs: true")
    }), 30_000)
})
