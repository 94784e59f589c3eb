import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { printed } from "../../../src/programs/cli/outcome.ts"
import { webhooksCommand } from "../../../src/programs/cli/webhooks.ts"
import { fakeDaemon } from "./fakeDaemon.ts"

const PIPE = { terminal: false, columns: undefined, colours: false }

const hook = (more: object) => ({
  id: "0123456789abcdef",
  url: "https://example.com/hook",
  name: [],
  prefix: [],
  owner: [],
  types: [],
  state: "active",
  lag: 0,
  delivered: 12345,
  failures: 0,
  nextattempt: null,
  lasterror: null,
  remedy: null,
  ...more
})

describe("svcd-cli webhooks", () => {
  it.effect("lists them in a table, and below it what is wrong and what to do", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const daemon = fakeDaemon({
        listwebhooks: [
          hook({ prefix: ["d/", "id/"], types: ["expired"] }),
          hook({
            id: "aa",
            state: "retrying",
            lag: 7,
            failures: 3,
            lasterror: "status 500",
            nextattempt: 1_700_000_120
          }),
          hook({ id: "bb", state: "dead", lag: 1, lasterror: "status 500\u001b[31m", failures: 300, remedy: "mend it" })
        ]
      })
      const { code, stdout } = yield* webhooksCommand(daemon, PIPE, { test: undefined, json: false })
      assert.strictEqual(code, 0)
      const lines = stdout.split("\n")
      assert.match(lines[0] ?? "", /^ID +STATE +BEHIND +DELIVERED +URL +WANTS$/)
      assert.match(
        lines[1] ?? "",
        /^0123456789abcdef +active +none +12,345 +https:\/\/example\.com\/hook +prefix d\/,id\/; types expired$/
      )
      assert.match(lines[2] ?? "", /^aa +retrying +7 blocks +12,345 +https:\/\/example\.com\/hook +all$/)
      assert.deepStrictEqual(lines.slice(4), [
        "",
        "aa: status 500 (3 failures); the next attempt is in 2 minutes",
        "bb: status 500\\u001b[31m (300 failures)",
        "  mend it",
        ""
      ])
    }))

  it.effect("says how to add the first one", () =>
    Effect.gen(function*() {
      const { stdout } = yield* webhooksCommand(fakeDaemon({ listwebhooks: [] }), PIPE, {
        test: undefined,
        json: false
      })
      assert.strictEqual(stdout, "There are no webhooks. Add one with addwebhook, or with [[webhook]] in svcd.conf.\n")
    }))

  it.effect("tests one, and tells what came back", () =>
    Effect.gen(function*() {
      const answer = { accepted: true, status: 204, milliseconds: 12, body: "", error: null }
      const run = (testwebhook: object, json = false) =>
        Effect.map(
          webhooksCommand(fakeDaemon({ testwebhook }), PIPE, { test: "aa", json }),
          (outcome) => printed(outcome, json)
        )
      assert.deepStrictEqual(yield* run(answer), {
        code: 0,
        stdout: "accepted: status 204 after 12 ms\n",
        stderr: ""
      })
      const refused = yield* run({ ...answer, accepted: false, status: 401, body: "wrong" })
      assert.deepStrictEqual(refused, {
        code: 1,
        stdout: "",
        stderr: "error: not accepted: status 401; a receiver must respond with 2xx\nwrong\n"
      })
      const silent = yield* run({ ...answer, accepted: false, status: null, error: "connection refused" })
      assert.strictEqual(silent.stderr, "error: no answer: connection refused\n")
      const json = yield* run({ ...answer, accepted: false, status: 500 }, true)
      assert.strictEqual(json.code, 1)
      assert.strictEqual(JSON.parse(json.stdout).status, 500)
    }))
})
