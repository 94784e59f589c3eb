import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { encodeMetadata } from "../../src/chain/snapshot/snapshotFile.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { checkGivenFiles } from "../../src/node/givenFiles.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { networks } from "../../src/protocol/networks.ts"
import { settingsOf } from "../config/input.ts"
import { temporaryDirectory } from "../support/chain.ts"

const UNKNOWN = new Uint8Array(32).fill(5)

/** The problem with the files of some flags on regtest; `undefined` for none. */
const problem = (path: string, flags: ReadonlyArray<string>) =>
  Effect.map(
    Effect.either(checkGivenFiles(settingsOf(["-network=regtest", `-datadir=${join(path, "data")}`, ...flags]))),
    Either.match({ onLeft: ({ message }) => message, onRight: () => undefined })
  )

const metadata = (base: Uint8Array, network: "regtest" | "mainnet" = "regtest"): Uint8Array =>
  encodeMetadata(networks[network], { base, coins: 1 })

describe("the files of the command line", () => {
  it.scoped("-loadblock names a file that is missing, or a folder without blocks", () =>
    Effect.gen(function*() {
      const path = yield* temporaryDirectory
      const none = join(path, "none.dat")
      assert.strictEqual(yield* problem(path, [`-loadblock=${none}`]), `cannot import ${none}: there is no such file`)
      assert.strictEqual(
        yield* problem(path, [`-loadblock=${path}`]),
        `cannot import ${path}: the folder has no blkNNNNN.dat`
      )
      writeFileSync(none, "")
      assert.isUndefined(yield* problem(path, [`-loadblock=${none}`]))
    }))

  it.scoped("-loadsnapshot names a file that is missing, foreign, or not trusted", () =>
    Effect.gen(function*() {
      const path = yield* temporaryDirectory
      const file = join(path, "set.dat")
      const given = (...more: ReadonlyArray<string>) => problem(path, [`-loadsnapshot=${file}`, ...more])
      const trusted = `-snapshothash=${"1".repeat(64)}`
      assert.strictEqual(yield* given(trusted), `cannot import ${file}: there is no such file`)
      const cases: ReadonlyArray<readonly [Uint8Array, RegExp]> = [
        [new Uint8Array(0), /AutoFile::read: end of file/],
        [new Uint8Array(100), /Invalid UTXO set snapshot magic bytes/],
        [metadata(UNKNOWN).subarray(0, 30), /AutoFile::read: end of file/],
        [metadata(UNKNOWN, "mainnet"), /does not match the network of this node \(regtest\)/]
      ]
      for (const [bytes, expected] of cases) {
        writeFileSync(file, bytes)
        assert.match((yield* given(trusted)) ?? "", expected)
      }
      writeFileSync(file, metadata(UNKNOWN))
      assert.isUndefined(yield* given(trusted))
      assert.strictEqual(
        yield* given(),
        `cannot import ${file}: svcd knows no hash for a snapshot of the block ${displayHash(UNKNOWN)}. If you trust ` +
          "the file, start with -snapshothash and its txoutset_hash"
      )
      writeFileSync(file, metadata(regtestParams.snapshots[0]?.block ?? UNKNOWN))
      assert.isUndefined(yield* given())
    }))

  it.scoped("-loadsnapshot needs no file once the chain began with a snapshot", () =>
    Effect.gen(function*() {
      const path = yield* temporaryDirectory
      for (const [folder, marker] of [["chainstate_snapshot", "BASE"], ["chainstate", "VALIDATED"]] as const) {
        const data = join(path, folder)
        mkdirSync(join(data, "data", folder), { recursive: true })
        writeFileSync(join(data, "data", folder, marker), "")
        assert.isUndefined(yield* problem(data, [`-loadsnapshot=${join(path, "none.dat")}`]))
      }
    }))
})
