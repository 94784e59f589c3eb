import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NameClient } from "../../src/client/NameClient.ts"
import { signatures } from "../../src/verify/signatures.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import { fillDirectory, nodeWithClient, temporaryDirectory } from "../support/embedded.ts"

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
