import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { DnsAsker } from "../../scripts/dns/dnsClient.ts"
import { memoryResponder, newSigner } from "../../scripts/dns/memoryNode.ts"
import { anchorOf, freeDnsPort, type FrontName, FRONTS, isInstalled, startFront } from "../../scripts/dns/resolvers.ts"
import { makeServer } from "../../src/dns/serve/DnsServer.ts"
import { FLAGS, RCODES } from "../../src/dns/wire/codes.ts"
import { wireNameOfHost } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { runCommand } from "../support/daemon.ts"

/** Resolvers of this machine, each started with its recipe of docs/dns.md in front of svcd's signed zone. */

const NAMES: Readonly<Record<string, string>> = { "d/example": JSON.stringify({ ip: "192.0.2.7" }) }

const { A } = TYPE_NUMBERS

/** Longer than any of them takes to start on a busy machine. */
const STARTING = "60 seconds"

const server = Effect.gen(function*() {
  const { key, signer } = newSigner()
  const listen = [{ host: "127.0.0.1", port: yield* Effect.promise(freeDnsPort) }]
  const off = { tls: [], https: [], http: [], certificate: undefined, key: undefined, rate: 0 }
  const node = memoryResponder({ valueOf: (name) => NAMES[name], signer })
  const { addresses } = yield* Effect.provide(makeServer({ ...off, listen }), node)
  return { port: addresses.dns[0]?.port ?? 0, anchor: anchorOf(key) }
})

const asker = (port: number) =>
  Effect.acquireRelease(Effect.sync(() => new DnsAsker(port)), (open) => Effect.sync(() => open.close()))

const behind = (name: FrontName) =>
  Effect.gen(function*() {
    const { anchor, port: zonePort } = yield* server
    const directory = join(yield* temporaryDirectory, name)
    const port = yield* Effect.promise(freeDnsPort)
    const running = yield* Effect.acquireRelease(
      Effect.sync(() => startFront(name, { directory, port, zonePort, anchor })),
      ({ process: child }) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const front = yield* asker(port)
    const ask = (host: string) =>
      Effect.promise(() => front.ask({ name: wireNameOfHost(host), type: A })).pipe(
        Effect.repeat({ until: (message) => message !== undefined || running.process.exitCode !== null }),
        Effect.timeoutFail({ duration: STARTING, onTimeout: () => `${name} gives no answer: ${running.output()}` })
      )
    const [found, missing] = [yield* ask("example.bit."), yield* ask("missing.bit.")]
    return { found, missing, output: running.output() }
  })

describe("the recipes of docs/dns.md", () => {
  for (const name of Object.keys(FRONTS) as ReadonlyArray<keyof typeof FRONTS>) {
    it.scopedLive.skipIf(!isInstalled(name))(
      `${name} finds a name, and proves that another one is missing`,
      () =>
        Effect.gen(function*() {
          const { found, missing, output } = yield* behind(name)
          assert.strictEqual(found?.rcode, RCODES.NOERROR, output)
          const records = found?.answer.filter(({ type }) => type === A) ?? []
          assert.deepStrictEqual(records.map(({ data }) => [...data]), [[192, 0, 2, 7]])
          assert.strictEqual(missing?.rcode, RCODES.NXDOMAIN, output)
          for (const message of [found, missing]) {
            assert.strictEqual(((message?.flags ?? 0) & FLAGS.AD) !== 0, FRONTS[name].validates, output)
          }
        })
    )
  }
})

/** A million takes an hour or more: `scripts/dns/validators.ts` says how. */
const QUESTIONS = "300"

const VALIDATORS = fileURLToPath(new URL("../../build/scripts/dns/validators.js", import.meta.url))

/** systemd-resolved leaves the CNAME out of answers with a DNAME, so it is no judge of records. */
const validating = (Object.keys(FRONTS) as ReadonlyArray<FrontName>)
  .filter((name) => FRONTS[name].validates && name !== "resolved" && isInstalled(name))

describe.skipIf(validating.length === 0)("resolvers that validate", () => {
  it.scopedLive("find nothing bogus among random questions, and the records that svcd itself gives", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runCommand(
        process.execPath,
        VALIDATORS,
        `--questions=${QUESTIONS}`,
        "--names=100",
        `--only=${validating.join()}`
      )
      assert.strictEqual(code, 0, stdout + stderr)
      assert.strictEqual(stdout.match(/, 0 faults;/g)?.length, validating.length, stdout)
    }))
})
