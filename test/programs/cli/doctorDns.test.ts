import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { printKeyFile } from "../../../src/dns/sign/keyFile.ts"
import { newKeySecret, zoneKeyOf } from "../../../src/dns/sign/zoneKey.ts"
import { BIT_ORIGIN } from "../../../src/dns/zone/suffix.ts"
import { dnsChecks, interceptedCheck } from "../../../src/programs/cli/doctorDns.ts"
import { inputOf } from "../../config/input.ts"
import { withPrimary } from "../../dns/transfer/transferNode.ts"
import { temporaryDirectory } from "../../support/chain.ts"

const checked = (
  dataDir: string,
  { conf = "", resolver, rpcHost = "127.0.0.1" }: {
    readonly conf?: string
    readonly resolver?: string
    readonly rpcHost?: string
  }
) =>
  Effect.map(
    dnsChecks({
      connection: {
        dataDir,
        network: "regtest",
        rpc: { host: rpcHost, port: 8336, credentials: undefined }
      },
      input: inputOf([], { files: { [join(dataDir, "svcd.conf")]: conf } }),
      resolver
    }),
    (checks) => checks.map(({ check, state }) => `${state} ${check}`)
  )

describe("the DNS checks of svcd-cli doctor", () => {
  it.scopedLive("ask svcd over UDP and TCP, and a resolver that is told", () =>
    withPrimary({}, ({ port }) =>
      Effect.scoped(Effect.gen(function*() {
        const dataDir = yield* temporaryDirectory
        const conf = `dns = ["127.0.0.1:${port}"]\n`
        assert.deepStrictEqual(yield* checked(dataDir, { conf }), ["ok dns", "ok dns"])
        assert.deepStrictEqual(yield* checked(dataDir, { resolver: `127.0.0.1:${port}` }), ["ok resolver"])
        assert.deepStrictEqual(yield* checked(dataDir, { resolver: "resolver" }), ["fail resolver"])
        assert.deepStrictEqual(yield* checked(dataDir, { conf, rpcHost: "192.0.2.7" }), [])
        assert.deepStrictEqual(yield* checked(dataDir, {}), [])
        // The zone of this server is not signed, and the resolver does not validate it.
        mkdirSync(join(dataDir, "dns"))
        const signed = { conf: `${conf}dnssec = true\n`, resolver: `127.0.0.1:${port}` }
        assert.deepStrictEqual(yield* checked(dataDir, signed), [
          "ok dns",
          "ok dns",
          "fail dnssec",
          "warn dnskey",
          "warn resolver"
        ])
        const file = join(dataDir, "dns", "Kbit.+013+00001.json")
        writeFileSync(file, "")
        assert.include(yield* checked(dataDir, signed), "fail dnskey")
        const secret = newKeySecret()
        const key = zoneKeyOf(secret, 1_700_000_000)
        writeFileSync(file, printKeyFile(BIT_ORIGIN, secret, key ?? assert.fail("no key")))
        assert.include(yield* checked(dataDir, signed), "ok dnskey")
        const { state } = yield* interceptedCheck({ host: "127.0.0.1", port })
        assert.strictEqual(state, "warn")
      }))))

  it.scopedLive("say where nothing answers", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const conf = "dns = [\"127.0.0.1:1\"]\n"
      assert.deepStrictEqual(yield* checked(dataDir, { conf, resolver: "127.0.0.1:1" }), [
        "fail dns",
        "fail dns",
        "fail resolver"
      ])
      const { state } = yield* interceptedCheck({ host: "127.0.0.1", port: 1 })
      assert.strictEqual(state, "ok")
    }))
})
