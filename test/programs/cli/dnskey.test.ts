import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dnskeyCommand } from "../../../src/programs/cli/dnskey.ts"
import { recordingDaemon } from "./fakeDaemon.ts"

const PIPE = { terminal: false, columns: undefined, colours: false }

const DIGEST = "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17"

const key = (keytag: number, state: string, until: number | null) => ({
  keytag,
  state,
  created: 1_800_000_000,
  until,
  dnskey: "257 3 13 GojIhhXU==",
  ds: `${keytag} 13 2 ${DIGEST}`
})

const ROLLING = [key(101, "revoked", 1_803_000_000), key(202, "active", null), key(303, "new", 1_802_592_000)]

const run = (answers: Readonly<Record<string, unknown>>, action?: string, json = false) => {
  const daemon = recordingDaemon(answers)
  return Effect.map(dnskeyCommand(daemon, PIPE, { action, json }), (outcome) => ({ ...outcome, calls: daemon.calls }))
}

describe("svcd-cli dnskey", () => {
  it.effect("lists all keys with their states", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run({ listdnskeys: ROLLING })
      const lines = stdout.split("\n")
      assert.match(lines[0] ?? "", /^KEY TAG +STATE +UNTIL +CREATED +DS$/)
      assert.match(lines[1] ?? "", new RegExp(`^101 +revoked +2027-02-19 +2027-01-15 +101 13 2 ${DIGEST}$`))
      assert.match(lines[2] ?? "", /^202 +active +2027-01-15 +202 13 2/)
    }))

  it.effect("shows the lines of each resolver for keys to trust, and none for a revoked key", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run({ listdnskeys: ROLLING }, "show")
      for (
        const line of [
          "Key 202, active",
          "Key 303, new until 2027-02-14",
          "bit. IN DNSKEY 257 3 13 GojIhhXU==",
          `bit. IN DS 202 13 2 ${DIGEST}`,
          "  auto-trust-anchor-file: \"/var/lib/unbound/bit.ds\"",
          "  trust-anchors { bit. initial-key 257 3 13 \"GojIhhXU==\"; };",
          `  bit. IN DS 202 13 2 ${DIGEST}`,
          "  trust_anchors.add_file('/var/lib/knot-resolver/bit.key')"
        ]
      ) assert.include(stdout.split("\n"), line)
      assert.notInclude(stdout, "101")
    }))

  it.effect("rolls the key once, and says what follows", () =>
    Effect.gen(function*() {
      const { calls, stdout } = yield* run({ rolldnskey: ROLLING }, "roll")
      assert.deepStrictEqual(calls.map(({ method, once }) => [method, once]), [["rolldnskey", true]])
      assert.include(stdout, "The new key signs after 30 days.")
    }))

  it.effect("prints the daemon's answer with -json", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run({ listdnskeys: ROLLING }, "list", true)
      assert.deepStrictEqual(JSON.parse(stdout), ROLLING)
    }))

  it.effect("refuses another word without asking the daemon", () =>
    Effect.gen(function*() {
      const { calls, code, stderr } = yield* run({}, "delete")
      assert.deepStrictEqual([code, calls.length], [2, 0])
      assert.include(stderr, "list, show or roll")
    }))
})
