import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { network, NOW } from "./someNetwork.ts"

describe("bans", () => {
  it.effect("last a day, a given duration, or until a time", () =>
    Effect.gen(function*() {
      const bans: Array<readonly [string, number]> = []
      const { call, refusal } = yield* network({
        ban: (subnet, until) =>
          Effect.sync(() => {
            bans.push([subnet, until])
            return subnet === "x" ? "invalid" : subnet === "again" ? "already" : "banned"
          }),
        unban: (subnet) => Effect.succeed(subnet === "x" ? "invalid" : subnet === "a" ? "unbanned" : "unknown")
      })
      yield* call("setban", "a", "add")
      yield* call("setban", "b", "add", 60)
      yield* call("setban", "c", "add", NOW + 5, true)
      assert.deepStrictEqual(bans, [["a", NOW + 86_400], ["b", NOW + 60], ["c", NOW + 5]])
      assert.deepStrictEqual(yield* refusal("setban", "x", "add"), { code: -30, message: "Error: Invalid IP/Subnet" })
      assert.strictEqual((yield* refusal("setban", "again", "add")).message, "Error: IP/Subnet already banned")
      yield* call("setban", "a", "remove")
      assert.strictEqual((yield* refusal("setban", "x", "remove")).message, "Error: Invalid IP/Subnet")
      assert.match((yield* refusal("setban", "q", "remove")).message, /Unban failed/)
      assert.match((yield* refusal("setban", "q", "maybe")).message, /^setban "subnet"/)
    }))

  it.effect("last for the time of -bantime", () =>
    Effect.gen(function*() {
      const bans: Array<number> = []
      const ban = (_: string, until: number) => Effect.sync(() => (bans.push(until), "banned" as const))
      const { call } = yield* network({ ban }, 1_234)
      yield* call("setban", "a", "add")
      yield* call("setban", "b", "add", 60)
      assert.deepStrictEqual(bans, [NOW + 1_234, NOW + 60])
    }))

  it.effect("that ended before they began are refused, after all other errors", () =>
    Effect.gen(function*() {
      const { refusal } = yield* network({
        ban: () => Effect.dieMessage("nothing is to be banned"),
        bans: Effect.succeed([{ subnet: "192.0.2.0/24", created: NOW - 10, until: NOW + 50 }])
      })
      const past = (subnet: string) => refusal("setban", subnet, "add", NOW - 1, true)
      const already = { code: -23, message: "Error: IP/Subnet already banned" }
      const late = { code: -8, message: "Error: Absolute timestamp is in the past" }
      for (const subnet of ["192.0.2.0/24", "192.0.2.7"]) assert.deepStrictEqual(yield* past(subnet), already, subnet)
      for (const subnet of ["192.0.2.0/25", "192.0.3.7"]) assert.deepStrictEqual(yield* past(subnet), late, subnet)
      assert.deepStrictEqual(yield* past("nowhere"), { code: -30, message: "Error: Invalid IP/Subnet" })
    }))

  it.effect("are listed with their remaining time", () =>
    Effect.gen(function*() {
      const { call } = yield* network({
        bans: Effect.succeed([{ subnet: "192.0.2.0/24", created: NOW - 10, until: NOW + 50 }])
      })
      assert.deepStrictEqual((yield* call("listbanned")).value, [{
        address: "192.0.2.0/24",
        ban_created: NOW - 10,
        banned_until: NOW + 50,
        ban_duration: 60,
        time_remaining: 50
      }])
      assert.strictEqual((yield* call("clearbanned")).text, "null")
    }))
})
