import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expiringCommand, type ExpiringOptions } from "../../../src/programs/cli/expiring.ts"
import { fakeDaemon, hex } from "./fakeDaemon.ts"

const PIPE = { terminal: false, columns: undefined, colours: false }

const OPTIONS: ExpiringOptions = { all: false, owner: undefined, blocks: 4_032, limit: 100, json: false }

const ENTRY = {
  name: hex("d/a"),
  value: hex("{}"),
  expires_in: 1_500,
  expires_at: 801_500,
  expires_about: 1_800_000_000,
  mine: true,
  watched: true,
  autorenew: false,
  pending: false
}

const OTHER = { ...ENTRY, name: "ff00", expires_in: 100, mine: false, autorenew: undefined }

describe("svcd-cli expiring", () => {
  it.effect("shows height, blocks left, the estimated day, whose the name is and how it is renewed", () =>
    Effect.gen(function*() {
      const names = [OTHER, ENTRY, { ...ENTRY, pending: true }, { ...ENTRY, watched: false, autorenew: true }]
      const daemon = fakeDaemon({ name_expiring: { names, complete: false } })
      assert.strictEqual(
        yield* expiringCommand(daemon, PIPE, OPTIONS),
        [
          "NAME    AT HEIGHT  BLOCKS LEFT  ABOUT       OF               RENEWAL",
          "0xff00    801,500          100  2027-01-15  watched",
          "d/a       801,500        1,500  2027-01-15  wallet, watched  by hand",
          "d/a       801,500        1,500  2027-01-15  wallet, watched  unconfirmed",
          "d/a       801,500        1,500  2027-01-15  wallet           on",
          "",
          "The node is still syncing, so names may be missing or already renewed.",
          ""
        ].join("\n")
      )
    }))

  it.effect("tells no day on regtest, where blocks come on demand", () =>
    Effect.gen(function*() {
      const daemon = fakeDaemon({
        name_expiring: { names: [ENTRY], complete: true },
        getblockchaininfo: { chain: "regtest" }
      })
      const text = yield* expiringCommand(daemon, PIPE, OPTIONS)
      assert.notInclude(text, "ABOUT")
      assert.notInclude(text, "2027")
    }))

  it.effect("asks for own and watched names, for those of an owner, or for all", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const daemon = {
        ...fakeDaemon({}),
        ask: (_: string, params: unknown) =>
          Effect.sync(() => {
            asked.push(params)
            return null
          })
      }
      yield* expiringCommand(daemon, PIPE, OPTIONS)
      yield* expiringCommand(daemon, PIPE, { ...OPTIONS, owner: "N1" })
      const text = yield* expiringCommand(daemon, PIPE, { ...OPTIONS, all: true, limit: 1_000 })
      assert.strictEqual(text, "No name expires within 4,032 blocks.\n")
      const common = { blocks: 4_032, nameEncoding: "hex", valueEncoding: "hex" }
      assert.deepStrictEqual(asked, [
        { query: { ...common, mine: true, watched: true, limit: 100 } },
        { query: { ...common, owner: "N1", limit: 100 } },
        { query: { ...common, limit: 500 } }
      ])
    }))

  it.effect("prints JSON", () =>
    Effect.gen(function*() {
      const daemon = fakeDaemon({ name_expiring: { names: [OTHER], next: "1.5.00", complete: true } })
      const text = yield* expiringCommand(daemon, PIPE, { ...OPTIONS, limit: 1, json: true })
      const { complete, more, names: [found] } = JSON.parse(text)
      assert.isTrue(more && complete)
      assert.strictEqual(found.name, null)
      assert.strictEqual(found.name_hex, "ff00")
      assert.strictEqual(found.expires_at, 801_500)
    }))
})
