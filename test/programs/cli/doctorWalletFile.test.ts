import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { walletFileChecks } from "../../../src/programs/cli/doctorWalletFile.ts"
import { emptyDocument, encodeDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { temporaryDirectory } from "../../support/chain.ts"

const ENCRYPTION = {
  kdf: "scrypt",
  logN: 10,
  r: 8,
  p: 1,
  salt: new Uint8Array(16),
  masterKey: new Uint8Array(48)
} as const

const document = (more: Partial<WalletDocument>): string =>
  encodeDocument({ ...emptyDocument({ network: "mainnet", createdAt: 1 }), ...more })

const told = (directory: string) =>
  walletFileChecks(directory).map(({ check, state, text }) => `${state} ${check}: ${text}`)

describe("doctor without a daemon", () => {
  it.scopedLive("tells what the wallet files say, and of damaged ones", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const path = join(directory, "wallet.json")
      assert.deepStrictEqual(told(directory), [])
      const put = (text: string) => {
        writeFileSync(path, text)
        return told(directory).map((line) => line.replace(path, "PATH"))
      }
      assert.deepStrictEqual(put(document({ renewals: { all: true, names: [] }, encryption: ENCRYPTION })), [
        "warn renewals: PATH is set to renew all its names, but no daemon answers, and the wallet is locked after a " +
        "start: names can expire meanwhile"
      ])
      assert.deepStrictEqual(put(document({ renewals: { all: false, names: [Uint8Array.of(1)] } })), [
        "warn renewals: PATH is set to renew 1 name, but no daemon answers: names can expire meanwhile"
      ])
      const [byHand = ""] = put(document({}))
      assert.include(byHand, "PATH renews no names automatically")
      const changed = document({}).replace("\"birthday\": 1", "\"birthday\": 2")
      assert.deepStrictEqual(put(changed), ["fail wallet: PATH is damaged: its content does not match its checksum"])
      assert.deepStrictEqual(put("{}"), ["fail wallet: PATH is not a wallet that can be read"])
      mkdirSync(join(directory, "wallets"))
      writeFileSync(join(directory, "wallets", "shop.json"), document({ renewals: { all: true, names: [] } }))
      assert.lengthOf(told(directory), 2)
    }))
})
