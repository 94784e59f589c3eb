import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { existsSync } from "node:fs"
import { temporaryDirectory } from "../support/chain.ts"
import { type Ended, program, run, runCommand, startNode, until } from "../support/daemon.ts"

/** An address without a known key. */
const NO_OWNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

const Page = Schema.parseJson(Schema.Struct({
  state: Schema.String,
  value: Schema.String,
  address: Schema.String,
  mine: Schema.Boolean,
  expires_in: Schema.Number,
  history: Schema.Array(Schema.Struct({ value: Schema.String }))
}))

const done = ({ code, stderr, stdout }: Ended): string => {
  assert.strictEqual(code, 0, stderr)
  return stdout
}

const isStep = (step: string) => (all: unknown) => JSON.stringify(all).includes(`"step":"${step}"`)

describe("svcd-cli", () => {
  it.scopedLive("leads an owner from an empty wallet to a name that is given away, without JSON", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const place = ["-network", "regtest", "-datadir", directory]
      assert.lengthOf(done(yield* run("svcd-wallet", "create", "--yes", ...place)).trim().split(/\s+/), 24)
      const node = yield* startNode(directory)
      yield* node.ready
      const cli = (...args: ReadonlyArray<string>) =>
        run("svcd-cli", ...place, "-rpcaddr", `127.0.0.1:${node.port}`, ...args)
      const page = Effect.flatMap(cli("name", "example.bit", "-json"), ({ stdout }) => Schema.decode(Page)(stdout))
      const mine = (blocks: number, address: unknown = NO_OWNER) =>
        Effect.zipRight(node.call("generatetoaddress", blocks, address), node.call("syncwithvalidationinterfacequeue"))

      yield* mine(1, done(yield* cli("receive")).trim())
      yield* mine(100)
      const refused = yield* cli("register", "example.bit", "-ip", "192.0.2.1")
      assert.match(refused.stderr, /-yes does not ask/)
      const begun = done(yield* cli("register", "example.bit", "-ip", "192.0.2.1", "-sub", "www 192.0.2.2", "-yes"))
      assert.match(begun, /www\.example\.bit\. A 192\.0\.2\.2[^]*The registration of d\/example has started/)
      assert.match(done(yield* cli("registrations")), /d\/example +committed/)
      yield* mine(12)
      yield* until(node, "name_registrations", isStep("revealed"))
      yield* mine(1)
      yield* until(node, "name_registrations", isStep("done"))
      const registered = yield* page
      assert.deepInclude(registered, { state: "registered", mine: true, expires_in: 30 })
      assert.strictEqual(registered.value, "{\"ip\":\"192.0.2.1\",\"map\":{\"www\":{\"ip\":\"192.0.2.2\"}}}")

      done(yield* cli("update", "d/example", "-ip6", "2001:db8::1", "-remove", "ip", "-yes"))
      const early = yield* cli("update", "d/example", "-value", "{}", "-yes")
      assert.match(early.stderr, /an operation on d\/example waits for a block/)
      yield* mine(1)
      const updated = "{\"map\":{\"www\":{\"ip\":\"192.0.2.2\"}},\"ip6\":\"2001:db8::1\"}"
      assert.strictEqual((yield* page).value, updated)

      yield* mine(5)
      assert.strictEqual((yield* page).expires_in, 25)
      assert.match(
        done(yield* cli("renew", "-within", "4w", "-yes")),
        /1 transaction, 0\.\d{1,8} NMC\n1 renewal is sent\./
      )
      yield* mine(1)
      assert.strictEqual((yield* page).expires_in, 30)

      const doctor = yield* cli("doctor")
      assert.deepStrictEqual([doctor.code, doctor.stderr], [0, ""], doctor.stdout)
      assert.match(doctor.stdout, /ok {4}the wallet renews all its names/)

      assert.match(done(yield* cli("transfer", "d/example", NO_OWNER, "-yes")), /lost for good\.\nSent with/)
      assert.match(done(yield* cli("pay", NO_OWNER, "1.5", "-yes")), /Pay {2}1\.5 NMC[^]*Sent with/)
      yield* mine(1)
      const given = yield* page
      assert.deepInclude(given, { value: updated, address: NO_OWNER, mine: false })
      assert.lengthOf(given.history, 4)
    }))
})

describe("output that is not taken", () => {
  for (const name of ["svcd-cli", "svcd-wallet"]) {
    it.live.skipIf(!existsSync("/dev/full"))(`is a failure of ${name} on a full disk`, () =>
      Effect.gen(function*() {
        const printing = (to: string) =>
          runCommand("sh", "-c", `exec "$0" "$@" ${to}`, process.execPath, program(name), "--help")
        const { code, stderr } = yield* printing(">/dev/full")
        assert.deepStrictEqual(
          { code, stderr },
          { code: 1, stderr: `${name}: standard output did not accept the whole text: the disk is full\n` }
        )
        assert.deepInclude(yield* printing(">/dev/null"), { code: 0, stderr: "" })
      }))
  }
})
